"""Workers leave the shards, or are lost to them when their client dies."""

import numpy as np

from pskit.auditing import telling
from pskit.auditing.case import Case
from pskit.auditing.findings import Check, Finding, breaks


def _said(case: Case, i: int) -> str:
    m = case.members
    how = "left" if m["event"][i] == "left" else "was lost to"
    return (
        f"worker {m['worker'][i]} {how} shard {m['shard'][i]} at {telling.at(int(m['t'][i]))}, after "
        f"{m['apply_index'][i]} applied updates, clock of the shard {m['clock'][i]}"
    )


def once(case: Case) -> Finding | str:
    """Every worker leaves every shard once."""
    m = case.members
    pair = m["shard"].astype(np.int64) * case.workers + m["worker"]
    times = np.bincount(pair, minlength=case.shards * case.workers)

    def tell(i: int) -> str:
        shard, worker = divmod(i, case.workers)
        return f"worker {worker} left shard {shard} {times[i]} times"

    return breaks(times != 1 if case.finished else times > 1, tell)


def after_last_clock(case: Case) -> Finding | str:
    """A shard takes a leaver out when it has taken its last update in, and then at once; who died, later."""
    m, u, history = case.members, case.updates, case.history
    if not len(u["seq"]):
        return breaks(
            np.ones(len(m["t"]), np.bool_), lambda i: f"{_said(case, i)}; no shard applied anything"
        )
    shard, worker = m["shard"], m["worker"]
    has_one = history.units[shard, worker] > 0
    last = history.by_owner.start[shard.astype(np.int64) * case.workers + worker + 1] - 1
    line = history.by_owner.order[last]
    if case.policy == "bsp":  # the last update has only arrived by then: it may be held back still
        wrong = ~has_one | (m["t"] < u["t_sent"][line])
    else:
        wrong = ~has_one | (m["t"] != u["t_applied"][line]) | (m["apply_index"] != u["apply_index"][line] + 1)
    lost = m["event"] == "lost"
    before_last = m["t"] < u["t_sent"][line]
    if case.policy != "bsp":
        before_last |= (m["t"] < u["t_applied"][line]) | (m["apply_index"] <= u["apply_index"][line])
    wrong = np.where(lost, has_one & before_last, wrong)
    index = m["apply_index"]
    wrong |= (history.applied_at(shard, index - 1) > m["t"]) | (history.applied_at(shard, index) < m["t"])

    def tell(i: int) -> str:
        said = telling.update(case, int(line[i])) if has_one[i] else "no update of it was applied there"
        return f"{_said(case, i)}; its last update: {said}"

    return breaks(wrong, tell, m["t"])


def clock_of_shard(case: Case) -> Finding | str:
    """When a worker has left, the shard's clock is the lowest of the others; it stays when nobody is left."""
    m, history = case.members, case.history
    if not len(m["t"]):
        return "nobody left"
    index = np.minimum(m["apply_index"], history.count[m["shard"]])
    derived = history.row_clock(m["shard"], index)
    # With nobody left the shard's clock is what the last one's last update raised it to.
    expected = np.minimum(derived, history.row_clock_with_leaver(m["shard"], index))
    nobody_left = derived == history.needed.shape[1] - 1
    expected = np.where(nobody_left, expected, derived)
    # Under BSP oplogs that have arrived count, and may be held back still.
    wrong = m["clock"] < expected if case.policy == "bsp" else m["clock"] != expected
    if case.dead.any():  # others that died may be taken out after this one, and before the next update
        held = history.row_clock_with_leaver(m["shard"], index)
        wrong &= (m["clock"] < held) | (m["clock"] > expected)
    return breaks(
        wrong, lambda i: f"{_said(case, i)}; the updates applied by then make it {expected[i]}", m["t"]
    )


CHECKS = (
    Check("leaves once", once),
    Check("leaves after its last clock", after_last_clock),
    Check("clock of the shard on leaving", clock_of_shard),
)
