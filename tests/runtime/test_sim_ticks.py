"""Ticks taken in by a compiled loop: the same run, to the bit, as with every tick an event of its own."""

from heapq import heappop, heappush
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.clocks import Counters
from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import Oplog
from pskit.core.policies import Policy
from pskit.core.rows import RowPools
from pskit.core.server import ServerShard
from pskit.runtime.events import CALL, DELIVER, FINISH
from pskit.runtime.sim.ticks import NEVER, Ticks
from pskit.trace import buffers
from pskit.trace.recorder import Recorder
from tests.runtime.apps import Digits
from tests.runtime.simulate import config, ps, simulate

CLIENTS, SHARDS = 3, 4
LAYOUT = Layout([("n", 4, 1, "i8")], SHARDS)
END = (2**63 - 1, CALL, -1, -1, -1, None, None)

FANS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(0, 6), min_size=4, max_size=4)), max_size=14
)
STOPS = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from([DELIVER, FINISH]), st.integers(0, 6), st.integers(0, 2)),
    max_size=6,
)


def shards(counters=None):
    """Shards whose members are one worker of each client."""
    initial = {"n": np.zeros((4, 1), np.int64)}
    pools, members = RowPools(LAYOUT), [[0], [1], [2]]
    return [ServerShard(j, LAYOUT, Policy(), pools, members, initial, counters) for j in range(SHARDS)]


def fifo(fans):
    """An oplog to every shard for each fan, with times that keep the order of each link."""
    newest, clocks, number = np.zeros((CLIENTS, SHARDS), np.int64), [0] * CLIENTS, 0
    for src, delays in fans:
        newest[src] = np.maximum(newest[src], 2 * number + np.array(delays))
        oplog = Oplog(src, clocks[src], clocks[src] + 3, (), False, number, number + 1)
        yield newest[src].copy(), src, number, oplog
        clocks[src] += 1
        number += SHARDS


@settings(max_examples=200)
@given(FANS, STOPS, st.integers(1, 5))
def test_the_loop_and_the_machines_come_to_the_same(fans, stops, limit):
    """Against one heap of all events, every tick of which is received by its shard."""
    counters, dsts = Counters(SHARDS, CLIENTS), CLIENTS + np.arange(SHARDS)
    mine, theirs, heap = shards(counters), shards(), []
    with mock.patch.object(buffers, "CHUNK_RECORDS", 3):
        recorder, expected = Recorder(LAYOUT, CLIENTS, "full"), Recorder(LAYOUT, CLIENTS, "full")
    ticks = Ticks(counters, CLIENTS, recorder)
    for times, src, first, oplog in fifo(fans):
        ticks.add(times, dsts, src, first, oplog, np.ones(SHARDS, np.bool_))
        for j in range(SHARDS):
            heappush(heap, (int(times[j]), DELIVER, CLIENTS + j, src, first + j, oplog))
    waiting = sorted((*stop, 1000 + i, None, None) for i, stop in enumerate(stops))
    for stop in [*waiting, END]:
        while ticks.next_at <= stop[0]:
            taken = ticks.take_in(stop, limit)
            assert taken <= limit
            for _ in range(taken):
                time, _, dst, src, _, oplog = heappop(heap)
                (applied,) = theirs[dst - CLIENTS].receive(src, oplog)  # nothing else: it was quiet
                worker, clock, seq, _, _, t_inc, t_sent = oplog
                shard, index = dst - CLIENTS, applied.apply_index
                expected.update(worker, clock, shard, seq, index, t_inc, t_sent, time, 0.0, 0.0)
                assert ticks.now >= time
            if taken:
                continue
            if not ticks.due:
                break
            event = ticks.pop()
            assert event[:6] == heappop(heap)
            before = theirs[event[2] - CLIENTS].clock.minimum
            for machines, log in ((mine, recorder), (theirs, expected)):
                (applied,) = machines[event[2] - CLIENTS].receive(event[3], event[5])
                log.update(
                    *event[5][:2], event[2] - CLIENTS, event[5].seq, applied.apply_index, 0, 0, 0, 0, 0
                )
            assert theirs[event[2] - CLIENTS].clock.minimum > before
        assert not heap or heap[0][:5] > stop[:5]
        for a, b in zip(mine, theirs, strict=True):
            assert a.clock.counts() == b.clock.counts()
            assert (a.clock.minimum, a.apply_index) == (b.clock.minimum, b.apply_index)
            assert a.applied.tolist() == b.applied.tolist()
    assert (ticks.next_at, len(ticks)) == (NEVER, 0)
    assert recorder.schedule_hash == expected.schedule_hash
    for name, values in expected.finish()["updates"].items():
        assert np.array_equal(recorder.finish()["updates"][name], values)


def test_a_tick_out_of_order_is_left_to_its_shard():
    counters = Counters(SHARDS, CLIENTS)
    machines, ticks = shards(counters), Ticks(counters, CLIENTS, Recorder(LAYOUT, CLIENTS, "full"))
    some = np.array([True, False, False, False])
    ticks.add(np.full(4, 5), CLIENTS + np.arange(4), 0, 0, Oplog(0, 1, 0, (), False, 0, 0), some)
    assert (ticks.take_in(END, 9), ticks.due) == (0, True)
    _, _, dst, src, _, oplog, _ = ticks.pop()
    with pytest.raises(Exception, match="clock 0 is next"):
        machines[dst - CLIENTS].receive(src, oplog)


class Uneven(Digits):
    """Few rows of few shards, and a different number of clocks for each worker."""

    def tables(self, cfg):
        return [TableSpec("n", 16, 1, "i8")]

    async def work(self, ps):
        table = ps.table("n")
        for clock in range(4 + ps.worker % 3):
            await table.get([ps.worker % 4, 4 + clock % 3])
            await ps.compute(tuple)
            if (ps.worker + clock) % 2:
                table.inc([ps.worker % 4], [[1]])
            await ps.clock()
        table.inc([5], [[1]])


ALIKE = {
    "compute": {"model": "constant", "mean": "200ms"},
    "network": {"latency": {"model": "constant", "mean": "100ms"}},
}
SAME_TIME = {**ALIKE, "network": {"latency": {"model": "constant", "mean": "0ms"}}}
SETTINGS = {
    "ssp": {"ps": ps("ssp", 1, shards=12)},
    "essp": {"ps": ps("essp-rows", 2, shards=12), "cluster": {"clients": 4, "threads": 2}},
    "deltas": {"ps": ps("essp-deltas", 1, shards=9), "cluster": {"clients": 4, "placement": "separate"}},
    "asp": {"ps": ps("asp", shards=16)},
    "bsp": {"ps": ps("bsp", shards=8)},
    "small cache": {"ps": ps("essp-rows", 1, shards=12, cache_rows=2)},
    "in step": {"ps": ps("asp", shards=12), "cluster": {"clients": 4, "threads": 2}, **ALIKE},
    "all at one time": {"ps": ps("essp-rows", 1, shards=12), "cluster": {"clients": 5}, **SAME_TIME},
    "narrow cards": {"ps": ps("ssp", 2, shards=12), "network": {"bandwidth": "1kB/s"}},
    "lossy": {"ps": ps("ssp", 1, shards=8), "network": {"loss": 0.2, "retransmit": "500ms"}},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("app", [Digits, Uneven])
def test_a_run_is_the_same_to_the_bit(name, app):
    cfg = config(**SETTINGS[name])
    with mock.patch.object(Ticks, "add", autospec=True, side_effect=Ticks.add) as added:
        fast = simulate(cfg, app())
    assert added.called == (name not in ("bsp", "lossy")), "held back, or not alone on its link"
    with mock.patch.object(Policy, "applies_at_once", False):
        slow = simulate(cfg, app())
    assert fast.schedule_hash == slow.schedule_hash
    for table, columns in slow.columns.items():
        for column, values in columns.items():
            assert np.array_equal(fast.columns[table][column], values), (table, column)
    assert fast.outcome.events == slow.outcome.events
    assert fast.outcome.emulated == slow.outcome.emulated
