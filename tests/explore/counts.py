"""How many states the systems of the suite have: ``python -m tests.explore.counts [2x2x2|small|large]``."""

import sys
from collections.abc import Iterator, Mapping

from pskit.explore import System, explore
from tests.explore.systems import LARGE, SMALL, TWICE_TWICE_TWICE

GROUPS = {"2x2x2": TWICE_TWICE_TWICE, "small": SMALL, "large": LARGE}


def lines(systems: Mapping[str, System]) -> Iterator[str]:
    """The table as Markdown: states that differ in names only count once, ``names`` says in how many ways."""
    yield "| system | states | names | transitions | depth | seconds | verdict |"
    yield "|---|---|---|---|---|---|---|"
    for name, system in systems.items():
        v = explore(system)
        verdict = v.violation or ("all states" if v.complete else "not all")
        cells = (
            name,
            f"{v.states:,}",
            v.renamings,
            f"{v.transitions:,}",
            v.depth,
            f"{v.seconds:.1f}",
            verdict,
        )
        yield "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    for line in lines(GROUPS[sys.argv[1] if len(sys.argv) > 1 else "2x2x2"]):
        print(line, flush=True)
