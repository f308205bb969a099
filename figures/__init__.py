"""The figures: one file each, with ``draw(runs, sheet)``; ``figures.toml`` says which runs it is given.

A figure reads saved traces only and never runs anything.
"""
