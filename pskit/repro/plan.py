"""Which runs are needed, and which of them are there already."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pskit.analysis.trace import Trace, open_trace
from pskit.config import Config
from pskit.errors import InputError
from pskit.repro.batches import PlannedBatch, kind_name, planned
from pskit.repro.catalogue import Catalogue, Profile, with_keys
from pskit.repro.places import make_room
from pskit.running import run
from pskit.runtime.live.fidelity import FAITHFUL, LARGEST_SCALE
from pskit.trace.hashing import code_fingerprint
from pskit.trace.schema import FORMAT
from pskit.trace.store import open_run

RUNS = "runs"
"""Subfolder of the output for run folders."""

LIVE = "live"
RETRY_FACTOR = 3.0
"""By which time is stretched for a live run that was not faithful to its config."""


class PlannedRun(NamedTuple):
    """A run that some experiment needs; equal configs of several experiments are one run.

    Attributes
    ----------
    cfg : Config
    folder : Path
    seconds : float
        About what it takes, on one core.
    done : bool
        Whether one of its `attempts` has this run already, made by this code.
    """

    cfg: Config
    folder: Path
    seconds: float
    done: bool

    @property
    def alone(self) -> bool:
        """Whether nothing else may run meanwhile: a live run needs the processors for its times."""
        return self.cfg.run.runtime == LIVE

    @property
    def size(self) -> int:
        """Number of runs."""
        return 1

    @property
    def key(self) -> str:
        """Fingerprint of its config."""
        return self.cfg.fingerprint()

    def make_room(self) -> None:
        """Take away what stands where the run will be written and is none, see `pskit.repro.places`."""
        for _, folder in self.attempts():
            make_room(folder, FORMAT)

    def make(self) -> None:
        """Make the run and write its folder, in this process."""
        run(self.cfg, out=self.folder, force=True, threads=1)

    def open(self) -> Trace:
        """The finished run."""
        return open_trace(self.result() if self.alone else self.folder)

    def attempts(self) -> list[tuple[Config, Path]]:
        """Config and folder of this run; of a live one also those of a second try, with time stretched."""
        first = (self.cfg, self.folder)
        if self.cfg.run.time_scale is None:
            return [first]
        stretched = {"run.time_scale": min(RETRY_FACTOR * self.cfg.run.time_scale, LARGEST_SCALE)}
        cfg = Config(**with_keys(self.cfg.to_dict(), stretched))
        return [first, (cfg, self.folder.with_name(folder_name(cfg)))]

    def result(self) -> Path:
        """The folder that counts, once the run has been made: that of the first attempt that `is_done`."""
        return next((folder for cfg, folder in self.attempts() if is_done(folder, cfg)), self.folder)


Planned = PlannedRun | PlannedBatch


def seconds_on(run: Planned, cores: int) -> float:
    """Estimated time that a run adds to all: those that need not be alone share the cores."""
    return run.seconds if run.alone else run.seconds / cores


class Plan(NamedTuple):
    """All runs and batches of runs, and which ones each experiment uses.

    Attributes
    ----------
    runs : dict of str to PlannedRun or PlannedBatch
        By fingerprint.
    members : dict of str to list of str
        Fingerprints of the runs of an experiment, by its name.
    """

    runs: dict[str, Planned]
    members: dict[str, list[str]]

    @property
    def missing(self) -> list[Planned]:
        """Runs that are still to be made."""
        return [run for run in self.runs.values() if not run.done]

    @property
    def size(self) -> int:
        """Number of runs."""
        return sum(run.size for run in self.runs.values())

    def seconds(self, cores: int) -> float:
        """Estimated time of the missing runs."""
        return sum(seconds_on(run, cores) for run in self.missing)


def make_plan(catalogue: Catalogue, experiments: Iterable[str], profile: Profile, out: Path) -> Plan:
    """Lay out the runs of `experiments` under `out`."""
    runs: dict[str, Planned] = {}
    members: dict[str, list[str]] = {}
    for name in experiments:
        experiment = catalogue.experiments[name]
        if experiment.measure:
            for cfg, seeds, seconds in experiment.batches(profile):
                batch = planned(cfg, seeds, experiment.varies, experiment.measure, seconds, out)
                runs[batch.key] = batch
                members.setdefault(name, []).append(batch.key)
            continue
        for cfg, seconds in experiment.configs(profile):
            key = cfg.fingerprint()
            if key not in runs:
                folder = out / RUNS / folder_name(cfg)
                one = PlannedRun(cfg, folder, seconds, False)
                runs[key] = one._replace(done=any(is_done(place, c) for c, place in one.attempts()))
            members.setdefault(name, []).append(key)
    return Plan(runs, {name: list(dict.fromkeys(keys)) for name, keys in members.items()})


def folder_name(cfg: Config) -> str:
    """Name of a run's folder: readable, and distinct for distinct configs."""
    live = f"-{LIVE}" if cfg.run.runtime == LIVE else ""
    return f"{kind_name(cfg)}{live}-seed{cfg.run.seed}-{cfg.fingerprint()[:12]}"


def is_done(folder: Path, cfg: Config) -> bool:
    """Whether `folder` has a complete, undamaged run of `cfg` by the code as it is now; if live, faithful."""
    if not os.path.isdir(folder):  # unlike Path.is_dir, false where one may not look
        return False
    try:
        manifest = open_run(folder, verify=True).manifest
    except InputError:
        return False  # it will be made again
    return (
        manifest["status"] in ("finished", "diverged")
        and manifest["fingerprint"] == cfg.fingerprint()
        and manifest["config"] == cfg.to_dict()  # which is what claims choose runs by
        and manifest["code"] == code_fingerprint()
        and "data" in manifest  # for captions
        and (cfg.run.runtime != LIVE or _faithful(manifest))
    )


def _faithful(manifest: Mapping[str, Any]) -> bool:
    fidelity = manifest.get("fidelity")
    return fidelity is not None and fidelity["verdict"] == FAITHFUL
