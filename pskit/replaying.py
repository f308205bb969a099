"""A recorded live run again, in virtual time: `replay`."""

import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from pskit.analysis.trace import Trace
from pskit.apps import make_app
from pskit.config import Config
from pskit.config.explain import Origin
from pskit.errors import AppError, InputError, RunFailed
from pskit.running import assembled
from pskit.runtime.base import Execution
from pskit.runtime.guard import Guarded
from pskit.runtime.live.starting import starting
from pskit.runtime.recording import attach_logs
from pskit.runtime.replay import Differs, Record, Replay, first_difference, first_different_table
from pskit.trace.hashing import code_fingerprint
from pskit.trace.machine import machine, versions
from pskit.trace.recorder import Recorder
from pskit.trace.store import MANIFEST, RunFolder, as_folder, check_target, open_run, write_run


class Replayed(NamedTuple):
    """What came of a replay.

    Attributes
    ----------
    agrees : bool
        It took the same way as the recorded run, to the same values.
    difference : str
        The first difference in words; empty when it agrees.
    reads, updates, messages : int
        Lines of the record that were compared.
    value_hash : str
        Of the record.
    trace : Trace or None
        Of the replay; None where it could not go on.
    """

    agrees: bool
    difference: str
    reads: int
    updates: int
    messages: int
    value_hash: str
    trace: Trace | None

    def verdict(self) -> str:
        """One sentence that says all."""
        if not self.agrees:
            return f"the replay differs from the run. {self.difference}"
        return (
            f"the replay agrees: {self.reads:,} rows read in the same versions, {self.updates:,} updates in "
            f"the same order, {self.messages:,} messages at the same times, the same values (value hash "
            f"{self.value_hash[:16]})"
        )


def replay(path: str | Path, out: str | Path | None = None, *, force: bool = False) -> Replayed:
    """Run a recorded live run again in virtual time, with its measured times, and compare.

    The versions of all reads, the order of all updates and the times of everything have to be equal; on the
    same machine, with the same versions of everything, the values too. It runs in a process of its own with
    one thread for maths, as the recorded run did.

    Parameters
    ----------
    path : path
        Run folder of a live run made with ``run.record = true``.
    out : path, optional
        Run folder to write when the replay agrees; it must not exist or be empty.
    force : bool
        Replace an older run at ``out``.

    Returns
    -------
    Replayed

    Raises
    ------
    InputError
        When there is no record there, or it was changed; nothing is written.
    """
    if out is not None:
        check_target(out, force)
    path = as_folder(path)
    folder, cfg, _ = _opened(path)
    with starting(type(cfg).__module__, cfg.app.name.partition(":")[0]) as context:
        line, far_end = context.Pipe(duplex=False)
        process = context.Process(target=_in_child, args=(far_end, path), daemon=True)
        process.start()
    far_end.close()
    try:
        difference, parts = line.recv()
    except EOFError:
        process.join()
        raise RunFailed(f"the process of the replay ended with exit code {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
        process.close()
        line.close()
    if isinstance(difference, Exception):
        raise difference
    trace = None
    if parts is not None:
        manifest, columns, tables = parts
        if out is not None and not difference:
            write_run(
                out, config_toml=cfg.to_toml(), manifest=manifest, columns=columns, tables=tables, force=force
            )
        trace = Trace(manifest, columns, tables, Path(out) if out is not None and not difference else None)
    key_columns = {"reads": "t", "updates": "seq", "messages": "id"}
    reads, updates, messages = (len(folder[table][column]) for table, column in key_columns.items())
    value_hash = folder.manifest["value_hash"]
    return Replayed(not difference, difference, reads, updates, messages, value_hash, trace)


def open_replay(path: str | Path) -> Replay:
    """The recorded live run at ``path``, at its start: ``begin()`` it, then ``step()`` from event to event.

    Raises
    ------
    InputError
        See `replay`.
    """
    return _made(*_opened(as_folder(path))[1:])


def _opened(path: Path) -> tuple[RunFolder, Config, Record]:
    folder = open_run(path, verify=True)
    record = Record(str(path), folder.manifest, folder)
    cfg = Config.from_tree(folder.manifest["config"], Origin(str(path / MANIFEST)))
    if cfg.fingerprint() != folder.manifest["fingerprint"]:
        raise InputError(
            f"{path}: the config in manifest.json is not that of the run, key 'fingerprint' is of another one"
        )
    return folder, cfg, record


def _made(cfg: Config, record: Record) -> Replay:
    app = Guarded(make_app(cfg.app.name), cfg.app.name)
    layout = app.layout(cfg)
    recorder = Recorder(layout, cfg.workers, cfg.run.trace, cfg.run.seed)
    attach_logs(recorder, cfg, app, layout)
    return Replay(cfg, app, layout, recorder, record)


def _in_child(line: Connection, path: Path) -> None:
    try:
        line.send(_replayed(*_opened(path)))
    except (InputError, AppError) as error:
        line.send((error, None))


def _replayed(
    folder: RunFolder, cfg: Config, record: Record
) -> tuple[str, tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, Any]] | None]:
    """The first difference, and what there is of the trace; None when the replay could not go on."""
    started = time.perf_counter()
    simulation = _made(cfg, record)
    try:
        simulation.run()
    except Differs as error:
        return f"{error}{_other_circumstances(folder)}", None
    outcome = simulation.outcome(folder.manifest["status"])
    facts = _kept(folder, "fidelity", "processes", "emulated_ns")
    facts["replay_of"] = folder.manifest["schedule_hash"]
    execution = Execution(simulation.recorder, outcome, facts)
    about = _kept(folder, "data", "convex")
    manifest, columns, tables = assembled(cfg, execution, time.perf_counter() - started, None, about)
    columns["moments"] = dict(folder["moments"])
    found = first_difference(folder, columns, record.clients) or first_different_table(folder.tables, tables)
    if found is None and manifest["value_hash"] != folder.manifest["value_hash"]:
        found = "the value hash"
    return f"{found}{_other_circumstances(folder)}" if found else "", (manifest, columns, tables)


def _kept(folder: RunFolder, *keys: str) -> dict[str, Any]:
    return {key: folder.manifest[key] for key in keys if key in folder.manifest}


def _other_circumstances(folder: RunFolder) -> str:
    """What else is not as it was when the run was recorded, in words."""
    manifest = folder.manifest
    other = [
        what
        for what, then, now in (
            ("by other code of pskit", manifest["code"], code_fingerprint()),
            ("with other versions of Python or packages", manifest.get("versions"), versions()),
            ("on another machine", manifest.get("machine"), machine()),
        )
        if then != now
    ]
    return f". The run was recorded {' and '.join(other)}" if other else ""
