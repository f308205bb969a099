"""`Trace`: a run as its user holds it, raw columns and what is computed from them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import theory
from pskit.analysis import communication, convergence, frames, waiting
from pskit.analysis.gamma import Steps, in_one_line, steps_of
from pskit.analysis.rows import row_moments
from pskit.analysis.staleness import Staleness
from pskit.errors import InputError
from pskit.trace.schema import Columns, Tables
from pskit.trace.store import open_run


class Trace:
    """A run, in memory or in a folder.

    Parameters
    ----------
    manifest : mapping
        From `pskit.trace.manifest.build_manifest`.
    columns : mapping
        From `Recorder.finish`, or an opened run folder.
    tables : mapping of str to array
        ``final:NAME``, ``initial:NAME``, ``incs:NAME``.
    folder : Path, optional
        Where the run is stored.

    Notes
    -----
    Times are emulated: integer ns in columns, arrays and sums, seconds in single numbers that say so.
    """

    def __init__(
        self, manifest: Mapping[str, Any], columns: Tables, tables: Columns, folder: Path | None = None
    ) -> None:
        self.manifest = manifest
        self.folder = folder
        self._columns = columns
        self._tables = tables

    def __repr__(self) -> str:
        place = f" in {self.folder}" if self.folder else ""
        return f"<Trace{place}: {self.status}, {self.manifest['workers']} workers>"

    # --- raw ------------------------------------------------------------------------------------

    @property
    def config(self) -> Mapping[str, Any]:
        """The run's config as nested plain values; times and rates as text ("200ms")."""
        config: Mapping[str, Any] = self.manifest["config"]
        return config

    @property
    def status(self) -> str:
        """``finished``, ``diverged`` or ``interrupted``."""
        return str(self.manifest["status"])

    @property
    def names(self) -> list[str]:
        """Names of the tables, those that only some runs have among them."""
        return list(self._columns)

    def columns(self, name: str) -> Columns:
        """Columns of one table, by name; InputError says which tables there are."""
        if name not in self._columns:
            raise InputError(f"a trace has no table {name!r}; it has {list(self._columns)}")
        return self._columns[name]

    def table(self, name: str, which: str = "final") -> npt.NDArray[Any]:
        """Values (rows, cols) of a parameter table.

        Parameters
        ----------
        name : str
        which : {"final", "initial", "incs"}
            At the end, at the start, or the sum of all INCs.
        """
        key = f"{which}:{name}"
        if key not in self._tables:
            raise InputError(f"a trace has no values {key!r}; it has {list(self._tables)}")
        return self._tables[key]

    def in_one_line(self, which: str = "final") -> npt.NDArray[np.float64]:
        """Values of all parameter tables, one after the other as in a view; ``which`` as in `table`."""
        return in_one_line(self.manifest, self._tables, which)

    def to_pandas(self, name: str) -> Any:
        """Return the table ``name`` as a ``pandas.DataFrame``."""
        return frames.to_pandas(self.columns(name))

    def to_xarray(self, name: str | None = None) -> Any:
        """Return the table ``name``, or all of them, as an ``xarray.Dataset`` of ``TABLE.COLUMN``."""
        names = list(self._columns) if name is None else [name]
        return frames.to_xarray({n: self.columns(n) for n in names})

    # --- computed -------------------------------------------------------------------------------

    def staleness(self) -> Staleness:
        """Ages of all reads, exact."""
        h = self.columns("histogram")
        return Staleness(h["clock"], h["age"], h["count"])

    def loss(self, name: str = "loss") -> dict[str, npt.NDArray[Any]]:
        """Equally long arrays ``clock``, ``time`` (ns) and ``value`` of one metric."""
        return convergence.curve(self.columns("metrics"), name)

    def final_loss(self, name: str = "loss") -> float:
        """Last value of a metric; see `pskit.analysis.convergence.final_loss`."""
        return convergence.final_loss(self.loss(name)["value"])

    def excursion(self, name: str = "loss") -> float:
        """Largest rise of a loss; see `pskit.analysis.convergence.excursion`."""
        return convergence.excursion(self.loss(name)["value"])

    def clocks_to(self, target: float, name: str = "loss", rising: bool = False) -> float:
        """Clocks until a metric reaches ``target``; see `pskit.analysis.convergence.time_to`."""
        loss = self.loss(name)
        return convergence.time_to(loss["clock"], loss["value"], target, rising)

    def seconds_to(self, target: float, name: str = "loss", rising: bool = False) -> float:
        """Emulated seconds until a metric reaches ``target``; see `pskit.analysis.convergence.time_to`."""
        loss = self.loss(name)
        return convergence.time_to(loss["time"], loss["value"], target, rising) * 1e-9

    def diverged(self) -> bool:
        """Whether the loss was ever not finite or above ``run.diverge_factor`` times the first one."""
        factor = float(self.config["run"]["diverge_factor"])
        return self.status == "diverged" or convergence.diverged(self.loss()["value"], factor)

    def time_split(self) -> dict[str, npt.NDArray[Any]]:
        """Per worker ``computing``, ``waiting``, ``sending``, ns; see `pskit.analysis.waiting.time_split`."""
        return waiting.time_split(self.columns("clocks"))

    def waiting_share(self) -> float:
        """Share of the workers' time that they waited for rows."""
        return waiting.waiting_share(self.columns("clocks"))

    def clock_time(self, quantile: float) -> float:
        """Quantile of the emulated seconds per clock (.5, .99, ...) over all workers and clocks."""
        return waiting.clock_time(self.columns("clocks"), quantile)

    def messages(self) -> dict[str, dict[str, int]]:
        """Exact ``messages``, ``bytes`` and ``rows`` of each kind, and of ``all``."""
        return communication.totals(self.columns("message_totals"))

    def messages_by_clock(self, kind: str | None = None) -> dict[str, npt.NDArray[Any]]:
        """Messages, bytes and rows over time; see `pskit.analysis.communication.by_clock`."""
        return communication.by_clock(self.columns("message_totals"), kind)

    def steps(self, slack: int | None = None) -> Steps:
        """Views, gradients, references and included updates of a convex run; see `pskit.analysis.gamma`.

        Parameters
        ----------
        slack : int, optional
            s of the theory's windows; needed where the policy has none.

        Raises
        ------
        InputError
            When the run recorded no views, or did not come to its end.
        """
        return steps_of(self.manifest, self._columns, self._tables, slack)

    def moments(self, slack: int | None = None) -> theory.Moments:
        """Mean and variance of the measured gamma, with confidence intervals.

        Of a convex application over all reads; bounds apply to it. Of another over the reads of a sample of
        rows, each taken by itself: `pskit.analysis.rows.RowMoments`, whose ``note`` says that none does. For
        an ensemble of runs see `pskit.convex`.

        Raises
        ------
        InputError
            See `steps`.
        """
        if "row_updates" in self._columns:
            return row_moments(self.manifest, self._columns, slack)
        return self.steps(slack).moments()


def open_trace(path: Path | str, verify: bool = False) -> Trace:
    """Open a run folder.

    Parameters
    ----------
    path : path
    verify : bool
        Also compare the sha256 of every file with the manifest's.

    Raises
    ------
    InputError
        Naming the folder and the file that is missing, damaged, changed, or of another version.
    """
    run = open_run(path, verify)
    return Trace(run.manifest, run, run.tables, run.folder)
