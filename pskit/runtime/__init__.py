"""What moves messages and time for the core. A runtime never decides consistency."""
