"""The times of the workers' clocks."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import Case
from pskit.auditing.findings import Check, Finding, breaks


def times(case: Case) -> Finding | str:
    """A clock begins where the one before ended, and computing and waiting fit into it."""
    c = case.clocks
    place = case.windows.find(c["worker"], c["clock"])
    before = np.where(c["clock"] > 0, case.windows.end[place - 1], 0)
    wrong = (c["t_begin"] != before) | (c["t_end"] < c["t_begin"])
    wrong |= (c["t_compute"] < 0) | (c["t_wait"] < 0)
    wrong |= c["t_compute"] + c["t_wait"] > c["t_end"] - c["t_begin"]

    def tell(i: int) -> str:
        begin, end, computed, waited = (
            telling.at(int(c[name][i])) for name in ("t_begin", "t_end", "t_compute", "t_wait")
        )
        return (
            f"clock {c['clock'][i]} of worker {c['worker'][i]}: from {begin} to {end}, computed {computed}, "
            f"waited {waited}; the clock before ended at {telling.at(int(before[i]))}"
        )

    return breaks(wrong, tell, c["t_end"])


CHECKS = (Check("times of a clock", times),)
