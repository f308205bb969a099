"""Schema, recorder and run folders: what a run leaves behind."""
