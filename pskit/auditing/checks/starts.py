"""Starts of computations under a policy with a gate, and the bound of values that the gate is there for.

The reference state x^_t is made again from the updates of all computations before t, in the order of their
starts and whenever they were made; see "VAP" on the protocol page.
"""

from typing import Any

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import UNDER_WAY, Array, Case
from pskit.auditing.findings import Check, Finding, breaks
from pskit.auditing.windows import OPEN_END
from pskit.trace.schema import Columns
from pskit.trace.starts import NEVER

NO_GATE = "the policy has no gate"
NO_CLAIM = "no bound of the gradients is known, or the variant is per_worker: nothing is claimed of the view"
CLOSE = 1e-9
HEADER = 32
TIED = 8
"""Computations over at the very moment of a start, up to which all sums of some of them are tried."""


def about(case: Case, i: int) -> str:
    """The start in line ``i``."""
    s = case.columns["starts"]
    return (
        f"start {s['t'][i]}, of worker {s['worker'][i]} at clock {s['clock'][i]}, "
        f"{telling.at(int(s['t_start'][i]))}: v {s['v'][i]:.6g}, unseen {s['unseen'][i]:.6g}, reserved by "
        f"others {s['others'][i]:.6g}, by itself {s['reservation'][i]:.6g}"
    )


def _reserves(case: Case) -> bool:
    return bool(case.manifest["gate"]["reserves"]) and _of(case, "vap_variant") == "aggregate"


def _of(case: Case, key: str) -> Any:
    return case.manifest["config"]["ps"].get(key)


def present(case: Case) -> Finding | str:
    """A run with a gate has tables of its starts, and says what the gate cost; another run has neither."""
    there = [name in case.columns for name in ("starts", "start_values")]
    there.append(isinstance(case.manifest.get("gate"), dict))
    wrong = np.array([thing != case.gated for thing in there])
    names = ("table starts", "table start_values", "entry 'gate' in the manifest")
    return breaks(wrong, lambda i: f"policy {case.policy!r}, and {'an' if there[i] else 'no'} {names[i]}")


def ids(case: Case) -> Finding | str:
    """Starts are numbered 1, 2, ... and name a worker; their numbers are finite and none is negative."""
    if not case.gated or "starts" not in case.columns:
        return NO_GATE
    s = case.columns["starts"]
    wrong = s["t"] != np.arange(1, len(s["t"]) + 1)
    wrong |= (s["worker"] < 0) | (s["worker"] >= case.workers) | (s["rows"] > case.layout.n_rows)
    for name in ("t_start", "clock", "seq", "rows", "stalled"):
        wrong |= s[name] < 0
    wrong |= (s["stalled"] > s["waited"]) | (s["t_over"] < NEVER)
    for name in ("v", "unseen", "others", "reservation"):
        wrong |= ~((s[name] >= 0) & np.isfinite(s[name]))
    return breaks(wrong, lambda i: f"line {i} of the starts does not fit this run: {about(case, i)}")


def value_ids(case: Case) -> Finding | str:
    """Values belong to the first starts, and name an entry of a table, each once."""
    if not case.gated or "start_values" not in case.columns:
        return NO_GATE
    e = case.columns["start_values"]
    rows = np.array([t.rows for t in case.layout.tables])
    cols = np.array([t.cols for t in case.layout.tables])
    table = np.minimum(e["table"], len(rows) - 1)
    wrong = (e["table"] >= len(rows)) | (e["row"] < 0) | (e["row"] >= rows[table])
    wrong |= (e["col"] < 0) | (e["col"] >= cols[table])
    wrong |= (e["t"] < 1) | (e["t"] > len(case.columns["starts"]["t"])) | ~np.isfinite(e["update"])
    key = np.stack([e[name].astype(np.int64) for name in ("t", "table", "row", "col")], axis=1)
    again = np.ones(len(key), np.bool_)
    again[np.unique(key, axis=0, return_index=True)[1]] = False
    return breaks(
        wrong | again,
        lambda i: (
            f"line {i} of the values does not fit this run: " + ", ".join(f"{k} {v[i]}" for k, v in e.items())
        ),
    )


def thresholds(case: Case) -> Finding | str:
    """The threshold of start t is v0 times its schedule; without a known bound nothing is reserved."""
    if not case.gated:
        return NO_GATE
    s = case.columns["starts"]
    falls = 1 / np.sqrt(s["t"]) if _of(case, "v_schedule") == "inverse-sqrt" else np.ones(len(s["t"]))
    expected = float(_of(case, "v0")) * falls
    wrong = np.abs(s["v"] - expected) > CLOSE * expected
    if not _reserves(case):
        wrong |= (s["reservation"] != 0) | (s["others"] != 0)
    return breaks(wrong, lambda i: f"{about(case, i)}; the config makes v {expected[i]:.6g}", s["t_start"])


def gets(case: Case) -> Finding | str:
    """Every GET that returned started a computation, and nothing else did."""
    if not case.gated:
        return NO_GATE
    s, r = case.columns["starts"], case.reads
    first = np.flatnonzero(case.first_of_get)
    size = np.diff(np.append(first, len(r["t"])))
    of_gets = np.stack(
        [*(r[name][first].astype(np.int64) for name in ("worker", "t", "clock", "own_upto", "waited")), size],
        axis=1,
    )
    of_gets[:, 3] -= 1
    of_starts = np.stack([s[n] for n in ("worker", "t_start", "clock", "seq", "waited", "rows")], axis=1)
    known = {tuple(line) for line in of_starts.tolist()}
    missing = np.array([tuple(line) not in known for line in of_gets.tolist()], np.bool_)
    made = {tuple(line) for line in of_gets.tolist()}
    whole = case.is_whole("reads")
    extra = np.array([whole and tuple(line) not in made for line in of_starts.tolist()], np.bool_)
    counted = int(case.columns["read_totals"]["gets"].sum())
    wrong = np.concatenate([missing, extra, [counted != len(s["t"])]])

    def tell(i: int) -> str:
        if i < len(missing):
            return f"{telling.read(case, int(first[i]))}; no computation was started with it"
        if i < len(missing) + len(extra):
            return f"{about(case, i - len(missing))}; no GET was recorded that returned then"
        return f"{counted:,} GETs returned, and {len(s['t']):,} computations were started"

    return breaks(wrong, tell)


def spans(case: Case) -> Finding | str:
    """Starts follow each other in time; a computation is over at its worker's next GET, clock() or end."""
    if not case.gated:
        return NO_GATE
    s = case.columns["starts"]
    never = s["t_over"] == NEVER
    wrong = (never & case.finished) | (~never & (s["t_over"] < s["t_start"]))
    if not case.live:  # there every process has a clock of its own, and t is the order
        wrong[1:] |= np.diff(s["t_start"]) < 0
    order = np.lexsort((s["t"], s["worker"]))
    a, b = order[:-1], order[1:]
    same = s["worker"][a] == s["worker"][b]
    wrong[b] |= same & (never[a] | (s["t_over"][a] > s["t_start"][b]) | (s["seq"][b] < s["seq"][a]))
    place = case.windows.find(s["worker"], s["clock"])  # always known, or "starts are GETs" tells
    end = np.where(place < 0, OPEN_END, case.windows.end[place])
    end[a] = np.where(same, np.minimum(end[a], s["t_start"][b] - s["waited"][b]), end[a])
    if not case.live:
        wrong |= ~never & (end != OPEN_END) & (s["t_over"] != end)

    def tell(i: int) -> str:
        then = "is not known" if end[i] == OPEN_END else f"was at {telling.at(int(end[i]))}"
        over = "never over" if never[i] else f"over at {telling.at(int(s['t_over'][i]))}"
        return f"{about(case, i)}; it was {over}, the worker's next GET, clock() or end {then}"

    return breaks(wrong, tell, s["t_start"])


def gate(case: Case) -> Finding | str:
    """What a worker had not seen and what others had reserved is no more than v; they are those in flight."""
    if not case.gated:
        return NO_GATE
    s = case.columns["starts"]
    wrong = s["unseen"] + s["others"] > s["v"] * (1 + CLOSE)
    may = _in_flight(s, case.workers)
    if not case.live:
        fits = [_fits(x, *one) for x, one in zip(s["others"].tolist(), may, strict=True)]
        wrong |= ~np.array(fits, np.bool_)
    return breaks(
        wrong,
        lambda i: (
            f"{about(case, i)}; those in flight had reserved {may[i][0]:.6g}"
            + (f", and of these, over at that very moment, {may[i][1]}" if may[i][1] else "")
        ),
        s["t_start"],
    )


def _in_flight(s: Columns, workers: int) -> list[tuple[float, list[float]]]:
    """What the computations of others in flight reserve at each start, and each that was over right then."""
    over, reserved = np.full(workers, -1, np.int64), np.zeros(workers)
    end = np.where(s["t_over"] == NEVER, np.iinfo(np.int64).max, s["t_over"])
    lines = zip(
        s["worker"].tolist(), s["t_start"].tolist(), end.tolist(), s["reservation"].tolist(), strict=True
    )
    found: list[tuple[float, list[float]]] = []
    for worker, now, until, own in lines:
        over[worker], reserved[worker] = -1, 0.0
        found.append((float(reserved[over > now].sum()), reserved[over == now].tolist()))
        over[worker], reserved[worker] = until, own
    return found


def _fits(others: float, sure: float, tied: list[float]) -> bool:
    """Whether ``others`` is ``sure`` with some of ``tied``; of more than `TIED`, whether it may be."""
    room = CLOSE * others
    if len(tied) > TIED:
        return sure - room <= others <= sure + sum(tied) + room
    sums = {sure}
    for one in tied:
        sums |= {x + one for x in sums}
    return any(abs(x - others) <= room for x in sums)


def reservations(case: Case) -> Finding | str:
    """No entry of an update is larger than its computation had reserved: the gradients' bound holds."""
    if not case.gated:
        return NO_GATE
    if not _reserves(case):
        return NO_CLAIM
    s, e = case.columns["starts"], case.columns["start_values"]
    largest = np.zeros(len(s["t"]))
    np.maximum.at(largest, e["t"] - 1, np.abs(e["update"]))
    wrong = largest > s["reservation"] * (1 + CLOSE)
    return breaks(
        wrong,
        lambda i: f"{about(case, i)}; the largest entry of its update is {largest[i]:.6g}",
        s["t_start"],
    )


def rounding(case: Case) -> Array:
    """What rounding may make of the distance of each start from its reference: (n,) float64."""
    s, e = case.columns["starts"], case.columns["start_values"]
    initial = [case.tables[f"initial:{t.name}"] for t in case.layout.tables]
    coarsest = max(np.finfo(d).eps if d.kind == "f" else 0.0 for d in case.layout.dtypes)
    scale = max(float(np.abs(table, dtype=np.float64).max(initial=0.0)) for table in initial)
    size = np.zeros(len(s["t"]) + 1)
    np.maximum.at(size, e["t"], np.abs(e["update"]))
    total = scale + np.cumsum(size)[1:]
    room: Array = 4 * (s["t"] + 1) * coarsest * total
    return room


def bound(case: Case) -> Finding | str:
    """The view of start t is within v_t of the reference state on all rows read [1410.8043, Thm 1]."""
    if not case.gated:
        return NO_GATE
    if not _reserves(case):
        return NO_CLAIM
    s, derived = case.columns["starts"], case.off_reference
    wrong = derived > s["v"] + rounding(case)
    return breaks(wrong, lambda i: f"{about(case, i)}; its view is off by {derived[i]:.9g}", s["t_start"])


def recorded_distances(case: Case) -> Finding | str:
    """Recorded distances and overshoots are those of the values; with nobody in flight it is the unseen."""
    if not case.gated:
        return NO_GATE
    s = case.columns["starts"]
    derived, room = case.off_reference, rounding(case)
    kept = ~np.isnan(derived)
    beyond = np.maximum(derived - s["v"], 0.0)
    wrong = np.isnan(s["distance"]) != ~kept
    for name, again in (("distance", derived), ("overshoot", beyond)):  # infinite ones are equal
        wrong |= kept & (s[name] != again) & ~(np.abs(s[name] - again) <= room)
    if _of(case, "vap_variant") == "aggregate" and not case.live:
        idle = _alone(s, case.workers)
        wrong |= kept & idle & (np.abs(s["unseen"] - derived) > room + CLOSE * s["unseen"])
    return breaks(
        wrong,
        lambda i: (
            f"{about(case, i)}, distance {s['distance'][i]:.9g}, overshoot {s['overshoot'][i]:.9g}; the "
            f"values make it {derived[i]:.9g}"
        ),
        s["t_start"],
    )


def _alone(s: Columns, workers: int) -> Array:
    """Starts at which surely nobody else was in a computation: (n,) bool."""
    flags = {"t": s["t"], "worker": s["worker"], "t_start": s["t_start"], "t_over": s["t_over"]}
    found = _in_flight(flags | {"reservation": np.ones(len(s["t"]))}, workers)
    return np.array([sure == 0 and not tied for sure, tied in found], np.bool_)


def sums(case: Case) -> Finding | str:
    """The updates of all computations add up to the sum of all INCs."""
    if not case.gated:
        return NO_GATE
    s, e = case.columns["starts"], case.columns["start_values"]
    if len(s["t"]) and np.isnan(s["distance"]).any():
        return "the values of the first starts only were kept"
    if not case.ended:
        return UNDER_WAY
    wrong, said = [], []
    for i, spec in enumerate(case.layout.tables):
        mine = e["table"] == i
        found = np.zeros((spec.rows, spec.cols))
        size = np.zeros_like(found)
        np.add.at(found, (e["row"][mine], e["col"][mine]), e["update"][mine])
        np.add.at(size, (e["row"][mine], e["col"][mine]), np.abs(e["update"][mine]))
        incs = case.tables[f"incs:{spec.name}"].astype(np.float64)
        eps = np.finfo(spec.dtype).eps if spec.dtype.startswith("f") else CLOSE
        off = np.abs(found - incs) > 4 * (len(s["t"]) + 1) * eps * size
        wrong.append(off.ravel())
        said.append((spec, found.ravel(), incs.ravel()))
    starts = np.cumsum([0, *(len(w) for w in wrong)])

    def tell(i: int) -> str:
        at = int(np.searchsorted(starts, i, side="right")) - 1
        spec, found, incs = said[at]
        k = i - int(starts[at])
        row, col = divmod(k, spec.cols)
        return (
            f"table {spec.name!r}, row {row}, column {col}: the updates of all computations add up to "
            f"{found[k]!r}, all INCs to {incs[k]!r}"
        )

    return breaks(np.concatenate(wrong), tell)


def traffic(case: Case) -> Finding | str:
    """What the gate would cost is counted for every start, every INC and every push that was taken in."""
    if not case.gated:
        return NO_GATE
    said, s = case.manifest["gate"], case.columns["starts"]
    kinds = {kind: (int(c["messages"]), int(c["bytes"])) for kind, c in said["by_kind"].items()}
    number, nbytes = (sum(c[i] for c in kinds.values()) for i in (0, 1))
    incs = int(np.count_nonzero(~case.tick))
    wrong = [
        what
        for what, bad in (
            (f"{number} messages of {nbytes} bytes by kind, {said['messages']} of {said['bytes']} in all",
             (number, nbytes) != (said["messages"], said["bytes"])),
            (f"{kinds['granted'][0]} grants for {len(s['t'])} starts", kinds["granted"][0] != len(s["t"])),
            (f"{kinds['over'][0]} ends of computations, where {(s['t_over'] != NEVER).sum()} are over",
             kinds["over"][0] != (s["t_over"] != NEVER).sum()),
            (f"{kinds['asked'][0]} questions for {len(s['t'])} starts",
             kinds["asked"][0] != len(s["t"]) if case.finished else kinds["asked"][0] < len(s["t"])),
            (f"{kinds['applied'][0]} INCs applied, of {incs}", kinds["applied"][0] != incs),
            (f"{kinds['announced'][0]} INCs announced, of {incs} that were applied",
             kinds["announced"][0] != incs if case.finished else kinds["announced"][0] < incs),
            ("messages without a header", any(b < HEADER * n for n, b in kinds.values())),
        )
        if bad
    ]  # fmt: skip
    return breaks(np.array([bool(wrong)]), lambda _: f"the manifest counts {'; '.join(wrong)}")


IDS = (Check("tables of starts", present), Check("ids of starts", ids), Check("ids of values", value_ids))
CHECKS = (
    Check("thresholds of starts", thresholds),
    Check("starts are GETs", gets),
    Check("spans of computations", spans),
    Check("gate of VAP", gate),
    Check("updates within reservations", reservations),
    Check("value bound", bound),
    Check("distances from the reference", recorded_distances),
    Check("updates of starts add up", sums),
    Check("traffic of the gate", traffic),
)
