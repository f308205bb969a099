"""What was counted exactly during the run, against the raw lines."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.auditing import telling
from pskit.auditing.case import Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.groups import SortedGroups
from pskit.trace.schema import MESSAGE_KINDS

Array = npt.NDArray[Any]


def _disagree(raw: Array, counted: Array, whole: bool) -> Array:
    """A whole trace has as many lines as were counted, a sample at most as many."""
    disagree: Array = np.not_equal(raw, counted) if whole else np.greater(raw, counted)
    return disagree


def histogram(case: Case) -> Finding | str:
    """The histogram of ages counts the reads of the trace, under a sampled trace at least these."""
    r, h = case.reads, case.columns["histogram"]
    width = int(max(r["age"].max(initial=0), h["age"].max(initial=0))) + 1
    keys = np.concatenate([column["clock"].astype(np.int64) * width + column["age"] for column in (r, h)])
    cells, cell = np.unique(keys, return_inverse=True)
    n = len(r["age"])
    raw = np.bincount(cell[:n], minlength=len(cells))
    counted = np.zeros(len(cells), np.int64)
    np.add.at(counted, cell[n:], h["count"])

    def tell(i: int) -> str:
        clock, age = divmod(int(cells[i]), width)
        return f"{raw[i]:,} reads at clock {clock} have age {age}, the histogram counts {counted[i]:,}"

    return breaks(_disagree(raw, counted, case.is_whole("reads")), tell)


def reads(case: Case) -> Finding | str:
    """The rows and hits counted by clock are those of the histogram and of the reads in the trace."""
    r, h, totals = case.reads, case.columns["histogram"], case.columns["read_totals"]
    width = int(max(c["clock"].max(initial=0) for c in (r, h, totals))) + 1
    sums = np.zeros((3, width), np.int64)
    np.add.at(sums[0], h["clock"], h["count"])
    np.add.at(sums[1], totals["clock"], totals["rows"])
    np.add.at(sums[2], totals["clock"], totals["hits"])
    ages, rows, hits = sums
    raw = np.bincount(r["clock"], minlength=width)
    raw_hits = np.bincount(r["clock"][r["hit"]], minlength=width)
    whole = case.is_whole("reads")
    wrong = (ages != rows) | _disagree(raw, rows, whole) | _disagree(raw_hits, hits, whole)
    return breaks(
        wrong,
        lambda clock: (
            f"at clock {clock} {rows[clock]:,} rows were read, {hits[clock]:,} from the cache; the histogram "
            f"counts {ages[clock]:,}, and the trace has {raw[clock]:,}, {raw_hits[clock]:,} from the cache"
        ),
    )


def gets(case: Case) -> Finding | str:
    """GETs and waiting by clock are those that the reads came from, and maybe of some GETs without rows."""
    r, totals = case.reads, case.columns["read_totals"]
    width = int(max(r["clock"].max(initial=0), totals["clock"].max(initial=0))) + 1
    first = case.first_of_get
    raw, counted = np.zeros((2, width, 2), np.int64)
    np.add.at(raw, r["clock"][first], np.stack([np.ones(first.sum(), np.int64), r["waited"][first]], axis=1))
    np.add.at(counted, totals["clock"], np.stack([totals["gets"], totals["waited"]], axis=1))
    whole = case.is_whole("reads")
    # Where the schedule hash shows that the GETs are told apart as they were, there are no others.
    exact = whole and case.is_whole("messages") and case.schedule_hash == case.manifest["schedule_hash"]
    return breaks(
        np.logical_or.reduce(_disagree(raw, counted, exact), axis=1),
        lambda clock: (
            f"at clock {clock} {counted[clock, 0]:,} GETs that waited {telling.at(int(counted[clock, 1]))} "
            f"were counted, the trace has {raw[clock, 0]:,} that waited {telling.at(int(raw[clock, 1]))}"
        ),
    )


def hits(case: Case) -> Finding | str:
    """A GET that waited missed a row, or was at a gate; a row that was missed came while its GET waited."""
    r, first = case.reads, case.first_of_get
    get = np.cumsum(first) - 1
    missed = np.bincount(get[~r["hit"]], minlength=int(first.sum())) > 0
    wrong = (r["waited"] > 0) & ~missed[get] & (not case.gated) if len(get) else np.zeros(0, np.bool_)
    if case.is_whole("messages") and not case.live:  # a live client takes in what came earlier
        places = case.of_kind("reply", "push")
        came = SortedGroups(case.pair(places), case.messages["t_deliver"][places], case.clients * case.shards)
        pair, since = case.read_pair, r["t"] - r["waited"]
        wrong |= ~r["hit"] & (came.count(pair, r["t"], inclusive=True) == came.count(pair, since))

    def tell(i: int) -> str:
        what = "a hit, as all rows of its GET" if r["hit"][i] else "a miss that no reply or push ended"
        return telling.lines(
            f"{telling.read(case, i)}, after waiting {telling.at(int(r['waited'][i]))}: {what}",
            telling.led_there(case, i),
        )

    return breaks(wrong, tell, r["t"])


def messages(case: Case) -> Finding | str:
    """The numbers, bytes and rows counted by kind are those of the messages in the trace."""
    m, totals = case.messages, case.columns["message_totals"]
    raw, counted = np.zeros((2, len(MESSAGE_KINDS), 3), np.int64)
    np.add.at(raw, m["kind"], np.stack([np.ones(len(m["kind"]), np.int64), m["bytes"], m["rows"]], axis=1))
    np.add.at(
        counted, totals["kind"], np.stack([totals[name] for name in ("count", "bytes", "rows")], axis=1)
    )

    def tell(i: int) -> str:
        return (
            f"{MESSAGE_KINDS[i]}: number, bytes and rows are {raw[i].tolist()} in the trace, "
            f"{counted[i].tolist()} were counted"
        )

    return breaks(np.logical_or.reduce(_disagree(raw, counted, case.is_whole("messages")), axis=1), tell)


def messages_by_clock(case: Case) -> Finding | str:
    """A message counts for the clocks that the workers had finished on average when it was sent."""
    m, totals = case.messages, case.columns["message_totals"]
    ends = np.sort(case.clocks["t_end"])[case.workers - 1 :: case.workers]  # when the mean reached 1, 2, ...
    late = totals["clock"] > len(ends)
    names = ("count", "bytes", "rows")
    width = len(ends) + 1
    if late.any() or not case.is_whole("messages"):
        return breaks(
            late,
            lambda i: (
                f"messages were counted for clock {totals['clock'][i]}, the workers finished {len(ends)}"
            ),
        )
    counted = np.zeros((width, len(MESSAGE_KINDS), 3), np.int64)
    np.add.at(counted, (totals["clock"], totals["kind"]), np.stack([totals[name] for name in names], axis=1))
    # The first of them by number are those of clock 0, then come those of clock 1. Sends of the very moment
    # at which a clock ends may be on either side.
    order = np.argsort(m["id"], kind="stable")
    upto = np.cumsum(counted[:, :, 0].sum(axis=1))
    sent = m["t_send"][order]
    wrong = np.zeros(width, np.bool_)
    wrong[:-1] = (upto[:-1] < np.searchsorted(sent, ends)) | (
        upto[:-1] > np.searchsorted(sent, ends, side="right")
    )
    clock = np.searchsorted(upto, np.arange(len(sent)), side="right")
    inside = clock < width
    raw = np.zeros_like(counted)
    amounts = np.stack([np.ones(len(sent), np.int64), m["bytes"][order], m["rows"][order]], axis=1)
    np.add.at(raw, (clock[inside], m["kind"][order][inside]), amounts[inside])
    wrong |= (raw != counted).any(axis=(1, 2))

    def tell(i: int) -> str:
        begin, end = np.concatenate([[0], ends])[i], ends[i] if i < len(ends) else case.emulated
        return (
            f"{counted[i, :, 0].sum():,} messages were counted for clock {i}, with "
            f"{counted[i, :, 1].sum():,} bytes and {counted[i, :, 2].sum():,} rows; not what was sent "
            f"from {telling.at(int(begin))} to {telling.at(int(end))}"
        )

    return breaks(wrong, tell)


def kept(case: Case) -> Finding | str:
    """The trace has as many reads and messages as its manifest says, of as many as were counted."""
    sampling = case.manifest["trace"]["sampling"]
    counted = {
        "reads": (len(case.reads["t"]), case.total_reads),
        "messages": (len(case.messages["id"]), int(case.columns["message_totals"]["count"].sum())),
    }
    names = list(counted)
    said = [(sampling[name]["kept"], sampling[name]["total"]) for name in names]
    wrong = np.array([said[i] != counted[name] for i, name in enumerate(names)], np.bool_)
    return breaks(
        wrong,
        lambda i: (
            f"the manifest says that {said[i][0]:,} of {said[i][1]:,} {names[i]} were recorded, "
            f"the trace has {counted[names[i]][0]:,} of {counted[names[i]][1]:,}"
        ),
    )


def waiting(case: Case) -> Finding | str:
    """The time that GETs waited is the waiting time of the workers' clocks."""
    c, totals = case.clocks, case.columns["read_totals"]
    width = int(max(c["clock"].max(initial=0), totals["clock"].max(initial=0))) + 1
    of_clocks, of_gets = np.zeros((2, width), np.int64)
    np.add.at(of_clocks, c["clock"], c["t_wait"])
    np.add.at(of_gets, totals["clock"], totals["waited"])
    # A worker's GETs after its last clock() belong to no finished clock.
    complete = np.arange(width) < case.windows.finished.min()
    wrong = np.where(complete, of_gets != of_clocks, of_gets < of_clocks)
    return breaks(
        wrong,
        lambda clock: (
            f"GETs of clock {clock} waited {telling.at(int(of_gets[clock]))}, "
            f"the workers in that clock {telling.at(int(of_clocks[clock]))}"
        ),
    )


CHECKS = (
    Check("histogram of ages", histogram),
    Check("totals of reads", reads),
    Check("totals of GETs", gets),
    Check("hits and misses", hits),
    Check("totals of messages", messages),
    Check("totals of messages by clock", messages_by_clock),
    Check("lines kept", kept),
    Check("waiting times add up", waiting),
)
