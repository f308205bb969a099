"""The schedule hash, made again from the raw lines."""

import numpy as np

from pskit.auditing.case import SAMPLED, Case
from pskit.auditing.findings import Check, Finding, breaks


def schedule_hash(case: Case) -> Finding | str:
    """The schedule hash is that of the messages, clocks, updates and reads in the trace."""
    if case.live:
        return "a live run's goes over what each process took down"
    if not (case.is_whole("messages") and case.is_whole("reads")):
        return SAMPLED
    gets = case.columns["read_totals"]["gets"]
    found = case.schedule_hash
    said = case.manifest["schedule_hash"]
    if said != found and int(gets.sum()) != int(case.first_of_get.sum()):
        return "some GETs had no rows, or returned at once, and cannot be told apart"
    return breaks(
        np.array([said != found]),
        lambda _: f"the manifest says {said}, the lines of the trace give {found}",
    )


CHECKS = (Check("schedule hash", schedule_hash),)
