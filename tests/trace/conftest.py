from hypothesis import settings

# A deadline in wall time would fail on a busy machine.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
