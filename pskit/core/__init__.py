"""The protocol as plain state machines: messages in, effects out; no clock, no randomness, no I/O."""
