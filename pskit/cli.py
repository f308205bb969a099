"""The command line: thin over `pskit.run`, `pskit.open_trace` and what `pskit.console` shows.

Exit codes: 0 fine; 1 a failed audit, a fault of an application or an unforeseen end; 2 wrong input; 3 the run
diverged; 4 a process of a live run died; 130 interrupted.
"""

import contextlib
import functools
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pskit.errors import AppError, InputError, RunFailed

if TYPE_CHECKING:
    from pskit.config import Config

FAILED, WRONG_INPUT, DIVERGED, PROCESS_DIED, INTERRUPTED = 1, 2, 3, 4, 130

app = typer.Typer(
    help="A parameter-server laboratory: BSP, SSP, ESSP, ASP and VAP on an emulated cluster.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a command whose errors become one paragraph on standard error and an exit code."""

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> None:
        failure: BaseException
        hint = "" if options["debug"] else " (--debug shows the traceback)"
        look_in_this_folder()
        try:
            function(*args, **options)
            return
        except (typer.Exit, BrokenPipeError):
            raise  # typer ends in silence where our reader has gone, as in `pskit report RUN | head`
        except KeyboardInterrupt as interrupt:
            failure, message, code = interrupt, str(interrupt) or "interrupted", INTERRUPTED
        except InputError as error:
            failure, message, code = error, f"error: {error}", WRONG_INPUT
        except RunFailed as error:
            failure, message, code = error, f"error: {error}", PROCESS_DIED
        except AppError as error:
            failure, message, code = error, f"error: {error}{hint}", FAILED
        except (RuntimeError, OSError, MemoryError) as error:
            failure, message, code = error, f"error: {type(error).__name__}: {error}{hint}", FAILED
        if options["debug"]:
            traceback.print_exception(failure)
        typer.echo(message, err=True)
        raise typer.Exit(code)

    return app.command()(guarded)


def look_in_this_folder() -> None:
    """Let ``module:Class`` be found in the working folder, which a console script does not look in.

    Last of all places: a file there that is called like a module of Python's own takes nobody's place.
    """
    with contextlib.suppress(OSError):  # the folder may have gone
        folder = os.getcwd()
        if folder not in sys.path:
            sys.path.append(folder)


@command
def run(
    config: Annotated[Path, typer.Argument(help="TOML file of the run.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="K=V", help="Override a key, e.g. --set ps.slack=4. Repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Run folder to write.", show_default="runs/CONFIG-POLICY-SLACK-HASH"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an older run at DIR.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print errors only.")] = False,
    debug: Debug = False,
) -> None:
    """Run a config and write its trace.

    Ends with 0 when it finished, with 3 when it diverged, with 4 when a process of a live run died.
    """
    import pskit
    from pskit.console.progress import showing_progress
    from pskit.console.tables import print_summary

    cfg = pskit.load_config(config, overrides or ())
    folder = out or default_folder(config, cfg)
    before = stored_manifest(folder)
    try:
        if quiet:
            trace = pskit.run(cfg, out=folder, force=force)
        else:
            with showing_progress(Console(stderr=True)) as progress:
                trace = pskit.run(cfg, out=folder, force=force, progress=progress)
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(what_is_left(folder, before, cfg.fingerprint())) from interrupt
    if not quiet:
        print_summary(Console(), trace, folder)
    for death in trace.manifest.get("deaths", ()):
        typer.echo(f"remark: {death['how']}", err=True)
    if trace.manifest["status"] == "diverged":
        raise typer.Exit(DIVERGED)


@command
def audit(folder: RunFolder, debug: Debug = False) -> None:
    """Check a run from its trace alone: every read, update and message.

    Ends with 1 when the trace breaks a rule, and tells the first case as a story.
    """
    import pskit
    from pskit.console.audit import print_audit

    result = pskit.audit(folder)
    print_audit(Console(), result, folder)
    if not result.ok:
        raise typer.Exit(FAILED)


@command
def replay(
    folder: RunFolder,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Run folder to write when it agrees.", show_default="none"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an older run at DIR.")] = False,
    debug: Debug = False,
) -> None:
    """Run a recorded live run again in virtual time, with its measured times, and compare.

    Ends with 1 when anything differs: a version of a read, the order of updates, a time, or a value.
    """
    import pskit

    result = pskit.replay(folder, out=out, force=force)
    typer.echo(f"{folder}: {result.verdict()}")
    if not result.agrees:
        raise typer.Exit(FAILED)
    if out is not None:
        typer.echo(f"the replay is in {out}")


@command
def report(folder: RunFolder, debug: Debug = False) -> None:
    """Show a run: loss, ages of reads, waiting, messages; or the steps of a violation that explore found."""
    import pskit
    from pskit.console.explore import print_story
    from pskit.console.tables import print_report
    from pskit.explore import replay

    if os.path.isfile(folder):  # unlike Path.is_file, false for names that cannot be
        print_story(Console(), replay(folder))
        return
    print_report(Console(), pskit.open_trace(folder), folder)


@command
def explore(
    policy: Annotated[str, typer.Option(help="Consistency policy.")] = "essp",
    clients: Annotated[int, typer.Option(help="Clients.")] = 2,
    threads: Annotated[int, typer.Option(help="Workers of each client.")] = 1,
    shards: Annotated[int, typer.Option(help="Server shards.")] = 2,
    rows: Annotated[int, typer.Option(help="Rows of each shard.")] = 1,
    clocks: Annotated[int, typer.Option(help="Clocks of each worker.")] = 2,
    slack: Annotated[
        int | None, typer.Option(help="Slack.", show_default="1, or 0 where the policy takes none")
    ] = None,
    deltas: Annotated[bool, typer.Option("--deltas", help="Pushes carry changed entries only.")] = False,
    capacity: Annotated[int, typer.Option(help="Rows that a cache may keep; 0 = all.")] = 0,
    evictions: Annotated[bool, typer.Option("--evictions", help="Evict any row at any moment.")] = False,
    lossy: Annotated[bool, typer.Option("--lossy", help="Links lose, repeat and reorder.")] = False,
    v0: Annotated[
        float | None, typer.Option(help="First threshold of vap.", show_default="1 under vap")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="Variant of vap: aggregate or per_worker.", show_default="aggregate")
    ] = None,
    leave: Annotated[
        list[str] | None,
        typer.Option(metavar="WORKER:CLOCKS", help="Leave after so many clocks. Repeatable."),
    ] = None,
    script: Annotated[
        list[str] | None,
        typer.Option(metavar="WORKER:SCRIPT", help="Calls of a worker, e.g. '0:G0,1 I0 C L'. Repeatable."),
    ] = None,
    max_states: Annotated[
        int | None, typer.Option(metavar="N", help="Give up beyond so many states.", show_default="5000000")
    ] = None,
    trace: Annotated[Path, typer.Option(metavar="FILE", help="Where to write a violation's steps.")] = Path(
        "violation.json"
    ),
    debug: Debug = False,
) -> None:
    """Visit all reachable states of a small system of the real core.

    Ends with 1 when an invariant breaks, and writes a shortest way there, which `pskit report FILE` shows.
    """
    from pskit.console.explore import print_story, print_verdict, scripts_of, showing_search
    from pskit.explore import MOST_STATES, System, save, tell
    from pskit.explore import explore as search

    own = scripts_of(leave or [], script or [], clients, threads, shards, rows)
    sizes = (clients, threads, shards, rows, clocks)
    system = System(policy, slack, deltas, *sizes, own, capacity, evictions, lossy, v0=v0, variant=variant)
    with showing_search(Console(stderr=True)) as progress:
        verdict = search(system, max_states or MOST_STATES, progress=progress)
    print_verdict(Console(), verdict)
    if verdict.violation is not None:
        story = tell(system, verdict.path, verdict.violation)
        save(story, trace)
        print_story(Console(), story, trace)
        raise typer.Exit(FAILED)


@command
def compare(first: RunFolder, second: RunFolder, debug: Debug = False) -> None:
    """Show two runs side by side."""
    import pskit
    from pskit.console.tables import print_comparison

    names = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    print_comparison(Console(), names, (pskit.open_trace(first), pskit.open_trace(second)))


@command
def doctor(debug: Debug = False) -> None:
    """Say what will work on this machine and what not."""
    from pskit.console.doctor import examine

    findings = list(examine())
    widths = [max(len(finding[column]) for finding in findings) for column in (1, 2)]
    for verdict, what, found, meaning in findings:
        typer.echo(f"{verdict:<4}  {what:<{widths[0]}}  {found:<{widths[1]}}  {meaning}")


@command
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Benchmarks; all of them by default.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results there, too.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Run benchmarks: each prints ratios of things measured in one run.

    A target is what this project promises of a ratio on two idle cores. A busy machine misses targets: first
    comes how busy it is. All of them take some minutes.
    """
    from pskit.console.bench import as_json, choose, duration, measure, showing_time

    results = {}
    chosen = choose(names or ())
    typer.echo(f"{', '.join(chosen)}: about {duration(chosen.values()):.0f} s on two idle cores", err=True)
    for name, path in chosen.items():
        typer.echo(name)
        with showing_time(Console(stderr=True), name, duration([path])):
            results[name] = ratios, seconds = measure(path)
        for ratio in ratios:
            verdict = {None: "", True: "  met", False: "  MISSED"}[ratio.met]
            target = f"  target {ratio.target}" if ratio.target else ""
            spread = f"{ratio.value:.3g} ({ratio.low:.3g} to {ratio.high:.3g})"
            typer.echo(f"  {ratio.what}: {spread}{target}{verdict}")
        typer.echo(f"  {seconds:.1f} s")
    if json_file is not None:
        json_file.write_text(json.dumps(as_json(results), indent=2) + "\n", encoding="utf-8")


def default_folder(config: Path, cfg: "Config") -> Path:
    """Folder of a run when none is named: equal configs meet in one, different ones do not."""
    slack = "" if cfg.ps.slack is None else f"-s{cfg.ps.slack}"
    return Path("runs") / f"{config.stem}-{cfg.ps.policy}{slack}-{cfg.fingerprint()[:8]}"


def stored_manifest(folder: Path) -> bytes | None:
    """What identifies the run at ``folder``: its manifest, with time of day and hashes; None without."""
    try:
        return (folder / "manifest.json").read_bytes()
    except (OSError, ValueError):
        return None


def what_is_left(folder: Path, before: bytes | None, fingerprint: str) -> str:
    """Say what an interrupted run leaves, where ``before`` it there was this manifest, if any."""
    from pskit.trace.store import open_run

    now = stored_manifest(folder)
    if now == before:
        older = "" if before is None else f", {folder} has the older run"
        return f"interrupted; nothing was written{older}"
    try:
        manifest = open_run(folder).manifest
    except InputError:
        return "interrupted; nothing was written"
    if manifest["fingerprint"] != fingerprint:
        return f"interrupted; nothing was written, {folder} has another run"
    so_far = " so far" if manifest["status"] == "interrupted" else ""
    return f"interrupted; the trace{so_far} is in {folder}"


def main() -> None:
    """Entry point of the console script `pskit`."""
    app(prog_name="pskit")
