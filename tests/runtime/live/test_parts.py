"""The parts of all processes make the trace that one recorder would have made."""

import numpy as np
import pytest

from pskit.core.layout import Layout, TableSpec
from pskit.runtime.live.parts import MergedTrace, Pace, Part, read_keys
from pskit.trace.recorder import Recorder
from pskit.trace.schema import MESSAGE_KINDS, SCHEMA

LAYOUT = Layout([TableSpec("a", 7, 2), TableSpec("b", 5, 1, "i8")], shards=2)
CLIENTS, THREADS, SHARDS, CLOCKS, SEED = 3, 2, 2, 30, 5
WORKERS = CLIENTS * THREADS
NO_TIMES = np.empty(0, np.int64)


def history(rng):
    """Calls of a recorder in order of time: (client or None, method, arguments)."""
    for clock in range(CLOCKS):
        for worker in range(WORKERS):
            t = 1000 * clock + 10 * worker
            rows = np.sort(rng.permutation(LAYOUT.n_rows)[:4]).astype(np.int32)
            ages = rng.integers(0, 4, 4).astype(np.int32)
            yield worker // THREADS, "read", (
                t, worker, clock, rows, rng.integers(0, 50, 4), np.zeros(4, np.int32), clock + 1, ages,
                ages < 2, 3,
            )  # fmt: skip
            yield worker // THREADS, "clock", (worker, clock, max(0, t - 990), t + 5, 4, 3)
            for shard in range(SHARDS):
                kind = MESSAGE_KINDS.index("oplog")
                yield None, "message", (kind, worker // THREADS, CLIENTS + shard, t + 5, t + 8, 100, 4)
                index = clock * WORKERS + worker
                yield None, "update", (worker, clock, shard, clock, index, t, t + 5, t + 8, 0.5, 0.25)
        yield None, "metric", (1000 * clock + 900, clock, "loss", 1.0 / (clock + 1))
    for worker in range(WORKERS):
        for shard in range(SHARDS):
            yield None, "member", (10**6 + worker, worker, shard, CLOCKS, 7, "left")


def part(recorder, messages):
    log = np.array(messages, np.int64).reshape(-1, 9)
    pace = Pace(NO_TIMES, NO_TIMES, 0, 0.0)
    return Part(
        recorder.finish(), recorder.sampling, recorder.schedule_hash, log, False, pace, 0, 0, 0, {}, 0
    )


def both(mode, cap=None):
    """The recorder of the whole history, and the trace merged of its parts."""
    caps = {} if cap is None else {"read_cap": cap}
    whole = Recorder(LAYOUT, WORKERS, mode, SEED, **caps)
    share = {} if cap is None else {"read_cap": max(1, cap // CLIENTS)}
    recorders = [Recorder(LAYOUT, WORKERS, mode, SEED, **share) for _ in range(CLIENTS + 1)]
    logs = [[] for _ in recorders]
    sent = 0
    for client, method, arguments in history(np.random.default_rng(1)):
        if method == "message":
            whole.message(sent, *arguments)
            kind, src, dst, t_send, *rest = arguments
            logs[CLIENTS].append((t_send, src, sent, kind, src, dst, *rest))
            sent += 1
        else:
            for recorder in (whole, recorders[CLIENTS if client is None else client]):
                getattr(recorder, method)(*arguments)
    logs[CLIENTS].reverse()  # in whatever order receivers take them down
    parts = [part(r, log) for r, log in zip(recorders, logs, strict=True)]
    return whole, MergedTrace(LAYOUT, WORKERS, mode, SEED, parts, **caps)


def lines(columns):
    return sorted(zip(*(values.tolist() for values in columns.values()), strict=True))


@pytest.mark.parametrize("mode", ["full", "summary"])
def test_merged_parts_are_the_whole(mode):
    whole, merged = both(mode)
    expected, found = whole.finish(), merged.finish()
    for name in SCHEMA:
        assert lines(found[name]) == lines(expected[name]), name
        assert {k: v.dtype for k, v in found[name].items() if v.dtype.kind != "U"} == {
            k: v.dtype for k, v in expected[name].items() if v.dtype.kind != "U"
        }
    assert merged.sampling == whole.sampling
    assert (merged.workers, merged.mode, merged.layout) == (WORKERS, mode, LAYOUT)
    assert len(merged.schedule_hash) == 64


@pytest.mark.parametrize("cap", [400, 100, 30])
def test_a_thinned_trace_keeps_exactly_the_reads_of_its_share(cap):
    whole, merged = both("summary", cap)
    reads, everything = merged.finish()["reads"], both("full")[0].finish()["reads"]
    share = merged.sampling["reads"]["share"]
    assert share <= whole.sampling["reads"]["share"] < 1
    assert merged.sampling["reads"]["kept"] == len(reads["t"]) <= cap
    assert merged.sampling["reads"]["total"] == len(everything["t"])
    kept = read_keys(SEED, everything["worker"], everything["clock"]) < np.uint64(int(share * 2**64))
    assert lines(reads) == lines({name: values[kept] for name, values in everything.items()})
    assert lines(merged.finish()["histogram"]) == lines(whole.finish()["histogram"])
