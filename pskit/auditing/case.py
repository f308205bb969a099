"""The run on trial: its columns, what its config says, and what follows from the updates alone."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.auditing.history import History
from pskit.auditing.links import Links
from pskit.auditing.schedule import schedule_hash
from pskit.auditing.transit import Transit
from pskit.auditing.windows import Windows
from pskit.trace.manifest import layout_of
from pskit.trace.schema import DEATH, MESSAGE_KINDS, Columns, Tables
from pskit.trace.starts import distances

Array = npt.NDArray[Any]
SAMPLED = "only a sample of the messages was recorded"
UNDER_WAY = "the run did not come to its end, updates were still under way"
KIND = {name: code for code, name in enumerate(MESSAGE_KINDS)}


class Case:
    """A trace with everything that more than one check needs.

    Parameters
    ----------
    manifest : mapping
    columns : mapping
        All tables of the schema.
    tables : mapping of str to array
        ``final:NAME``, ``initial:NAME``, ``incs:NAME``.

    Attributes
    ----------
    policy : str
    gated : bool
        An arbiter decides when computations start, and updates leave at INC.
    slack : int or None
        None: the policy has no bound.
    clients, threads, workers, shards : int
    finished : bool
        The run came to its end; otherwise the last oplogs may be missing.
    live : bool
        It ran on the wall clock, and its processes noticed things late.
    emulated : int, ns
        How long it says that it took.
    reads, updates, clocks, messages, members : mapping of str to array
    """

    def __init__(self, manifest: Mapping[str, Any], columns: Tables, tables: Columns) -> None:
        config = manifest["config"]
        self.manifest, self.columns, self.tables = manifest, columns, tables
        self.layout = layout_of(manifest)
        self.policy: str = config["ps"]["policy"]
        self.gated = self.policy == "vap"
        self.slack: int | None = config["ps"].get("slack")
        self.clients: int = config["cluster"]["clients"]
        self.threads: int = config["cluster"]["threads"]
        self.workers = self.clients * self.threads
        self.shards = self.layout.shards
        self.finished: bool = manifest["status"] == "finished"
        self.reads, self.updates, self.clocks = columns["reads"], columns["updates"], columns["clocks"]
        self.messages, self.members = columns["messages"], columns["members"]
        self.links = Links(config, self.clients)
        self.live: bool = config["run"]["runtime"] == "live"
        self.emulated: int = manifest["emulated_ns"]

    # -- how much of it there is -------------------------------------------------------------------

    def is_whole(self, table: str) -> bool:
        """Whether the trace kept every line of ``table`` ("reads", "messages"), not a sample."""
        return bool(self.manifest["trace"]["sampling"][table]["share"] == 1)

    @cached_property
    def total_reads(self) -> int:
        """Rows of reads of the run."""
        return int(self.columns["histogram"]["count"].sum())

    # -- what follows from the updates and clocks ----------------------------------------------------

    @cached_property
    def history(self) -> History:
        """What each shard applied, in order."""
        return History(self.updates, self.members, self.workers, self.shards, self.tick)

    @cached_property
    def windows(self) -> Windows:
        """When each clock of each worker began and ended."""
        return Windows(self.clocks, self.updates, self.workers, self.tick)

    @cached_property
    def tick(self) -> Array:
        """Whether each update is the last unit of its clock, which ends it: (n,) bool.

        Only under a policy with a gate are there others: there every INC is a unit, and the last one is
        empty. Where a run did not come to its end, a last one may be under way still: then the last that was
        applied ends its clock if it changed nothing.
        """
        u = self.updates
        if not self.gated:
            return np.ones(len(u["seq"]), np.bool_)
        worker, clock = u["worker"].astype(np.int64), u["clock"].astype(np.int64)
        over = np.bincount(self.clocks["worker"], minlength=self.workers)
        over[np.unique(self.members["worker"])] += 1  # who has left sent one more
        width = int(clock.max(initial=0)) + 1
        last = np.full(self.workers * width, -1)
        np.maximum.at(last, worker * width + clock, u["seq"])
        tick: Array = (u["seq"] == last[worker * width + clock]) & (clock < over[worker])
        if not self.finished:
            tick &= u["linf"] == 0
        return tick

    @cached_property
    def dead(self) -> Array:
        """Whether the client of each worker died during the run: (workers,) bool.

        What such a client took down itself is not in the trace: clocks, reads, and what arrived there.
        """
        faults = self.columns["faults"]
        dead = np.zeros(self.workers, np.bool_)
        for worker in faults["worker"][faults["what"] == DEATH].tolist():
            first = worker - worker % self.threads
            dead[first : first + self.threads] = True
        return dead

    @cached_property
    def off_reference(self) -> Array:
        """|view - x^_t|_inf of each start of a computation, NaN where no values were kept: (n,) float64."""
        initial = {t.name: self.tables[f"initial:{t.name}"] for t in self.layout.tables}
        off: Array = np.full(len(self.columns["starts"]["t"]), np.nan)
        for t, distance in distances(dict(self.columns["start_values"]), self.layout, initial).items():
            off[t - 1] = distance
        return off

    @cached_property
    def transit(self) -> Transit:
        """What the starts of computations lacked; of a run with a gate that no client died in."""
        return Transit(self)

    @cached_property
    def ended(self) -> bool:
        """Whether every worker has left every shard: the moment at which a run is over."""
        return bool(self.history.left.all())

    # -- reads and messages --------------------------------------------------------------------------

    @cached_property
    def read_rows(self) -> Array:
        """Global row of each read: (n,) int64."""
        rows: Array = self.layout.offsets[self.reads["table"]] + self.reads["row"]
        return rows

    @cached_property
    def first_of_get(self) -> Array:
        """Whether each read is the first row of its GET: (n,) bool. A GET's rows are ascending.

        Two GETs that return at once look like one where the rows of the second are all above the first's.
        """
        names = ("t", "worker", "clock", "own_upto", "waited")
        key = np.stack([self.reads[name].astype(np.int64) for name in names], axis=1)
        first = np.ones(len(key), np.bool_)
        first[1:] = (np.diff(key, axis=0) != 0).any(axis=1) | (np.diff(self.read_rows) <= 0)
        return first

    @cached_property
    def schedule_hash(self) -> str:
        """Hash of the schedule that the raw lines show, GETs told apart as far as possible."""
        return schedule_hash(
            self.messages, self.clocks, self.updates, self.reads, self.read_rows, self.first_of_get
        )

    @cached_property
    def read_pair(self) -> Array:
        """The reader's client and the row's shard, in one number as of `pair`: (n,) int64."""
        pair: Array = (
            self.reads["shard"].astype(np.int64) * self.clients + self.reads["worker"] // self.threads
        )
        return pair

    @cached_property
    def read_window(self) -> Array:
        """Place of each read's worker clock in `windows`, -1 without one: (n,) int64."""
        return self.windows.find(self.reads["worker"], self.reads["clock"])

    def of_kind(self, *kinds: str) -> Array:
        """Places of the messages of these kinds, in the order of sending."""
        places = np.flatnonzero(np.isin(self.messages["kind"], [KIND[kind] for kind in kinds]))
        return places[np.argsort(self.messages["id"][places], kind="stable")]

    def pair(self, places: Array) -> Array:
        """Client and shard of the messages at ``places`` (n,) in one number, shard * clients + client."""
        ends = np.sort(np.stack([self.messages["src"][places], self.messages["dst"][places]]), axis=0)
        pair: Array = (ends[1].astype(np.int64) - self.clients) * self.clients + ends[0]
        return pair

    def plain_pair(self, pair: Array) -> Array:
        """Whether messages between the client and the shard of ``pair`` (n,) are sent once, in order."""
        return self.links.plain(pair % self.clients, self.clients + pair // self.clients)
