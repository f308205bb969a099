"""Reproduces the paper: makes or reuses the runs, draws the figures, checks the claims, writes a report.

python3 paper_repro.py [--quick | --full] [--only ID[,ID]] [--list] [--out DIR] [--jobs N]

Needs nothing but Python 3.11 or newer: what is missing is set up first (bootstrap.py).
"""

import sys
from pathlib import Path

import bootstrap

bootstrap.ensure()

# Worker processes import this file, too, under another name, and need nothing of it.
if __name__ == "__main__":
    try:
        from pskit.repro.command import main

        code = main(Path(__file__).resolve().parent)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
