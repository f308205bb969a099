"""What was counted exactly during the run, against the raw lines."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.auditing import telling
from pskit.auditing.case import Case
from pskit.auditing.findings import Check, Finding, breaks
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
    Check("totals of messages", messages),
    Check("lines kept", kept),
    Check("waiting times add up", waiting),
)
