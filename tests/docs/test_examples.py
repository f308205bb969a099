"""The examples of docs/examples run as they are, and are as short as promised."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    """Without warnings, in a process of its own; what it draws is there."""
    root = str(example.parents[2])
    command = [sys.executable, "-W", "error", str(example)]
    environment = {"PYTHONPATH": root, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path / "mpl")}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    drawn = tmp_path / f"{example.stem}.png"
    assert drawn.read_bytes().startswith(b"\x89PNG")


def test_from_a_run_to_a_bound_over_its_curve_in_twenty_lines():
    source = next(path for path in EXAMPLES if path.stem == "bounds").read_text()
    statements = [
        node for node in ast.parse(source).body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert sum(node.end_lineno - node.lineno + 1 for node in statements) < 20
