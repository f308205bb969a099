"""What a live run recorded of its times, checked and put in the order in which a replay asks for it.

A record can be replayed because of two things. What a process did follows from the order in which it took
things in; and no two of these share a moment, so the moments alone are that order. Both are checked here: a
table that breaks them did not come from a live run.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pskit.errors import InputError
from pskit.runtime.carrier import NEVER
from pskit.runtime.live.moments import BEGAN, CAUGHT_UP, COMPUTED, ENDED, PUT_OFF, TIMER
from pskit.trace.schema import DEATH, MOMENTS, Tables

Array = npt.NDArray[Any]


class Differs(RuntimeError):
    """The replay did something else than the record says: what, where and when first."""


class Sent(NamedTuple):
    """A message that a process sent; ``t_deliver`` is `NEVER` where the link lost it."""

    t_send: int
    src: int
    dst: int
    nbytes: int
    t_deliver: int


class Computed(NamedTuple):
    """A computation: its start, its modelled duration, and when it was found to be over, or `NEVER`."""

    t_from: int
    duration: int
    t: int


class Record:
    """The times of one live run.

    Parameters
    ----------
    place : str
        Where it is from, for messages.
    manifest : mapping
        Of a run whose form was checked when it was opened.
    columns : mapping
        Its tables.

    Attributes
    ----------
    began : list of int, ns
        When each client began.
    sent : list of lists of Sent
        By process (a client, at last the server), in order.
    computed : list of lists of Computed
        By worker, in order.
    timers : dict of (src, dst, epoch) to int, ns
        Retransmission timers that went off.
    put_off : set of (t, number, src, client)
        Pushes for which there was no room then, in place of the server's message of that number.
    caught_up : list of (t, src, client)
        When a shard sent a client what it was owed.
    last : int, ns
        Last moment of the run: what was to happen later never did.

    Raises
    ------
    InputError
        When the run has no record, or one that no live run can have made.
    """

    def __init__(self, place: str, manifest: Mapping[str, Any], columns: Tables) -> None:
        self._place = place
        config = manifest["config"]
        if config["run"]["runtime"] != "live":
            raise InputError(f"{place}: this run was made in virtual time; run its config again to repeat it")
        if "moments" not in columns:
            raise InputError(
                f"{place}: this live run was not recorded; to replay a run, make it with run.record = true"
            )
        if (columns["faults"]["what"] == DEATH).any():
            raise InputError(
                f"{place}: a client died in this run, and what it had recorded with it: there is no replay"
            )
        self.clients: int = config["cluster"]["clients"]
        self.threads: int = config["cluster"]["threads"]
        self.workers = self.clients * self.threads
        self.ends = self.clients + int(config["ps"]["shards"])
        moments, messages = columns["moments"], columns["messages"]
        self._check_ranges(moments, messages, manifest["trace"])
        kinds = {what: moments["what"] == what for what in range(len(MOMENTS))}
        self.began = moments["t"][kinds[BEGAN]][: self.clients].tolist()
        self._stopped = moments["t"][kinds[ENDED]]
        self.last = int(self._stopped.max())
        self.sent = self._messages(messages)
        self.computed = [
            [Computed(*line) for line in zip(*self._picked(moments, kinds[COMPUTED], worker), strict=True)]
            for worker in range(self.workers)
        ]
        timers = [moments[name][kinds[TIMER]].tolist() for name in ("src", "who", "number", "t")]
        self.timers = {tuple(key): t for *key, t in zip(*timers, strict=True)}
        pushes = [
            zip(*(moments[name][kinds[kind]].tolist() for name in names), strict=True)
            for kind, names in ((PUT_OFF, ("t", "number", "src", "who")), (CAUGHT_UP, ("t", "src", "who")))
        ]
        self.put_off: set[tuple[int, ...]] = set(pushes[0])
        self.caught_up: list[tuple[int, ...]] = list(pushes[1])
        self._check_order(moments, messages)

    def process_of(self, end: Any) -> Any:
        """Process of end points: that of the client, or the server's for a shard."""
        return np.minimum(end, self.clients)

    def _picked(self, moments: Mapping[str, Array], computed: Array, worker: int) -> list[list[int]]:
        mine = computed & (moments["who"] == worker)
        order = np.argsort(moments["t_from"][mine], kind="stable")
        return [moments[name][mine][order].tolist() for name in ("t_from", "number", "t")]

    def _messages(self, messages: Mapping[str, Array]) -> list[list[Sent]]:
        order = np.argsort(messages["id"], kind="stable")
        columns = [messages[name][order] for name in ("t_send", "src", "dst", "bytes", "t_deliver")]
        process = self.process_of(columns[1])
        return [
            [Sent(*line) for line in zip(*(c[process == p].tolist() for c in columns), strict=True)]
            for p in range(self.clients + 1)
        ]

    # -- whether a live run can have made it -------------------------------------------------------

    def _check_ranges(
        self, moments: Mapping[str, Array], messages: Mapping[str, Array], trace: Mapping[str, Any]
    ) -> None:
        sampling = trace["sampling"]["messages"]
        self._refuse(sampling["kept"] != sampling["total"], "not all messages were kept")
        what, who, src = moments["what"], moments["who"], moments["src"]
        self._refuse((what < 0).any() or (what >= len(MOMENTS)).any(), "an unknown kind of moment")
        for kind in (BEGAN, ENDED):
            found = who[what == kind].tolist()
            self._refuse(
                found != list(range(self.clients + 1)), f"not every process {MOMENTS[kind]} once, in order"
            )
        computing = who[what == COMPUTED]
        self._refuse(_outside(computing, self.workers), "a computation of a worker that there is not")
        between = what == TIMER
        odd = _outside(who[between], self.ends) or _outside(src[between], self.ends)
        pushed = (what == PUT_OFF) | (what == CAUGHT_UP)
        odd = odd or _outside(who[pushed], self.clients) or _outside(src[pushed], self.ends)
        odd = odd or bool((src[pushed] < self.clients).any())
        odd = odd or any(_outside(messages[name], self.ends) for name in ("src", "dst"))
        self._refuse(odd, "an end point that there is not")

    def _check_order(self, moments: Mapping[str, Array], messages: Mapping[str, Array]) -> None:
        """Every process does one thing at a time, nothing after its end, and nothing before its cause."""
        what, t, who = moments["what"], moments["t"], moments["who"]
        over = (what == COMPUTED) & (t != NEVER)
        early = (t[over] < moments["t_from"][over] + moments["number"][over]).any()
        self._refuse(early, "a computation that was over before its end")
        lost = messages["t_deliver"] == NEVER
        early = (messages["t_deliver"][~lost] < messages["t_send"][~lost]).any()
        self._refuse(early, "a message that arrived before it was sent")
        receiver = self.process_of(messages["dst"])
        consumed = ~lost & (messages["t_deliver"] <= self._stopped[receiver])
        worker = what == COMPUTED
        # A channel's timer is its sender's, and a push the server's.
        owner = np.where((what == TIMER) | (what == CAUGHT_UP), moments["src"], who)
        process = np.where(worker, who // self.threads, self.process_of(owner))
        did = (what != ENDED) & (what != PUT_OFF) & ~(worker & (t == NEVER))
        when = np.concatenate([t[did], messages["t_deliver"][consumed]])
        where = np.concatenate([process[did], receiver[consumed]])
        order = np.lexsort((when, where))
        when, where = when[order], where[order]
        same = (np.diff(when) == 0) & (np.diff(where) == 0)
        self._refuse(same.any(), "two things that one process did at the same moment")
        self._refuse((when > self._stopped[where]).any(), "something that a process did after its end")
        sender = self.process_of(messages["src"])
        acted = set(zip(where.tolist(), when.tolist(), strict=True))
        causes = set(zip(sender.tolist(), messages["t_send"].tolist(), strict=True))
        self._refuse(not causes <= acted, "a message that was sent when its sender did nothing")

    def _refuse(self, odd: Any, what: str) -> None:
        if odd:
            raise InputError(
                f"{self._place}: the record is damaged or no record of a live run: it has {what}"
            )


def _outside(values: Array, end: int) -> bool:
    return bool(((values < 0) | (values >= end)).any())
