"""What a session is made of: workers that wait for their user, on virtual or on real time.

`puppets` stand for the coroutines of the workers in the user's hands; `virtual` and `real` drive them, over
the same core as any run.
"""
