"""``python3 -m tests [pytest arguments]``: set up if need be, then run pytest."""

import sys

import bootstrap

bootstrap.ensure("test")

import pytest

sys.exit(pytest.main(sys.argv[1:]))
