"""Batches: hundreds of short runs of one config that differ in one seed alone, kept as columns.

A claim about probabilities needs hundreds of runs of a few hundred reads. A folder with the whole trace of
each would be a thousand folders for one figure, so these runs are measured where they are made, and what is
kept is one folder for all of a batch: ``columns.npz`` with the numbers of every run, the seeds among them,
``config.toml``, and ``manifest.json``. A batch is used again when config, seeds, measure and code are the
same and its file is unchanged; it is written whole or not at all.

Any single one of these runs with its full trace, from the folder of its batch:

    pskit run BATCH/config.toml --set run.seed=17 --out one

What a batch measures is a function of `pskit.repro.measured`, named in the experiment's TOML:

    measure = "theorem5"      # makes the experiment one of batches
    batch = 50                # seeds of each; left out: all of them, where the measure needs them together
    varies = "run.seed"       # or "app.noise_seed": one schedule, fresh samples and noise

Claims and figures get a `pskit.repro.ensemble.Ensemble` of batches, and from its ``column(NAME)`` the values
of all runs in the order of their seeds.
"""

import hashlib
import inspect
import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import theory
from pskit.apps import make_app
from pskit.config import Config
from pskit.errors import InputError
from pskit.repro.catalogue import Varies, with_keys
from pskit.repro.measured import MEASURES
from pskit.repro.places import MANIFEST, make_room, read_manifest
from pskit.trace.folder import atomic_folder
from pskit.trace.hashing import file_sha256, source_fingerprint
from pskit.trace.machine import git_commit, machine, versions
from pskit.trace.npz import read_npz, write_npz

ENSEMBLES = "ensembles"
"""Subfolder of the output for the folders of batches."""
CONFIG, COLUMNS = "config.toml", "columns.npz"
FORMAT = "pskit batch of runs 1"
_NO_PART_IN_IT = ("auditing", "cli.py", "console", "explore", "repro")


class Batch:
    """A finished batch.

    Parameters
    ----------
    manifest : mapping
        ``config`` (that of the first run), ``varies``, ``measure``, ``data``, ``workers`` and more.
    columns : mapping of str to array
        By name, a row per run; ``seed`` is among them. A measure that takes all runs together may give other
        shapes, too.
    """

    def __init__(self, manifest: Mapping[str, Any], columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self.manifest, self.columns = manifest, columns

    @property
    def config(self) -> Mapping[str, Any]:
        """Config of the first run, as plain values; times and rates as text ("200ms")."""
        config: Mapping[str, Any] = self.manifest["config"]
        return config

    @property
    def seeds(self) -> list[int]:
        """The value of what varies, of each run."""
        found: list[int] = self.columns["seed"].tolist()
        return found


class PlannedBatch(NamedTuple):
    """A batch that some experiment needs.

    Attributes
    ----------
    cfg : Config
        Of the first run.
    seeds : tuple of int
    varies : {"run.seed", "app.noise_seed"}
    measure : str
        A name of `pskit.repro.measured.MEASURES`.
    folder : Path
    seconds : float
        About what all of its runs take, on one core.
    done : bool
        Whether `folder` has it already, made by this code.
    """

    cfg: Config
    seeds: tuple[int, ...]
    varies: Varies
    measure: str
    folder: Path
    seconds: float
    done: bool

    @property
    def alone(self) -> bool:
        """Nothing else must wait for it."""
        return False

    @property
    def size(self) -> int:
        """Number of runs."""
        return len(self.seeds)

    @property
    def key(self) -> str:
        """Fingerprint of configs and measure."""
        text = json.dumps([self.cfg.fingerprint(), self.varies, self.seeds, self.measure])
        return hashlib.sha256(text.encode()).hexdigest()

    def make_room(self) -> None:
        """Take away what stands at `folder` and is no batch, see `pskit.repro.places`."""
        make_room(self.folder, FORMAT)

    def make(self) -> None:
        """Make and measure all runs, and write the folder."""
        begin = time.process_time()
        configs = [seeded(self.cfg, self.varies, seed) for seed in self.seeds]
        columns = MEASURES[self.measure](configs)
        seeds = {"seed": np.array(self.seeds, np.int64)}
        write_batch(self, {**seeds, **columns}, time.process_time() - begin)

    def open(self) -> Batch:
        """The finished batch."""
        return open_batch(self.folder)


def planned(
    cfg: Config, seeds: Sequence[int], varies: Varies, measure: str, seconds: float, out: Path
) -> PlannedBatch:
    """A batch below the output folder ``out``; `seconds` is for one run.

    Raises
    ------
    InputError
        On a measure that there is not.
    """
    if measure not in MEASURES:
        raise InputError(f"an experiment has the measure {measure!r}; there are {', '.join(MEASURES)}")
    first = seeded(cfg, varies, seeds[0])
    batch = PlannedBatch(first, tuple(seeds), varies, measure, out, seconds * len(seeds), False)
    batch = batch._replace(folder=out / ENSEMBLES / folder_name(batch))
    return batch._replace(done=is_made(batch))


def seeded(cfg: Config, varies: Varies, seed: int) -> Config:
    """The config with this seed."""
    return Config(**with_keys(cfg.to_dict(), {varies: seed}))


def folder_name(batch: PlannedBatch) -> str:
    """Readable, and distinct for distinct batches."""
    cfg, seeds = batch.cfg, batch.seeds
    which = "seeds" if batch.varies == "run.seed" else f"seed{cfg.run.seed}-noise"
    return f"{kind_name(cfg)}-{which}{seeds[0]}-{seeds[-1]}-{batch.key[:12]}"


def kind_name(cfg: Config) -> str:
    """Application, policy and slack: how the names of folders begin."""
    app = cfg.app.name.rpartition(":")[2].lower()
    slack = "" if cfg.ps.slack is None else f"-s{cfg.ps.slack}"
    return f"{app}-{cfg.ps.policy}{slack}"


def is_made(batch: PlannedBatch) -> bool:
    """Whether its folder is complete and undamaged, and made by the code as it is now."""
    try:
        manifest = open_batch(batch.folder).manifest
    except InputError:
        return False  # it will be made again
    said = {
        "key": batch.key,
        "code": measuring_code(batch.measure),
        "config": batch.cfg.to_dict(),
        "varies": batch.varies,
        "seeds": list(batch.seeds),
        "measure": batch.measure,
        "workers": batch.cfg.workers,
    }
    return "data" in manifest and all(manifest.get(name) == value for name, value in said.items())


def write_batch(batch: PlannedBatch, columns: Mapping[str, npt.NDArray[Any]], seconds: float) -> None:
    """Write the folder of a batch, whole or not at all; an older one is replaced.

    ``seconds`` of processor time went into it.
    """
    cfg = batch.cfg
    with atomic_folder(batch.folder) as folder:
        write_npz(folder / COLUMNS, columns)
        (folder / CONFIG).write_text(cfg.to_toml(), encoding="utf-8", newline="\n")
        manifest = {
            "format": FORMAT,
            "key": batch.key,
            "code": measuring_code(batch.measure),
            "config": cfg.to_dict(),
            "varies": batch.varies,
            "seeds": list(batch.seeds),
            "measure": batch.measure,
            "columns": {name: list(values.shape) for name, values in columns.items()},
            "sha256": {COLUMNS: file_sha256(folder / COLUMNS)},
            "one_run": f"pskit run {CONFIG} --set {batch.varies}={batch.seeds[0]} --out one",
            "data": make_app(cfg.app.name).describe(cfg),
            "workers": cfg.workers,
            "cpu_seconds": seconds,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "git": git_commit(),
            "versions": versions(),
            "machine": machine(),
        }
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8", newline="\n")


def open_batch(folder: Path) -> Batch:
    """Read the folder of a batch.

    Raises
    ------
    InputError
        When it is missing, damaged or something else.
    """
    manifest = read_manifest(folder)
    hashes = manifest.get("sha256")
    if manifest.get("format") != FORMAT or not isinstance(hashes, dict):
        raise InputError(f"{folder}: this is no batch of runs as this version writes it")
    columns = read_npz(folder / COLUMNS)
    if file_sha256(folder / COLUMNS) != hashes.get(COLUMNS) or "seed" not in columns:
        raise InputError(f"{folder}: {COLUMNS} is not as it was written")
    return Batch(manifest, columns)


@lru_cache
def measuring_code(measure: str) -> str:
    """Fingerprint of all code that makes the columns of a measure: runs, analysis, theory, and itself."""
    package = Path(__file__).resolve().parents[1]
    own = inspect.getsourcefile(MEASURES[measure])
    parts = (
        source_fingerprint(package, _NO_PART_IN_IT),
        source_fingerprint(Path(theory.__file__).parent, ("derivations", "__main__.py")),
        file_sha256(Path(own)) if own else "",
    )
    return hashlib.sha256("".join(parts).encode()).hexdigest()
