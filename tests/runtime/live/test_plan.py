"""The words that processes show each other, read while they are written."""

import threading

import numba
import numpy as np

from pskit.apps import make_app
from pskit.core.layout import Layout
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.plan import AT_GATE, LINE, START, Plan, Shared
from pskit.runtime.live.status import nothing_moves, progress
from tests.runtime.live.runs import config


@numba.njit(nogil=True)
def toggle(words, control):
    """Write every other one of ``words`` until somebody says stop."""
    while control[0] == 0:
        for i in range(0, len(words), 2):
            words[i] = 1 - words[i]


def test_what_others_write_meanwhile_disturbs_nobody():
    cfg = config(cluster={"clients": 40})
    layout = Layout(make_app(cfg.app.name).tables(cfg), cfg.ps.shards)
    plan = Plan(cfg, layout)
    with Arena.create(plan.nbytes, plan.committed) as arena:
        shared = Shared(arena, plan)
        words = shared.everything[LINE:]  # of all processes, workers and shards
        words = words[: plan.rings_at // 8 - LINE]
        toggle(words[:0], np.ones(1, np.int64))  # compiled
        writer = threading.Thread(target=toggle, args=(words, shared.control))
        writer.start()
        try:
            for _ in range(3000):
                (waiting,) = shared.of_all(AT_GATE).nonzero()
                assert ((waiting >= 0) & (waiting < plan.processes)).all()
                low, facts = progress(shared)
                assert 0 <= low <= facts["clock_max"] <= 1
                nothing_moves(shared)
        finally:
            shared.control[START] = 1
            writer.join()
        assert not np.shares_memory(shared.of_all(AT_GATE), shared.processes)
        shared.close()
