"""The command ``paper_repro.py``: arguments, errors, exit codes.

Exit codes: 0 fine; 1 a claim is FAIL, or its runs could not be made; 2 wrong input, or a place that cannot
be written; 130 interrupted.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pskit.errors import InputError
from pskit.repro.catalogue import Catalogue, load_catalogue
from pskit.repro.claims.verdict import FINDING, NOT_TESTED, PASS
from pskit.repro.pipeline import reproduce
from pskit.repro.report import HTML
from pskit.repro.report.content import QUICK, Report, value_text
from pskit.repro.runner import WorkerFailure

FINE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
MOST_JOBS = 1024
QUICK_HELP = "few seeds, indicative only; about a minute on two idle cores, 1.5 the first time"


def main(root: Path, arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    root : Path
        Folder of the project, with ``figures/`` and ``experiments/``.
    arguments : sequence of str, optional
        Default: those of this process.

    Returns
    -------
    int
        Exit code.
    """
    options = parser().parse_args(arguments)
    try:
        catalogue = load_catalogue(root / "figures" / "figures.toml", root / "experiments")
        only = [name for text in options.only for name in text.split(",")]
        if options.list:
            print_list(catalogue, only)
            return FINE
        report = reproduce(catalogue, options.profile, only, options.out, options.jobs)
        print_report(report, options.out)
        return FAILED if report.failed else FINE
    except InputError as error:
        return _fail(str(error), WRONG_INPUT)
    except WorkerFailure as error:
        return _fail(str(error), FAILED)
    except KeyboardInterrupt as interrupt:
        return _fail(f"interrupted. {interrupt}".rstrip(), INTERRUPTED)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            return _fail(str(error), WRONG_INPUT)  # a full disk, a folder of another user
        # The reader of our output has gone, as in `paper_repro.py --list | head`; keep the exit quiet, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="paper_repro.py",
        description="Reproduces arXiv 1410.8043: makes runs, draws figures, checks claims, writes a report.",
        epilog="Finished runs are reused. Exit codes: 0 fine, 1 a claim or a run failed, 2 wrong input.",
        allow_abbrev=False,
    )
    add, profile = p.add_argument, p.add_mutually_exclusive_group().add_argument
    p.set_defaults(profile="default", only=[], out=Path("report"), jobs=os.cpu_count() or 1)
    profile("--quick", dest="profile", action="store_const", const="quick", help=QUICK_HELP)
    profile("--full", dest="profile", action="store_const", const="full", help="many seeds")
    add("--only", metavar="ID[,ID]", action="append", help="only these claims, by id or its beginning")
    add("--list", action="store_true", help="list the claims (those of --only) and end")
    add("--out", metavar="DIR", type=Path, help="where to write (default: report)")
    add("--jobs", metavar="N", type=_jobs, help="processes at a time (default: all cores)")
    return p


def print_list(catalogue: Catalogue, only: Sequence[str]) -> None:
    """Print the claims that ``only`` names, all without any: what is expected, or why it is not tested."""
    for name in catalogue.choose(only):
        claim = catalogue.claims[name]
        about = f"not tested: {claim.untested}" if claim.untested else f"expected: {claim.expected}"
        print(f"{name:<6}  {claim.paper}\n        {about}")


def print_report(report: Report, out: Path) -> None:
    """Print a line per claim that was to be tested, the counts, and where the report is."""
    if report.profile == "quick":
        print(QUICK)
    for verdict in report.verdicts:
        if verdict.status != NOT_TESTED or not verdict.claim.untested:
            text = value_text(verdict) if verdict.status in (PASS, FINDING) else verdict.why
            print(f"{verdict.id:<6}  {verdict.status:<7}  {text}")
    print(f"{report.headline()}. {report.effort()}.")
    print(f"report: {out / HTML}")


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes, 1 to {MOST_JOBS}")
    return int(text)


def _fail(text: str, code: int) -> int:
    print(f"paper_repro.py: {text}", file=sys.stderr)
    return code
