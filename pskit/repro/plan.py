"""Which runs are needed, and which of them are there already."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pskit.config import Config
from pskit.errors import InputError
from pskit.repro.catalogue import Catalogue, Profile
from pskit.trace.hashing import code_fingerprint
from pskit.trace.store import open_run

RUNS = "runs"
"""Subfolder of the output for run folders."""


class PlannedRun(NamedTuple):
    """A run that some experiment needs; equal configs of several experiments are one run.

    Attributes
    ----------
    cfg : Config
    folder : Path
    seconds : float
        About what it takes, on one core.
    done : bool
        Whether `folder` has this run already, made by this code.
    """

    cfg: Config
    folder: Path
    seconds: float
    done: bool


class Plan(NamedTuple):
    """All runs, and which ones each experiment uses.

    Attributes
    ----------
    runs : dict of str to PlannedRun
        By config fingerprint.
    members : dict of str to list of str
        Fingerprints of the runs of an experiment, by its name.
    """

    runs: dict[str, PlannedRun]
    members: dict[str, list[str]]

    @property
    def missing(self) -> list[PlannedRun]:
        """Runs that are still to be made."""
        return [run for run in self.runs.values() if not run.done]

    @property
    def seconds(self) -> float:
        """Estimated time of the missing runs on one core."""
        return sum(run.seconds for run in self.missing)


def make_plan(catalogue: Catalogue, experiments: Iterable[str], profile: Profile, out: Path) -> Plan:
    """Lay out the runs of `experiments` under `out`."""
    runs: dict[str, PlannedRun] = {}
    members: dict[str, list[str]] = {}
    for name in experiments:
        for cfg, seconds in catalogue.experiments[name].configs(profile):
            key = cfg.fingerprint()
            if key not in runs:
                folder = out / RUNS / folder_name(cfg)
                runs[key] = PlannedRun(cfg, folder, seconds, is_done(folder, key))
            members.setdefault(name, []).append(key)
    return Plan(runs, {name: list(dict.fromkeys(keys)) for name, keys in members.items()})


def folder_name(cfg: Config) -> str:
    """Name of a run's folder: readable, and distinct for distinct configs."""
    app = cfg.app.name.rpartition(":")[2].lower()
    slack = "" if cfg.ps.slack is None else f"-s{cfg.ps.slack}"
    return f"{app}-{cfg.ps.policy}{slack}-seed{cfg.run.seed}-{cfg.fingerprint()[:12]}"


def is_done(folder: Path, fingerprint: str) -> bool:
    """Whether `folder` has a complete, undamaged run of this config by the code as it is now."""
    if not folder.is_dir():
        return False
    try:
        manifest = open_run(folder, verify=True).manifest
    except InputError:
        return False  # it will be made again
    return (
        manifest.get("status") in ("finished", "diverged")
        and manifest.get("fingerprint") == fingerprint
        and manifest.get("code") == code_fingerprint()
    )
