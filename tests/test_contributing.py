"""The examples of CONTRIBUTING.md run as they are printed, and are as short as it promises."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("source", EXAMPLES, ids=["policy", "application", "theorem"])
def test_example(source):
    assert len(source.splitlines()) < 60
    # A process of its own: the examples register names for good.
    command = [sys.executable, "-W", "error", "-c", source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
