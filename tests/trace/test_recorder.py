import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.trace.recorder import Recorder
from pskit.trace.schema import MESSAGE_KINDS, SCHEMA
from tests.trace.synthetic import LAYOUT, Get, Schedule, make_get, make_schedule, mix, sampled

schedules = st.builds(
    make_schedule, st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 6), st.integers(0, 20)
)


def recorded(schedule: Schedule, mode: str = "full", seed: int = 0, **caps: int) -> Recorder:
    return schedule.record(Recorder(LAYOUT, schedule.workers, mode, seed, **caps))


def rows_of(columns, *names):
    return list(zip(*(columns[n].tolist() for n in names), strict=True))


@settings(max_examples=40)
@given(schedules)
def test_full_reads_are_what_was_given(schedule):
    reads = recorded(schedule).finish()["reads"]
    expected = []
    for g in schedule.gets():
        for r, version, own_from, age, hit in zip(g.rows, g.version, g.own_from, g.age, g.hit, strict=True):
            table, row = (0, r) if r < 7 else (1, r - 7)
            own = (version, own_from, g.own_upto, age, hit, g.waited)
            expected.append((g.t, g.worker, g.clock, table, row, r % 3, *own))
    assert rows_of(reads, *SCHEMA["reads"]) == expected


@settings(max_examples=40)
@given(schedules, st.sampled_from(["full", "summary"]))
def test_histogram_and_read_totals_are_exact(schedule, mode):
    columns = recorded(schedule, mode, read_cap=3).finish()
    counts, totals = {}, {}
    for g in schedule.gets():
        for age in g.age.tolist():
            counts[g.clock, age] = counts.get((g.clock, age), 0) + 1
        more = np.array([1, len(g.rows), g.hit.sum(), g.waited])
        totals[g.clock] = totals.get(g.clock, 0) + more
    histogram = {(c, a): n for c, a, n in rows_of(columns["histogram"], "clock", "age", "count")}
    assert histogram == counts
    got = {c: tuple(more) for c, *more in rows_of(columns["read_totals"], *SCHEMA["read_totals"])}
    assert got == {c: tuple(v.tolist()) for c, v in totals.items()}


@settings(max_examples=40)
@given(schedules)
def test_clocks_updates_and_metrics_are_kept_whole(schedule):
    columns = recorded(schedule, "summary", read_cap=1, message_cap=1).finish()
    for table, call in (("clocks", "clock"), ("updates", "update")):
        expected = [args for name, args in schedule.events if name == call]
        assert rows_of(columns[table], *SCHEMA[table]) == expected
    assert columns["metrics"]["value"].tolist() == [a[3] for n, a in schedule.events if n == "metric"]


@settings(max_examples=40)
@given(schedules)
def test_message_totals_count_for_the_mean_finished_clock(schedule):
    totals = recorded(schedule, "summary", message_cap=2).finish()["message_totals"]
    finished, expected = 0, {}
    for name, args in schedule.events:
        if name == "clock":
            finished += 1
        elif name == "message":
            key = (finished // schedule.workers, args[1])
            expected[key] = expected.get(key, 0) + np.array([1, args[6], args[7]])
    got = {(c, k): tuple(more) for c, k, *more in rows_of(totals, *SCHEMA["message_totals"])}
    assert got == {k: tuple(v.tolist()) for k, v in expected.items()}


@settings(max_examples=40)
@given(schedules, st.integers(1, 30), st.integers(0, 2**70))
def test_summary_keeps_whole_worker_clocks_by_their_keys(schedule, cap, seed):
    full = rows_of(recorded(schedule).finish()["reads"], *SCHEMA["reads"])
    recorder = recorded(schedule, "summary", seed, read_cap=cap)
    kept = rows_of(recorder.finish()["reads"], *SCHEMA["reads"])
    sizes = {}
    for g in schedule.gets():
        key = read_key(seed, g.worker, g.clock)
        sizes[key] = sizes.get(key, 0) + len(g.rows)
    level, keys = sampled(sizes, cap)
    assert kept == [r for r in full if read_key(seed, *r[1:3]) in keys]
    assert recorder.sampling["reads"] == {"share": 2.0**-level, "kept": len(kept), "total": len(full)}


def read_key(seed: int, worker: int, clock: int) -> int:
    return mix((mix((mix((seed + 1) % 2**64) + worker) % 2**64) + clock) % 2**64)


@settings(max_examples=30)
@given(st.integers(1, 400), st.integers(1, 60), st.randoms(use_true_random=False))
def test_kept_messages_do_not_depend_on_order(n, cap, random):
    messages = [(i, i % len(MESSAGE_KINDS), 0, 1, i, i + 1, 32, 0) for i in range(n)]
    kept = []
    for _ in range(2):
        recorder = Recorder(LAYOUT, 1, "summary", 5, message_cap=cap)
        for i, message in enumerate(messages):
            recorder.message(*message)
            if i % 37 == 0:
                recorder.sampling  # noqa: B018  (a look in between must not change the outcome)
        kept.append(
            (set(recorder.finish()["messages"]["id"].tolist()), recorder.sampling["messages"]["share"])
        )
        random.shuffle(messages)
    assert kept[0] == kept[1]
    _, keys = sampled({message_key(5, i): 1 for i in range(n)}, cap)
    assert kept[0][0] == {i for i in range(n) if message_key(5, i) in keys}


def message_key(seed: int, message_id: int) -> int:
    return mix(message_id ^ mix(seed + 2))


@settings(max_examples=30)
@given(schedules, st.integers(0, 2**40))
def test_schedule_hash_depends_on_the_schedule_only(schedule, seed):
    reference = recorded(schedule).schedule_hash
    assert recorded(schedule, "summary", seed, read_cap=1, message_cap=1).schedule_hash == reference
    in_steps = Recorder(LAYOUT, schedule.workers)
    for name, args in schedule.events:
        getattr(in_steps, name)(*args)
        in_steps.schedule_hash  # noqa: B018  (asking closes the chunks)
    assert in_steps.schedule_hash == reference
    values = {"metric": lambda a: (*a[:3], -a[3]), "update": lambda a: (*a[:8], 7.0, 8.0)}
    other = [(n, values[n](a) if n in values else a) for n, a in schedule.events]
    assert recorded(Schedule(schedule.workers, other)).schedule_hash == reference


@pytest.mark.parametrize("field", ["t", "worker", "clock", "own_upto", "waited"])
def test_schedule_hash_sees_each_number_of_a_get(field):
    assert_hash_changes(lambda g: g._replace(**{field: getattr(g, field) + 1}))


@pytest.mark.parametrize("field", ["rows", "version", "own_from", "age", "hit"])
@pytest.mark.parametrize("at", [0, 7])
def test_schedule_hash_sees_each_row_of_a_get(field, at):
    def change(g: Get) -> Get:
        values = getattr(g, field).copy()
        values[at] = not values[at] if field == "hit" else values[at] + 1
        return g._replace(**{field: values})

    assert_hash_changes(change)


def test_schedule_hash_sees_the_order_of_rows():
    assert_hash_changes(lambda g: g._replace(version=g.version[::-1].copy()))


def assert_hash_changes(change):
    get = make_get(np.random.default_rng(1), 5, 1, 2, 8)
    a, b = Recorder(LAYOUT, 3), Recorder(LAYOUT, 3)
    a.read(*get)
    b.read(*change(get))
    assert a.schedule_hash != b.schedule_hash


@pytest.mark.parametrize(("call", "width"), [("message", 8), ("clock", 6), ("update", 8)])
def test_schedule_hash_sees_each_number_of_a_record(call, width):
    seen = set()
    for i in range(width + 1):
        record = [1] * width
        if i < width:
            record[i] = 2
        recorder = Recorder(LAYOUT, 3)
        getattr(recorder, call)(*record, *((0.5, 0.5) if call == "update" else ()))
        seen.add(recorder.schedule_hash)
    assert len(seen) == width + 1


@settings(max_examples=20)
@given(schedules)
def test_schedule_hash_is_the_documented_one(schedule):
    streams = {name: hashlib.sha256() for name in ("message", "clock", "update", "read")}
    for name, args in schedule.events:
        if name == "read":
            g = Get(*args)
            fold = 0
            for i in range(len(g.rows)):
                place = (i + 1) * 0x9E3779B97F4A7C15
                word = mix((int(g.version[i]) + place) % 2**64)
                word = mix(word ^ (int(g.rows[i]) << 32 | int(g.own_from[i])))
                fold += mix(word ^ (int(g.age[i]) << 1 | int(g.hit[i])))
            head = np.array([g.t, g.worker, g.clock, g.own_upto, g.waited, len(g.rows)], "<i8")
            streams[name].update(head.tobytes() + (fold % 2**64).to_bytes(8, "little"))
        elif name in streams:
            streams[name].update(np.array(args[:8], "<i8").tobytes())
    expected = hashlib.sha256(b"".join(s.digest() for s in streams.values())).hexdigest()
    assert recorded(schedule).schedule_hash == expected


def test_blocks_and_chunks_of_any_size_join():
    rng = np.random.default_rng(0)
    recorder = Recorder(LAYOUT, 1, "full")
    gets = [make_get(rng, i, 0, i // 100, n) for i, n in enumerate([70_000, 0, *[1] * 5000, 40_000, 40_000])]
    for get in gets:
        recorder.read(*get)
        recorder.message(get.t, 0, 0, 1, 0, 1, 32, 0)
    columns = recorder.finish()
    assert columns["reads"]["version"].tolist() == np.concatenate([g.version for g in gets]).tolist()
    assert (
        columns["reads"]["t"].tolist() == np.repeat([g.t for g in gets], [len(g.rows) for g in gets]).tolist()
    )
    assert columns["messages"]["id"].tolist() == [g.t for g in gets]


def test_finish_may_be_asked_early_and_again():
    schedule = make_schedule(3)
    recorder = Recorder(LAYOUT, schedule.workers)
    recorder.finish()
    first, second = schedule.record(recorder).finish(), recorder.finish()
    for table in SCHEMA:
        for name in SCHEMA[table]:
            np.testing.assert_array_equal(first[table][name], second[table][name])


def test_an_empty_run_has_all_tables_with_their_dtypes():
    columns = Recorder(LAYOUT, 1).finish()
    assert list(columns) == list(SCHEMA)
    for table, schema in SCHEMA.items():
        assert {n: (len(v), v.dtype.kind) for n, v in columns[table].items()} == {
            n: (0, np.dtype(d).kind) for n, d in schema.items()
        }


def test_large_ages_and_clocks_grow_the_histogram():
    recorder = Recorder(LAYOUT, 1)
    get = make_get(np.random.default_rng(0), 0, 0, 700, 1)._replace(age=np.array([699], np.int32))
    recorder.read(*get)
    histogram = recorder.finish()["histogram"]
    assert rows_of(histogram, "clock", "age", "count") == [(700, 699, 1)]


def test_the_caller_may_reuse_its_arrays_and_pass_read_only_ones():
    recorder = Recorder(LAYOUT, 1)
    get = make_get(np.random.default_rng(0), 0, 0, 0, 4)
    version = get.version.copy()
    version.flags.writeable = False
    recorder.read(*get._replace(version=version))
    expected = get.rows.tolist()
    get.rows[:] = 0
    reads = recorder.finish()["reads"]
    assert (reads["row"] + np.array(LAYOUT.offsets)[reads["table"]]).tolist() == expected


def test_members_and_faults():
    recorder = Recorder(LAYOUT, 2)
    recorder.member(5, 1, 0, 3, 9, "left")
    recorder.fault(7, "non-finite INC", 1, 3, "U", 4, "value nan")
    columns = recorder.finish()
    assert rows_of(columns["members"], *SCHEMA["members"]) == [(5, 1, 0, 3, 9, "left")]
    assert rows_of(columns["faults"], *SCHEMA["faults"]) == [(7, "non-finite INC", 1, 3, "U", 4, "value nan")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": np.array([0, -1], np.int32)}, "negative"),
        ({"clock": -1}, "negative"),
        ({"hit": np.array([True])}, "unequal"),
        ({"version": np.array([1, 2, 3])}, "unequal"),
    ],
)
def test_an_impossible_get_is_refused_and_changes_nothing(change, message):
    recorder = Recorder(LAYOUT, 1)
    before = recorder.schedule_hash
    get = make_get(np.random.default_rng(0), 0, 0, 0, 2)._replace(**change)
    with pytest.raises(ValueError, match=message):
        recorder.read(*get)
    assert recorder.schedule_hash == before
    assert not len(recorder.finish()["histogram"]["age"])


def test_float_times_are_refused():
    recorder = Recorder(LAYOUT, 1)
    with pytest.raises(struct.error, match="not an integer"):
        recorder.clock(0, 0, 0, 1.5, 0, 0)


@pytest.mark.parametrize(("mode", "workers"), [("some", 1), ("full", 0)])
def test_wrong_set_up_is_refused(mode, workers):
    with pytest.raises(ValueError, match="must be"):
        Recorder(LAYOUT, workers, mode)


def test_an_unknown_membership_event_is_refused():
    with pytest.raises(ValueError, match="joined"):
        Recorder(LAYOUT, 1).member(0, 0, 0, 0, 0, "gone")
