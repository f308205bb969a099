"""Delta pushes against a plain diff, and together with the cache that takes them."""

import numpy as np
import pytest

from pskit.core.delta import bits
from pskit.core.messages import Push, Reply
from tests.core.desk import Desk, sent
from tests.property.cluster import Cluster


def entries_of(push):
    """{row: {column: value}} of a push."""
    out = {}
    for e in push.entries:
        for i, row in enumerate(e.rows.tolist()):
            cut = slice(e.start[i], e.start[i + 1])
            out[row] = dict(zip(e.cols[cut].tolist(), e.values[cut].tolist(), strict=True))
    return out


def test_only_changed_entries_go_and_with_their_new_values():
    cluster = Cluster("essp", deltas=True, clients=2, n_rows=3)
    cluster.get(0, [0, 1])
    cluster.deliver(("up", 0, 0)), cluster.deliver(("down", 0, 0))
    cluster.clock(0), cluster.clock(1)
    cluster.run_links()
    cluster.inc(1, [0, 2])
    cluster.clock(1), cluster.clock(0)
    cluster.run_up()
    (push,) = cluster.links["down", 0, 0]
    assert len(push.rows) == 0
    assert entries_of(push) == {0: {1: 8}}  # worker 1's column, at its clock 1


def test_a_row_replied_to_since_the_last_push_goes_in_full():
    """Away and back is no change since the last push, but the replied copy has it."""
    desk = Desk("essp", deltas=True)
    desk.request(0, [0], need=0)
    desk.oplog(0, {0: 5})
    ((_, reply),) = sent(desk.request(1, [0], need=0), Reply)
    assert desk.values(reply) == {0: 5}
    pushes = dict(sent(desk.oplog(1, {0: -5}), Push))
    assert (desk.values(pushes[0]), entries_of(pushes[0])) == ({0: 0}, {}), "replied to before any push"
    assert (desk.values(pushes[1]), entries_of(pushes[1])) == ({0: 0}, {})
    desk.oplog(0, {0: 1})
    pushes = dict(sent(desk.oplog(1), Push))
    assert [entries_of(pushes[c]) for c in (0, 1)] == [{0: {0: 1, 1: 1}}] * 2, "from then on in entries"


def test_a_row_replied_to_in_the_same_rise_does_not_count_as_replied_to():
    desk = Desk("essp", deltas=True)
    desk.request(0, [0], need=1)
    desk.oplog(0, {0: 5})
    effects = desk.oplog(1)
    assert [type(m) for _, m in sent(effects, (Reply, Push))] == [Reply, Push]
    assert entries_of(sent(effects, Push)[0][1]) == {}
    desk.oplog(0, {0: 1})
    ((_, push),) = sent(desk.oplog(1), Push)
    assert entries_of(push) == {0: {0: 6, 1: 6}}


def test_several_subscribers_get_their_own_rows():
    desk = Desk("essp", deltas=True, clients=3)
    desk.request(0, [0, 1], need=0)
    desk.request(1, [1, 2], need=0)
    for worker in range(3):
        desk.oplog(worker)
    desk.oplog(0, {0: 1, 1: 1, 2: 1, 3: 1}), desk.oplog(1)
    pushes = dict(sent(desk.oplog(2), Push))
    assert {c: entries_of(p) for c, p in pushes.items()} == {
        0: {0: {0: 1, 1: 1}, 1: {0: 2, 1: 2}},
        1: {1: {0: 2, 1: 2}, 2: {0: 3, 1: 3}},
    }


@pytest.mark.parametrize(("a", "b"), [(0.0, -0.0), (np.nan, -np.nan)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_bits_tell_apart_what_compares_equal(a, b, dtype):
    values = np.array([[a, b, a]], dtype)
    plain = bits(values)
    assert plain[0, 0] == plain[0, 2] != plain[0, 1]
    assert plain.dtype.str[1:] == f"u{dtype[1]}"


def test_rows_and_deltas_give_the_same_views():
    """The same calls and deliveries, once with each kind of push."""
    views = []
    for deltas in (False, True):
        cluster = Cluster("essp", slack=1, deltas=deltas, clients=2, threads=2, shards=2, n_rows=2, x_rows=3)
        seen = []
        for step in range(40):
            for worker in cluster.idle:
                cluster.inc(worker, [(worker + step) % 5], salt=step)
                cluster.clock(worker)
                cluster.get(worker, [step % 3, 3, 4])
            for link in cluster.busy[:: 1 + step % 2]:
                cluster.deliver(link)
            seen += [v.tobytes() for w in sorted(cluster.done) for v in cluster.done[w].views]
            if any(cluster.clock_of(w) > 18 for w in range(4)):
                break
        views.append(seen)
        cluster.run_out()
    assert views[0] == views[1]
