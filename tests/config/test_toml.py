"""Writing TOML, and finding the line of a key."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.config.toml import dump_toml, line_of

TEXT = '''\
preset = "near-equal"
# a comment
[ps]
policy = "essp"   # another
slack = 8
"odd key" = 1

[network]
latency = {model = "constant", mean = "5ms"}
note = """
[run]
seed = 5
"""

[compute]
stragglers = [
    {worker = 0, factor = 2.0},
    {worker = 3, factor = 2.0},
]

[[network.links]]
src = "client:0"

[[network.links]]
src = "client:1"
latency.model = "constant"
[network.links.deeper]
x = 1

[run]
seed = 1
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("preset",), 1),
        (("ps",), 3),
        (("ps", "policy"), 4),
        (("ps", "slack"), 5),
        (("ps", "odd key"), 6),
        (("ps", "missing"), 3),
        (("network", "latency", "mean"), 9),
        (("network", "latency", "missing"), 9),
        (("network", "note"), 10),
        (("compute", "stragglers", 1, "worker"), 16),
        (("network", "links", 0, "src"), 22),
        (("network", "links", 1, "src"), 25),
        (("network", "links", 1, "latency", "model"), 26),
        (("network", "links", 1, "deeper", "x"), 28),
        (("network", "links", 1, "dst"), 24),
        (("run", "seed"), 31),
        (("cluster", "clients"), None),
        (("cluster",), None),
    ],
)
def test_the_line_of_a_key(path: tuple[str | int, ...], line: int | None) -> None:
    tomllib.loads(TEXT)
    assert line_of(TEXT, path) == line


def test_no_text_has_no_line() -> None:
    assert line_of("", ("ps", "slack")) is None


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = (
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | text
)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(text, v, max_size=3), max_leaves=8
)


@given(st.dictionaries(text, values, max_size=5))
def test_what_is_written_is_read_back(tree: dict[str, object]) -> None:
    # The reader takes CR LF inside text for a line break only if it stands there literally, and we escape it.
    assert tomllib.loads(dump_toml(tree)) == tree


@given(st.dictionaries(text.filter(bool), st.dictionaries(text, values, max_size=4), max_size=4), st.data())
def test_every_written_key_is_found(tree: dict[str, dict[str, object]], data: st.DataObject) -> None:
    written = dump_toml(tree)
    paths = [(section, key) for section, keys in tree.items() for key in keys]
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    number = line_of(written, path)
    assert number is not None
    assert tomllib.loads(written.split("\n")[number - 1]) == {path[1]: tree[path[0]][path[1]]}
