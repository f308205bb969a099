"""The manifest of a run: what was run, on what, and what identifies the result."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pskit.core.layout import Layout, TableSpec
from pskit.trace.hashing import code_fingerprint, run_value_hash
from pskit.trace.machine import git_commit, machine, threads, versions
from pskit.trace.recorder import Recorder
from pskit.trace.schema import STATUSES, Columns, Tables


def build_manifest(
    *,
    config: Mapping[str, Any],
    fingerprint: str,
    seed: int,
    recorder: Recorder,
    columns: Tables,
    tables: Columns,
    status: str,
    wall_seconds: float,
    memory_estimate: int | None,
    memory_peak: int | None,
    command: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Everything ``manifest.json`` says, but the hashes of the files.

    Parameters
    ----------
    config : mapping
        The whole config, as plain JSON values.
    fingerprint : str
        Of the config. Together with ``code`` it says whether a finished run may be used again.
    seed : int
    recorder : Recorder
        Gives layout, trace mode, sampled shares and schedule hash.
    columns, tables : mapping
        As given to `pskit.trace.store.write_run`; for the value hash.
    status : {"finished", "diverged", "interrupted"}
    wall_seconds : float
    memory_estimate, memory_peak : int or None
        Bytes, where known.
    command : sequence of str, optional
        Default: the command line of this process.

    Returns
    -------
    dict
        Plain JSON values.

    Raises
    ------
    ValueError
        On an unknown status.
    """
    if status not in STATUSES:
        raise ValueError(f"status must be one of {STATUSES}, got {status!r}")
    return {
        "status": status,
        "config": dict(config),
        "fingerprint": fingerprint,
        "code": code_fingerprint(),
        "seed": seed,
        "schedule_hash": recorder.schedule_hash,
        "value_hash": run_value_hash(tables, columns["metrics"]),
        "workers": recorder.workers,
        "layout": describe_layout(recorder.layout),
        "trace": {"mode": recorder.mode, "sampling": recorder.sampling},
        "command": list(sys.argv if command is None else command),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_seconds": float(wall_seconds),
        "memory": {"estimate_bytes": memory_estimate, "peak_bytes": memory_peak},
        "git": git_commit(),
        "versions": versions(),
        "threads": threads(),
        "machine": machine(),
    }


def describe_layout(layout: Layout) -> dict[str, Any]:
    """``layout`` as plain JSON values: shards, and name, rows, cols and dtype of each table."""
    return {"shards": layout.shards, "tables": [t._asdict() for t in layout.tables]}


def layout_of(manifest: Mapping[str, Any]) -> Layout:
    """Rebuild the layout that a manifest describes."""
    described = manifest["layout"]
    return Layout([TableSpec(**table) for table in described["tables"]], described["shards"])
