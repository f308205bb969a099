"""Real processes on one machine: the core on the wall clock, its messages in shared memory.

`arena`, `ring` and `codec` carry bytes from process to process; `transport` gives every message the time from
which its receiver may see it; `process`, `client` and `server` are the loops that drive the core's machines;
`launcher` starts them, watches over them and puts together what they took down.
"""
