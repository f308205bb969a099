"""Settings of the whole suite."""

from hypothesis import settings

# The same examples every time, and no deadline: a test must not fail because of a draw or a busy machine.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
