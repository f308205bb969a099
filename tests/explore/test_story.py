import json

import pytest

from pskit.errors import InputError
from pskit.explore import System, explore, replay, save, tell
from tests.explore.mutants import MUTANTS

BUG = {m.name: m for m in MUTANTS}


def found(name):
    mutant = BUG[name]
    with mutant.planted():
        verdict = explore(mutant.system)
        return tell(mutant.system, verdict.path, verdict.violation)


def test_steps_say_what_happens_and_what_comes_of_it():
    story = found("one clock too lax")
    assert [(step.event, step.what) for step in story.steps] == [
        ("worker 0 goes on", "GET of rows [0]"),
        ("client 0 to shard 0: arrives", "request of worker 0 for rows [0], need -1"),
        ("shard 0 to client 0: arrives", "reply with rows [0], clock 0, version 0, own units in it [0]"),
        ("worker 0 goes on", "INC of rows [0], then clock()"),
        ("worker 0 goes on", "GET of rows [0]"),
    ]
    assert story.steps[3].then == ["to shard 0: oplog of worker 0, clock 0, rows [0]"]
    assert story.steps[4].then == [
        "worker 0 reads row 0 at clock 1: units worker 0's 0; worker 1's none"
        " (version 0, own units from 0 added, age 1)"
    ]
    assert story.violation.startswith("InvariantBroken: SSP guarantee: worker 0 at clock 1 read row 0")


def test_everything_that_travels_has_words():
    told = "\n".join(
        line
        for name in ("ask before the unsubscribe", "entries of a push are added", "a leaver stays a member")
        for step in found(name).steps
        for line in (step.event, step.what, *step.then)
    )
    for words in (
        "client 0 evicts row 0",
        "to shard 0: unsubscribe rows [0]",
        "push of rows [], entries of rows [0], clock 2, version 4, own units in it [2]",
        "leaving oplog of worker 0, clock 0, rows []",
        "shard 0 applies worker 1's unit 0",
    ):
        assert words in told


def test_updates_that_are_taken_back_show_as_values():
    system = System("ssp", clients=1, shards=1, scripts={0: "C U0 G0 L"})
    on, up = "worker 0 goes on", "client 0 to shard 0: arrives"
    (*_, last) = tell(system, [on, on, up, up, "shard 0 to client 0: arrives"]).steps
    assert "values [-1]" in last.then[0]


def test_membership_and_doubled_updates_have_words():
    path = ["worker 0 goes on", "client 0 to shard 0: arrives"]
    story = tell(System("ssp", clients=1, shards=1, scripts={0: "L"}), path)
    assert story.violation is None
    assert story.steps[1].then == [
        "shard 0 applies worker 0's unit 0",
        "worker 0 is no member of shard 0 any more, clock 1",
    ]
    system = System("ssp", clients=1, shards=1, scripts={0: "I0 I0 G0 L"})
    path = ["worker 0 goes on", "client 0 to shard 0: arrives", "shard 0 to client 0: arrives"]
    assert "units worker 0's 0 x2" in tell(system, path).steps[2].then[0]


def test_saved_and_replayed(tmp_path):
    story = found("share with any need")
    file = tmp_path / "violation.json"
    save(story, file)
    with BUG["share with any need"].planted():
        assert replay(file) == story
    assert json.loads(file.read_text())["violation"] == story.violation
    again = replay(file)  # by the core as it is
    assert again.violation is None
    assert again.path == story.path


def test_that_no_way_leads_to_the_end_is_looked_at_again(tmp_path):
    mutant = BUG["the newest segment is sent again"]
    file = tmp_path / "dead.json"
    with mutant.planted():
        verdict = explore(mutant.system)
        story = tell(mutant.system, verdict.path, verdict.violation)
        save(story, file)
        assert replay(file).violation == "no way leads from here to the end of all scripts"
    assert replay(file).violation is None


def test_a_system_that_breaks_nothing_can_be_told_too():
    system = System("ssp", clients=1, shards=1, scripts={0: "L"}, lossy=True)
    path = ["worker 0 goes on", "client 0 to shard 0: segment 0 is lost", "client 0 to shard 0: timer"]
    assert tell(system, path).steps[1].then == []
    with pytest.raises(InputError, match=r"step 3 of the trace.*only 'client 0 to shard 0: timer'"):
        tell(system, [*path[:2], "worker 0 goes on"])


def test_a_trace_may_not_go_on_after_its_end():
    story = found("share with any need")
    with BUG["share with any need"].planted(), pytest.raises(InputError, match="step 5 ends the trace"):
        tell(story.system, [*story.path, "worker 0 goes on"])
    lax = found("one clock too lax")
    with BUG["one clock too lax"].planted(), pytest.raises(InputError, match="step 5 ends the trace"):
        tell(lax.system, [*lax.path, "worker 0 goes on"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no explorer trace"),
        ("[1]", "is no explorer trace"),
        ('{"format": "pskit explorer trace 1"}', "is no explorer trace: 'system'"),
        ('{"format": "pskit explorer trace 1", "system": {"color": 1}, "steps": []}', "is no explorer trace"),
    ],
)
def test_files_that_are_none(tmp_path, text, message):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        replay(file)


def test_a_file_of_another_version_or_none(tmp_path):
    file = tmp_path / "x.json"
    save(found("one clock too lax"), file)
    file.write_text(file.read_text().replace("trace 1", "trace 7"))
    with pytest.raises(InputError, match="format 'pskit explorer trace 7'"):
        replay(file)
    with pytest.raises(InputError, match="is no explorer trace"):
        replay(tmp_path / "missing.json")
