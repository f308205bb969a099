"""What `pskit bench` runs; files that begin with ``_``, and folders, hold what several benchmarks share."""
