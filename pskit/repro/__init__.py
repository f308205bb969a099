"""The paper's claims, checked: plan, run or reuse, draw, check, report. ``paper_repro.py`` is its command.

What is reproduced is declared outside this package: ``experiments/*.toml`` say which runs there are,
``figures/figures.toml`` which figure and claim needs which experiment, with every tolerance.
"""
