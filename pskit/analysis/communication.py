"""Messages and bytes: exact totals, by kind and over time."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.errors import InputError
from pskit.trace.schema import MESSAGE_KINDS, Columns

_AMOUNTS = {"messages": "count", "bytes": "bytes", "rows": "rows"}  # name here: column


def totals(message_totals: Columns) -> dict[str, dict[str, int]]:
    """Sum up ``messages``, ``bytes`` and ``rows`` of each kind that occurred, and of ``all``."""
    out = {}
    for code in np.unique(message_totals["kind"]):
        out[MESSAGE_KINDS[code]] = _sums(message_totals, message_totals["kind"] == code)
    out["all"] = _sums(message_totals, np.ones(len(message_totals["kind"]), bool))
    return out


def _sums(message_totals: Columns, chosen: npt.NDArray[np.bool_]) -> dict[str, int]:
    return {name: int(message_totals[column][chosen].sum()) for name, column in _AMOUNTS.items()}


def by_clock(message_totals: Columns, kind: str | None = None) -> dict[str, npt.NDArray[Any]]:
    """Spread the totals over time.

    Parameters
    ----------
    message_totals : mapping
    kind : str, optional
        One of `MESSAGE_KINDS`; all of them by default.

    Returns
    -------
    dict of (n,) int64 arrays
        ``clock``, ``messages``, ``bytes``, ``rows`` for every clock from 0 to the last with a message of
        any kind. A message counts for the mean finished clock of the workers when it was recorded.

    Raises
    ------
    InputError
        On an unknown kind.
    """
    if kind is not None and kind not in MESSAGE_KINDS:
        raise InputError(f"no message kind {kind!r}; there are {MESSAGE_KINDS}")
    clocks = message_totals["clock"]
    n = int(clocks.max()) + 1 if len(clocks) else 0
    chosen = np.ones(len(clocks), bool)
    if kind is not None:
        chosen = message_totals["kind"] == MESSAGE_KINDS.index(kind)
    out = {"clock": np.arange(n)}
    for name, column in _AMOUNTS.items():
        out[name] = np.zeros(n, np.int64)
        np.add.at(out[name], clocks[chosen], message_totals[column][chosen])
    return out
