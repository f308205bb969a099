from pskit.explore.liveness import Edges


def graph(*transitions, ends):
    edges = Edges()
    for state, following in enumerate(transitions):
        for other in following:
            edges.add(other)
        edges.close(state in ends)
    return edges


def test_every_state_leads_to_an_end():
    assert graph([1, 2], [3], [0], [], ends={3}).first_dead() is None


def test_a_cycle_without_a_way_out():
    assert graph([1, 2], [3], [4], [], [2], ends={3}).first_dead() == 2


def test_a_dead_end():
    assert graph([1, 2], [], [], ends={2}).first_dead() == 1


def test_no_end_at_all():
    assert graph([1], [0], ends=set()).first_dead() == 0
