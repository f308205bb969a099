class Channels:
    pass
