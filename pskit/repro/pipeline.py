"""From claims to a report: plan, run or reuse, check, draw, write."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from pskit.repro.caption import counted
from pskit.repro.catalogue import Catalogue, Profile
from pskit.repro.claims.verdict import judge
from pskit.repro.drawing import draw_all
from pskit.repro.live import make_live
from pskit.repro.output import output_folder
from pskit.repro.plan import Plan, PlannedRun, make_plan
from pskit.repro.progress import Pace, showing
from pskit.repro.report import write_report
from pskit.repro.report.content import Report
from pskit.repro.results import Results
from pskit.repro.runner import Runner
from pskit.trace.machine import git_commit, machine, versions

SECONDS_TO_START_AND_DRAW = 10  # about, for the estimate


def reproduce(catalogue: Catalogue, profile: Profile, only: Sequence[str], out: Path, jobs: int) -> Report:
    """Reproduce the claims that `only` names, all of them if it is empty, and write the report into ``out``.

    Raises
    ------
    InputError
        On a name that fits no claim, and on an ``out`` that holds something else or cannot be written.
    KeyboardInterrupt
        Says how many runs are there by then.
    """
    claims = catalogue.choose(only)
    figures = catalogue.figures_for(claims)
    with output_folder(out):
        return _reproduce(catalogue, profile, only, claims, figures, out, jobs)


def _reproduce(
    catalogue: Catalogue,
    profile: Profile,
    only: Sequence[str],
    claims: list[str],
    figures: list[str],
    out: Path,
    jobs: int,
) -> Report:
    begin = time.monotonic()
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    plan = make_plan(catalogue, catalogue.needs(claims, figures), profile, out)
    tested = sum(not catalogue.claims[name].untested for name in claims)
    counts = f"{tested} of {counted(len(claims), 'claim')} tested, {counted(len(figures), 'figure')}"
    console.print(f"profile {profile}: {counts}")
    if plan.runs:
        console.print(announce(plan, jobs))
    errors, setup = make_missing(plan, jobs, console)
    results = Results(plan, errors)
    verdicts = [judge(catalogue, name, *results.of(catalogue.claims[name].experiments)) for name in claims]
    if figures:
        console.print(f"drawing {counted(len(figures), 'figure')}")
    entries = {name: entry for name, entry in catalogue.figures.items() if name in figures}
    drawn = draw_all(entries, results, out, min(jobs, os.cpu_count() or 1))
    seconds = time.monotonic() - begin - setup
    report = Report(
        profile, tuple(only), verdicts, drawn, results.counts(), seconds, setup, describe_machine()
    )
    write_report(report, out)
    return report


def announce(plan: Plan, jobs: int) -> str:
    """What there is to do, and about how long it takes."""
    total, missing = plan.size, sum(run.size for run in plan.missing)
    if not missing:
        return f"{counted(total, 'run')}, all reused"
    alone = sum(run.alone for run in plan.missing)
    jobs = min(jobs, len(plan.missing) - alone)
    cores = min(jobs, os.cpu_count() or 1) or 1
    seconds = plan.seconds(cores) + SECONDS_TO_START_AND_DRAW
    reused = f"{total - missing} reused, " if missing < total else ""
    processes = f" in {jobs} processes" if jobs > 1 else " in one process" if jobs else ""
    # A live run takes what cores there are.
    idle = "an idle machine" if alone else f"{cores} idle cores" if cores > 1 else "one idle core"
    live = f", {alone} of them live, which come first, one after another" if alone else ""
    make = f"{counted(total, 'run')}: {reused}{missing} to make"
    return f"{make}{processes}{live}, about {seconds:.0f} s on {idle}"


def make_missing(plan: Plan, jobs: int, console: Console) -> tuple[dict[str, str], float]:
    """Make what is missing: errors by fingerprint, and the seconds that loading and compiling took."""
    missing = plan.missing
    if not missing:
        return {}, 0.0
    for run in missing:
        run.make_room()
    alone = [run for run in missing if isinstance(run, PlannedRun) and run.alone]
    others = [run for run in missing if not run.alone]
    pace = Pace(missing, min(jobs, os.cpu_count() or 1))
    try:
        with showing(console, pace) as report:
            outcomes = make_live(alone, report)
            if others:
                outcomes += Runner(jobs, report).make(others)
    except KeyboardInterrupt:
        there = plan.size - pace.total + pace.done
        raise KeyboardInterrupt(
            f"{there} of {plan.size} runs are there and will be reused; start again to go on."
        ) from None
    return {o.run.key: o.error for o in outcomes if o.error}, pace.setup


def describe_machine() -> dict[str, str]:
    """What the results were made on."""
    found, packages, git = machine(), versions(), git_commit()
    changes = " with changes" if git["dirty"] else ""
    return {
        "system": f"{found['system']} {found['architecture']}",
        "processor": f"{found['cpu']}, {found['cpu_count']} cores",
        "versions": ", ".join(f"{name} {version}" for name, version in packages.items() if version),
        "commit": f"{git['commit']}{changes}" if git["commit"] else "not known",
    }
