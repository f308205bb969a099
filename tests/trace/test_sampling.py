import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.trace.sampling import KeyedSample
from tests.trace.synthetic import sampled

groups = st.dictionaries(st.integers(0, 63).flatmap(lambda b: st.integers(0, 2**b)), st.integers(0, 6))


def fill(sizes: dict[int, int], order: list[int], cap: int | None, batch: int) -> KeyedSample:
    """Add the groups in batches, each row marked with the rank of its group's key."""
    rank = {key: i for i, key in enumerate(sorted(sizes))}
    sample = KeyedSample(cap, 1, 1)
    for start in range(0, len(order), batch):
        keys = [k for k in order[start : start + batch] if k <= sample.threshold]
        n = np.array([sizes[k] for k in keys], np.int64)
        ranks = np.array([rank[k] for k in keys], np.int64)
        rows = np.repeat(ranks, n).astype(np.uint64)
        sample.add(np.array(keys, np.uint64), n, ranks[:, None], rows[:, None])
    return sample


@given(groups, st.integers(0, 20), st.integers(1, 5), st.randoms(use_true_random=False))
def test_what_is_kept_depends_on_the_set_only(sizes, cap, batch, random):
    level, kept = sampled(sizes, cap)
    order = list(sizes)
    random.shuffle(order)
    sample = fill(sizes, order, cap, batch)
    rank = {key: i for i, key in enumerate(sorted(sizes))}
    expected = [k for k in order if k in kept]
    n, group, rows = sample.result()
    assert sample.level == level
    assert n.tolist() == [sizes[k] for k in expected]
    assert group[:, 0].tolist() == [rank[k] for k in expected]
    assert rows[:, 0].tolist() == [rank[k] for k in expected for _ in range(sizes[k])]
    assert sample.rows == len(rows)


@given(groups)
def test_without_a_cap_everything_is_kept(sizes):
    sample = fill(sizes, list(sizes), None, 3)
    assert sample.share == 1.0
    assert sample.rows == sum(sizes.values())
