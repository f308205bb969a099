"""Good runs pass, in every setting; what is wrong with a folder or a protocol is found."""

import signal
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pskit
from pskit.auditing.case import Case
from pskit.auditing.checks import agreement, stalls, starts, transit
from pskit.core.policies.base import Policy
from pskit.trace.hashing import ScheduleHash, run_value_hash
from pskit.trace.recorder import Recorder
from pskit.trace.schema import SCHEMA
from tests.auditing.drafts import Draft
from tests.auditing.runs import GATED, NETWORKS, POLICIES, config, run

SETTINGS = {
    "colocated": {"placement": "colocated"},
    "two workers a client": {"threads": 2, "shards": 3},
    "evictions": {"cache_rows": 2, "threads": 2},
    "uneven leaving": {"uneven": True, "threads": 2},
    "a straggler leaves": {"uneven": True, "straggler": 2, "clocks": 12},
    "alone": {"clients": 1, "shards": 1},
    "more shards than rows": {"shards": 15},
    "all at once": {"uneven": True, "cache_rows": 1, "network": "one bad link", "straggler": 0},
    **{name: {"network": name} for name in NETWORKS},
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_good_runs_pass(policy: str, setting: str) -> None:
    trace = run(policy, **SETTINGS[setting])
    report = pskit.audit(trace)
    assert report.ok, str(report)
    assert report.violations == ()
    assert report.story == ""
    assert report.share == 1.0
    assert report.reads == report.total_reads == len(trace.columns("reads")["t"]) > 0
    assert not report.checked.keys() & report.skipped.keys()
    assert len(report.checked) >= 34


@pytest.mark.parametrize("policy", GATED)
@pytest.mark.parametrize(
    "setting", ["two workers a client", "alone", "more shards than rows", "lossy", "instant"]
)
def test_good_runs_with_a_gate_pass(policy: str, setting: str) -> None:
    report = pskit.audit(run(policy, **SETTINGS[setting]))
    assert report.ok, str(report)
    assert report.checked["gate of VAP"] > 0


def test_checks_that_do_not_apply_say_why() -> None:
    assert pskit.audit(run("ssp")).skipped == {
        "BSP order": "only under bsp",
        "BSP view": "only under bsp",
        "ASP fetches in every clock": "only under asp",
        **dict.fromkeys(
            ("ids of views and gradients", "gradients are the updates", "views decode"),
            "the run recorded no views",
        ),
        "every unit is applied": "only where updates leave at INC",
        **{check.name: starts.NO_GATE for check in (*starts.IDS[1:], *starts.CHECKS, *stalls.CHECKS)},
        **{check.name: starts.NO_GATE for check in (*agreement.CHECKS, *transit.CHECKS)},
    }
    assert "has no bound" in pskit.audit(run("asp")).skipped["SSP guarantee"]


def test_a_copy_sent_while_a_worker_leaves_has_the_clock_of_that_moment() -> None:
    """The one case in which a copy claims less than what is in it.

    Worker 2 is slow and leaves half-way; the others wait for its last clock, and are served before it is out.
    """
    trace = run("essp", "instant", uneven=True, straggler=2, even=True, clocks=14)
    case = Case(trace.manifest, {name: trace.columns(name) for name in SCHEMA}, {})
    r = case.reads
    claimed, derived = r["clock"] - r["age"], case.history.row_clock(r["shard"], r["version"])
    lower = claimed < derived
    assert (claimed <= derived).all()
    assert lower.any()
    assert set(claimed[lower].tolist()) == {8}
    assert pskit.audit(trace).ok


def test_a_sampled_trace_says_what_share_was_checked(monkeypatch) -> None:
    monkeypatch.setitem(Recorder.__init__.__kwdefaults__, "read_cap", 100)
    monkeypatch.setitem(Recorder.__init__.__kwdefaults__, "message_cap", 60)
    trace = pskit.run(config("essp", trace="summary", clocks=12))
    report = pskit.audit(trace)
    assert report.ok, str(report)
    assert 0 < report.reads == len(trace.columns("reads")["t"]) <= 100
    assert report.total_reads == trace.columns("histogram")["count"].sum() > 200
    assert report.share == report.reads / report.total_reads
    assert f"({report.share:.1%})" in str(report)
    for check in ("versions travel in messages", "applied on arrival", "replies follow requests"):
        assert "sample" in report.skipped[check]
    assert report.checked["SSP guarantee"] == report.reads


class Diverges:
    """Worker 1 adds a NaN in the middle of clock 3."""

    def tables(self, cfg):
        return [pskit.TableSpec("x", 4, 1, "f8")]

    def init(self, ctx):
        pass

    async def work(self, ps):
        x = ps.table("x")
        for clock in range(6):
            await x.get([0, 1, 2, 3])
            await ps.compute(lambda: None, cost=1)
            x.inc([ps.worker], [[np.nan if (clock, ps.worker) == (3, 1) else 1.0]])
            await ps.clock()

    def objective(self, tables):
        return {"loss": 1.0}


class Interrupted(Diverges):
    def objective(self, tables):
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 4:
            signal.raise_signal(signal.SIGINT)
        return {"loss": 1.0}


def small(name: str) -> pskit.Config:
    return pskit.Config(app={"name": f"{__name__}:{name}"}, cluster={"clients": 3}, ps={"shards": 2})


def test_a_run_that_stopped_is_checked_as_far_as_it_went() -> None:
    trace = pskit.run(small("Diverges"))
    report = pskit.audit(trace)
    assert trace.status == "diverged"
    assert report.ok, str(report)
    assert "end" in report.skipped["end state"]
    assert report.checked["SSP guarantee"] > 20


EXPLODES = {"name": "quadratic", "dim": 4, "step": 1e30, "schedule": "constant", "clocks": 300}
STOPPED: dict[str, tuple[dict[str, object], int]] = {
    "ssp": ({"policy": "ssp", "slack": 3}, 1),
    "essp": ({"policy": "essp", "slack": 3}, 2),
    "bsp": ({"policy": "bsp"}, 0),
    "asp": ({"policy": "asp"}, 0),
    "vap": ({"policy": "vap", "v0": 1e300}, 0),
}
"""Policies and seeds; under ssp, essp and vap a view has an own update that its shard never got."""


@cache
def exploded(policy: str) -> pskit.Trace:
    ps, seed = STOPPED[policy]
    return pskit.run(
        pskit.Config(app=EXPLODES, ps={**ps, "shards": 2}, cluster={"clients": 3}, run={"seed": seed})
    )


@pytest.mark.parametrize("policy", STOPPED)
def test_all_views_of_a_run_that_stopped_are_decoded(policy: str) -> None:
    """Squares of the numbers overflow, and no warning comes of it: here it would be an error."""
    trace = exploded(policy)
    report = pskit.audit(trace)
    assert trace.status == "diverged"
    assert np.isinf(trace.columns("updates")["l2"]).any()
    assert report.ok, str(report)
    assert report.checked["views decode"] == len(trace.columns("views")["t"]) > 12


@pytest.mark.parametrize("policy", ["ssp", "essp", "vap"])
def test_what_was_under_way_at_the_stop_is_checked(policy: str) -> None:
    """An own update in a view is what its step makes it, also where its shard had not got it."""
    draft = Draft(exploded(policy))
    g, u, views = draft["gradients"], draft["updates"], draft["views"]
    full = u["linf"] > 0
    applied = set(zip(*(u[name][full].tolist() for name in ("worker", "clock", "shard")), strict=True))
    newest = {w: views["clock"][views["worker"] == w].max() for w in range(3)}
    changed = 0
    for i, (worker, clock) in enumerate(zip(g["worker"].tolist(), g["clock"].tolist(), strict=True)):
        for shard in range(2):
            if clock < newest[worker] and (worker, clock, shard) not in applied:
                g["g"][i, shard::2] *= 1 + 1e-9
                changed += 1
    assert changed
    assert "views decode" in [v.check for v in pskit.audit(draft.trace()).violations]


def test_an_interrupted_run_is_checked_as_far_as_it_went(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        pskit.run(small("Interrupted"), out=tmp_path / "a")
    report = pskit.audit(tmp_path / "a")
    assert report.ok, str(report)
    assert "end" in report.skipped["end state"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_that_stopped_before_anything_happened(policy: str) -> None:
    draft = Draft(run(policy))
    for table in draft.columns.values():
        for name in table:
            table[name] = table[name][:0]
    draft.manifest["status"] = "interrupted"
    for amounts in draft.manifest["trace"]["sampling"].values():
        amounts["kept"] = amounts["total"] = 0
    draft.manifest["value_hash"] = run_value_hash(draft.tables, draft["metrics"])
    draft.manifest["schedule_hash"] = ScheduleHash().hexdigest()
    report = pskit.audit(draft.trace())
    assert report.ok, str(report)
    assert report.share == 1.0


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("audit") / "run"
    pskit.run(config("bsp"), out=folder)
    return folder


@pytest.fixture
def folder(stored: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "run"
    copy.mkdir()
    for path in stored.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def test_folders(folder: Path) -> None:
    assert pskit.audit(folder) == pskit.audit(str(folder))
    assert pskit.audit(folder).checked == {"file hashes": 13, **pskit.audit(run("bsp")).checked}


def test_a_changed_file_is_a_violation(folder: Path) -> None:
    with (folder / "config.toml").open("a") as file:
        file.write("\n")
    report = pskit.audit(folder)
    assert [v.check for v in report.violations] == ["file hashes"]
    assert "config.toml" in report.story
    assert report.checked["BSP view"] > 0


def test_a_damaged_file_is_a_violation(folder: Path) -> None:
    path = folder / "updates.npz"
    path.write_bytes(path.read_bytes()[:-40])
    report = pskit.audit(folder)
    assert [v.check for v in report.violations] == ["file hashes"]
    assert "updates.npz" in report.story
    assert report.reads == 0


def test_no_run_is_wrong_input(folder: Path, tmp_path: Path) -> None:
    (folder / "reads.npz").unlink()
    with pytest.raises(pskit.InputError, match=r"reads\.npz"):
        pskit.audit(folder)
    with pytest.raises(pskit.InputError, match="no such run folder"):
        pskit.audit(tmp_path / "nowhere")


def test_a_broken_protocol_is_found(monkeypatch) -> None:
    """The off-by-one in the condition: reads one clock staler than the slack allows."""
    monkeypatch.setattr(Policy, "need", lambda self, clock: clock - self.slack - 1)
    report = pskit.audit(pskit.run(config("ssp")))
    assert not report.ok
    assert report.violations[0].check == "SSP guarantee"
    assert "missing: the update of worker" in report.story


def test_an_entry_that_begins_as_no_number_is_not_called_rounding() -> None:
    draft = Draft(run("ssp"))
    for which in ("initial", "final"):
        draft.tables[f"{which}:sums"][2, 1] = np.nan
    (story,) = [v.story for v in pskit.audit(draft.trace()).violations if v.check == "end state"]
    assert "it began as nan" in story
    assert "rounding" not in story
    assert "no sum says where such an entry ends" in story


def test_a_schedule_hash_that_cannot_be_made_again_says_why() -> None:
    draft = Draft(run("ssp"))
    draft["read_totals"]["gets"][0] += 1
    draft.manifest["schedule_hash"] = "0" * 64
    assert "cannot be told apart" in pskit.audit(draft.trace()).skipped["schedule hash"]
