"""The short way of GETs against the usual one: the same views, and the same trace."""

from types import SimpleNamespace

import numpy as np
import pytest

from pskit.apps.base import Worker
from pskit.config import Config
from pskit.core.client import Client
from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import Reply
from pskit.core.policies import make_policy
from pskit.core.rows import RowPools
from pskit.errors import InputError
from pskit.running import run
from pskit.runtime import hits, workers
from pskit.runtime.events import EventQueue
from pskit.trace.recorder import Recorder

TABLES = [TableSpec("a", 40, 3, "f4"), TableSpec("b", 30, 2, "i8")]
UNCACHED = 33
"""Global row that the cache does not have."""


class Desk:
    """A worker of a client with filled cache, and its recorder; with or without the short way."""

    def __init__(self, short: bool) -> None:
        layout = Layout(TABLES, 3)
        self.pools = RowPools(layout)
        policy = make_policy(SimpleNamespace(policy="essp", slack=100, push=None))
        self.client = Client(0, [0, 1], layout, policy, self.pools)
        self.queue, self.recorder = EventQueue(), Recorder(layout, 2)
        for shard in range(3):
            for table, offset in enumerate(layout.offsets[:-1]):
                rows = np.arange(shard, layout.n_rows, 3, dtype=np.int32)
                rows = rows[(layout.table_of_row[rows] == table) & (rows != UNCACHED)]
                slots = self.pools.pools[table].take(len(rows))
                columns = np.arange(TABLES[table].cols)
                self.pools.pools[table].values[slots] = 10 * (rows - offset)[:, None] + columns
                tag = 10 * shard + table
                self.client.outstanding[tag] = (0, rows)
                self.client.asked[rows] += 1
                reply = Reply(tag=tag, rows=rows, slots=slots, clock=0, version=3 + shard, applied=(0, 0))
                self.client.receive(shard, reply)
        self.ps = Worker(1, 2, None, layout, self)
        if short:
            self.ps.serve_at_once(hits.hits(1, self.client, self.queue, self.recorder))

    def inc(self, worker, table, rows, delta):
        self.client.inc(worker, table, rows, delta)

    def done(self, waiting):
        """The result of a call of the application, as `Driver` would drive it; no GET here has to wait."""
        value = None
        while True:
            try:
                command = waiting.send(value)
            except StopIteration as end:
                return end.value
            (value,) = self.client.get(1, command.rows)
            self.recorder.read(
                self.queue.now, 1, value.clock, value.rows, value.version, value.own_from, value.own_upto,
                value.age, value.hit, 0,
            )  # fmt: skip


def both(play):
    """What ``play(desk)`` returns with and without the short way; their traces must be equal."""
    desks = Desk(short=True), Desk(short=False)
    results = [play(desk) for desk in desks]
    traces = [desk.recorder.finish() for desk in desks]
    assert desks[0].recorder.schedule_hash == desks[1].recorder.schedule_hash
    for table in ("reads", "histogram", "read_totals"):
        for name, column in traces[0][table].items():
            assert np.array_equal(column, traces[1][table][name]), name
    return results


ids = np.arange(40)
readonly = np.array([1, 5])
readonly.flags.writeable = False
ASKED = {
    "int32": np.array([0, 7, 32], np.int32),
    "int64": np.array([0, 7, 32]),
    "uint8": np.array([0, 7, 32], np.uint8),
    "big-endian": np.array([0, 7, 32], ">i4"),
    "list": [1, 2],
    "strided": ids[:30:2],
    "read-only": readonly,
    "unsorted": np.array([5, 1, 5]),
    "none": np.array([], np.int64),
    "one": np.array([39], np.int32),
}


@pytest.mark.parametrize("which", ASKED)
def test_one_table(which) -> None:
    asked = ASKED[which]
    mine, usual = both(lambda desk: desk.done(desk.ps.table("a").get(asked)))
    assert mine.dtype == usual.dtype == np.float32
    expected = [[10 * i, 10 * i + 1, 10 * i + 2] for i in np.array(asked, int).tolist()]
    assert mine.tolist() == usual.tolist() == expected
    mine[:] = -1  # the caller's own: the next reader sees nothing of it


@pytest.mark.parametrize("wrong", [np.array([40]), np.array([-1, 2]), np.array([[1]]), np.array([0.0])])
def test_wrong_ids_are_refused_as_ever(wrong) -> None:
    desk = Desk(short=True)
    with pytest.raises(InputError):
        desk.done(desk.ps.table("a").get(wrong))
    assert len(desk.recorder.finish()["reads"]["row"]) == 0


def test_what_is_served_at_once_and_what_is_not() -> None:
    desk = Desk(short=True)
    short = hits.Hits(1, desk.client, desk.queue, desk.recorder)
    assert short.table(0, np.array([4, 5])).tolist() == [[40, 41, 42], [50, 51, 52]]
    assert short.table(0, np.array([5, 4])) is None
    assert short.table(0, [4, 5]) is None
    assert short.table(0, np.array([4, UNCACHED])) is None
    assert short.table(1, np.array([29]), first=2, last=False).tolist() == [[290, 291]]
    assert len(desk.recorder.finish()["reads"]["row"]) == 2, "only what was served, and as a whole"


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a"), ("b",)], ids="".join)
def test_several_tables(order) -> None:
    """Also in another order than theirs, and one alone."""
    wanted = {"a": np.array([3, 9]), "b": np.array([0, 1, 29])}

    def play(desk):
        return desk.done(desk.ps.get(*((desk.ps.table(name), wanted[name]) for name in order)))

    mine, usual = both(play)
    for name, view, other in zip(order, mine, usual, strict=True):
        assert view.tolist() == other.tolist()
        assert view[:, 0].tolist() == [10 * i for i in wanted[name]]


def test_own_updates_growing_logs_many_clocks_and_large_gets() -> None:
    """Everything that is replaced when it grows: own updates, pools, scratch, the recorder's arrays."""

    def play(desk):
        a, b = desk.ps.table("a"), desk.ps.table("b")
        views = []
        for clock in range(70):
            rows = np.arange(0, 40, 1 + clock % 5)
            rows = rows[rows != UNCACHED]
            for _ in range(70):
                views.append(desk.done(a.get(rows)).sum())
            a.inc(rows, np.full((len(rows), 3), 0.25, np.float32))
            views.append(desk.done(desk.ps.get((a, rows), (b, np.array([2, 5])))))
            b.inc(np.array([5]), np.ones((1, 2), np.int64))
            desk.queue.now += 1
            desk.client.clock(1)
        desk.pools.pools[0].reserve(10_000)
        views.append(desk.done(a.get(np.array([0, 8]))).sum())
        return views

    mine, usual = both(play)
    assert mine[-1] == usual[-1] == 0 + 1 + 2 + 80 + 81 + 82 + 0.25 * 3 * (70 + 42)
    for one, other in zip(mine, usual, strict=True):
        assert np.array_equal(one[0], other[0]) if isinstance(one, tuple) else one == other


@pytest.mark.parametrize("policy", ["bsp", "ssp", "essp", "asp"])
def test_runs_do_not_change(policy, monkeypatch) -> None:
    cfg = Config(
        app={"name": "mf", "rank": 4, "clock_fraction": 0.05, "clocks": 12},
        ps={"policy": policy, "shards": 2},
        cluster={"clients": 4, "threads": 2},
    )
    with_it = run(cfg)
    monkeypatch.setattr(workers, "hits", lambda *of: None)
    without = run(cfg)
    for name in ("schedule_hash", "value_hash"):
        assert with_it.manifest[name] == without.manifest[name]


@pytest.mark.parametrize("what", [{"cache_rows": 50}, {"policy": "asp"}])
def test_some_clients_have_no_short_way(what) -> None:
    slack = None if "policy" in what else 3
    given = SimpleNamespace(**{"policy": "essp", "slack": slack, "push": None} | what)
    layout = Layout(TABLES, 1)
    client = Client(0, [0], layout, make_policy(given), RowPools(layout), what.get("cache_rows", 0))
    assert hits.hits(0, client, EventQueue(), Recorder(layout, 1)) is None


@pytest.mark.parametrize("empty", ["a", "b", "ab"])
def test_tables_of_which_no_rows_are_asked(empty) -> None:
    wanted = {name: np.array([] if name in empty else [1, 2], np.int64) for name in "ab"}
    mine, usual = both(lambda desk: desk.done(desk.ps.get(*((desk.ps.table(n), wanted[n]) for n in "ab"))))
    for one, other, name in zip(mine, usual, "ab", strict=True):
        assert len(one) == (0 if name in empty else 2)
        assert one.tolist() == other.tolist()
