import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.analysis.included import Included


@given(st.integers(0, 2**31), st.integers(1, 4), st.integers(1, 3), st.integers(0, 30), st.booleans())
def test_included_clocks_against_counting(seed, workers, shards, number, two_units):
    """Every clock of a worker is one unit, or an INC and a tick; in any order of workers."""
    rng = np.random.default_rng(seed)
    lines = []
    for j in range(shards):
        made = np.zeros(workers, int)
        for k in range(number):
            q = int(rng.integers(workers))
            lines.append((j, k, q, made[q] // (1 + two_units), made[q]))
            made[q] += 1
    rng.shuffle(lines)
    names = ("shard", "apply_index", "worker", "clock", "seq")
    columns = dict(zip(names, np.array(lines, np.int64).reshape(-1, 5).T, strict=True))
    found = Included(columns, workers, shards)
    for j in range(shards):
        for version in (0, number // 2, number, number + 3):
            for q in range(workers):
                mine = [line for line in lines if line[0] == j and line[2] == q]
                assert found.clocks(j, version, q) == len({c for _, k, _, c, _ in mine if k < version})
                assert found.own_clocks(j, version, q) == len({c for *_, c, s in mine if s < version})
    assert found.clocks(np.zeros((2, 1), int), number, np.arange(workers)).shape == (2, workers)
