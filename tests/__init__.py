"""The test suite. ``python3 -m tests`` runs it, on a fresh machine too."""
