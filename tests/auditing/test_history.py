"""What is derived from orders of updates by counting is what sets of updates say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pskit.auditing.history import NEVER, History

WORKERS, SHARDS = 3, 2


class Order:
    """Oplogs as two shards applied them: (worker, clock) in order, and who has left."""

    def __init__(self, picks: list[list[int]], left: list[set[int]]) -> None:
        self.left = left
        self.applied: list[list[tuple[int, int]]] = []
        for shard in picks:
            counts = [0] * WORKERS
            order = []
            for worker in shard:
                order.append((worker, counts[worker]))
                counts[worker] += 1
            self.applied.append(order)

    def history(self) -> History:
        lines = [
            (worker, clock, j, index, 10 * index + j)
            for j, order in enumerate(self.applied)
            for index, (worker, clock) in enumerate(order)
        ]
        lines = lines[::-1]  # the order of the lines says nothing
        table = np.array(lines, np.int64).reshape(-1, 5).T
        updates = dict(zip(("worker", "clock", "shard", "apply_index", "t_applied"), table, strict=True))
        gone = [(j, w) for j, workers in enumerate(self.left) for w in sorted(workers)]
        shard, worker = np.array(gone, np.int64).reshape(-1, 2).T
        members = {"shard": shard, "worker": worker, "event": np.full(len(gone), "left")}
        return History(updates, members, WORKERS, SHARDS)

    def units(self, j: int, worker: int) -> int:
        return sum(w == worker for w, _ in self.applied[j])

    def contains_all_before(self, j: int, version: int, k: int) -> bool:
        """Whether every update with a tag below ``k``, made or still to be made, is in ``version``."""
        has = set(self.applied[j][:version])
        return all(
            (w, clock) in has
            for w in range(WORKERS)
            for clock in range(min(k, self.units(j, w)) if w in self.left[j] else k)
        )


ORDERS = st.builds(
    Order,
    st.lists(st.lists(st.integers(0, WORKERS - 1), max_size=12), min_size=SHARDS, max_size=SHARDS),
    st.lists(st.sets(st.integers(0, WORKERS - 1)), min_size=SHARDS, max_size=SHARDS),
)


@given(ORDERS)
def test_row_clocks_and_lowest_versions(order: Order) -> None:
    history = order.history()
    for j, applied in enumerate(order.applied):
        for version in range(len(applied) + 1):
            clock = int(history.row_clock(np.array([j]), np.array([version]))[0])
            assert order.contains_all_before(j, version, clock)
            beyond = len(order.left[j]) == WORKERS and version == len(applied)
            assert beyond or not order.contains_all_before(j, version, clock + 1)
            for k in range(-1, 14):
                lowest = int(history.lowest_version(np.array([j]), np.array([k]))[0])
                assert (version >= lowest) == order.contains_all_before(j, version, max(k, 0))


@given(ORDERS)
def test_included_units_and_times(order: Order) -> None:
    history = order.history()
    for j, applied in enumerate(order.applied):
        assert history.count[j] == len(applied)
        for version in range(len(applied) + 1):
            for w in range(WORKERS):
                inside = history.included(np.array([j]), np.array([version]), np.array([w]))
                assert inside.tolist() == [sum(v == w for v, _ in applied[:version])]
        index = np.arange(-1, len(applied) + 2)
        when = history.applied_at(np.full(len(index), j), index)
        assert when.tolist() == [-1, *(10 * i + j for i in range(len(applied))), NEVER, NEVER]
        for k in range(14):
            below = history.number_below(np.array([j]), np.array([k]))
            assert below.tolist() == [sum(clock < k for _, clock in applied)]
        for w in range(WORKERS):
            lines = [history.line_of_unit(j, w, u) for u in range(order.units(j, w) + 1)]
            assert lines[-1] is None
            assert len(set(lines)) == len(lines)


def test_the_clock_while_a_leaver_is_taken_out() -> None:
    """Worker 0, the slowest, leaves with its update of clock 0; the others have finished two clocks."""
    history = Order([[1, 2, 1, 2, 0], []], [{0}, set()]).history()
    shard, version = np.array([0, 0]), np.array([4, 5])
    assert history.row_clock(shard, version).tolist() == [0, 2]
    assert history.row_clock_with_leaver(shard, version).tolist() == [0, 1]
