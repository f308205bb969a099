"""From a config to a run folder: `run`."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pskit.analysis.trace import Trace
from pskit.apps import make_app
from pskit.apps.awaiting import nothing_unawaited
from pskit.config import Config
from pskit.config.arguments import as_config, as_count
from pskit.errors import wrong_argument
from pskit.runtime.base import Execution, Report, check_gate, runtime_named
from pskit.runtime.guard import Guarded
from pskit.runtime.memory import check_memory, peak_bytes
from pskit.trace.manifest import build_manifest
from pskit.trace.store import check_target, write_run

Progress = Callable[[int, int, dict[str, Any]], None]
SECONDS_BETWEEN_REPORTS = 0.2


def run(
    cfg: Config,
    out: str | Path | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Trace:
    """Run a config on its runtime.

    Parameters
    ----------
    cfg : Config
    out : path, optional
        Run folder to write; it must not exist or be empty. Without it the trace stays in memory.
    force : bool
        Replace an older run at ``out``.
    progress : callable, optional
        ``progress(done_clocks, total_clocks, info)``, about five times a second.
    threads : int, optional
        Threads for large kernels in virtual time; default all cores. Changes no result.

    Returns
    -------
    Trace
        ``trace.manifest["status"]`` is ``finished`` or ``diverged``.

    Raises
    ------
    InputError
        On wrong input; nothing is written.
    AppError
        The application failed: says where, in which method, worker and clock; nothing is written.
    RunFailed
        A process of a live run died or could not go on; nothing is written.
    KeyboardInterrupt
        After the trace so far was written, marked ``interrupted``: the run stops between two events, so once
        the kernel or the objective that is at work has ended. A second one breaks off at once, and leaves
        none; nor does a run that had not begun.
    """
    as_config("run(cfg)", cfg)
    if threads is not None:
        as_count("run(cfg, threads=...)", threads)
    if progress is not None and not callable(progress):
        raise wrong_argument("run(cfg, progress=...)", "a function of three arguments", progress)
    if out is not None:
        check_target(out, force)
    started = time.perf_counter()
    app = Guarded(make_app(cfg.app.name), cfg.app.name)
    working = cfg.workers * app.working_bytes(cfg)
    check_memory(working)  # first, as data of that size are made where the tables are named
    layout = app.layout(cfg)
    runtime = runtime_named(cfg.run.runtime)
    check_gate(cfg, runtime, app, layout)
    estimate = runtime.estimate_bytes(cfg, layout) + working
    check_memory(estimate)
    about = described(cfg, app)  # now: a fault there must not cost a finished run
    with nothing_unawaited(cfg.app.name):
        execution = runtime.execute(cfg, app, layout, threads, _reporter(progress, cfg))
    seconds = time.perf_counter() - started
    manifest, columns, tables = assembled(cfg, execution, seconds, estimate, about)
    if out is not None:
        write_run(
            out, config_toml=cfg.to_toml(), manifest=manifest, columns=columns, tables=tables, force=force
        )
    if manifest["status"] == "interrupted":
        raise KeyboardInterrupt
    return Trace(manifest, columns, tables, Path(out) if out is not None else None)


def described(cfg: Config, app: Guarded) -> dict[str, Any]:
    """What the manifest says of the application: its line for captions, and its constants if it has any."""
    constants = app.constants(cfg)
    return {"data": app.describe(cfg)} | ({} if constants is None else {"convex": constants})


def assembled(
    cfg: Config, execution: Execution, seconds: float, estimate: int | None, about: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, Any]]:
    """Manifest, columns of the trace, and parameter tables of a run, as `write_run` and `Trace` take them.

    Parameters
    ----------
    cfg : Config
    execution : Execution
    seconds : float
        That the run took.
    estimate : int or None
        Bytes that it was said to need.
    about : mapping
        From `described`.
    """
    recorder, outcome, facts = execution
    columns = recorder.finish()
    tables = {
        f"{kind}:{name}": values
        for kind, group in (("final", outcome.final), ("initial", outcome.initial), ("incs", outcome.incs))
        for name, values in group.items()
    }
    manifest = build_manifest(
        config=cfg.to_dict(),
        fingerprint=cfg.fingerprint(),
        seed=cfg.run.seed,
        recorder=recorder,
        columns=columns,
        tables=tables,
        status=outcome.status,
        wall_seconds=seconds,
        memory_estimate=estimate,
        memory_peak=peak_bytes(),
    )
    manifest |= {"emulated_ns": outcome.emulated, "events": outcome.events, **about, **facts}
    return manifest, columns, tables


def _reporter(progress: Progress | None, cfg: Config) -> Report | None:
    if progress is None:
        return None
    last = [time.perf_counter()]

    def report(state: Callable[[], tuple[int, dict[str, Any]]]) -> None:
        now = time.perf_counter()
        if now - last[0] >= SECONDS_BETWEEN_REPORTS:
            last[0] = now
            done, info = state()
            progress(done, cfg.app.clocks, info)

    return report
