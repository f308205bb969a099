"""Sphinx configuration; ``python -m sphinx docs docs/_build`` with the extra ``docs`` installed."""

project = "pskit"
author = "the pskit developers"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "alabaster"
