"""What the command line shows: progress, summaries, comparisons, the doctor's findings, benchmark ratios."""
