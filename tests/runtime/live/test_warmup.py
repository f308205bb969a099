"""What happens before time zero."""

import pytest

from pskit.runtime.live.warmup import Primed, rehearse


async def nothing():
    pass


class Command:
    def __await__(self):
        return (yield self)


async def echo(seen):
    seen.append("begun")
    seen.append(await Command())


async def fails():
    raise ZeroDivisionError


@pytest.mark.parametrize("ahead", [True, False])
def test_a_primed_coroutine_has_begun_and_goes_on_the_same(ahead):
    seen = []
    work = Primed(echo(seen))
    if ahead:
        work.prime()
    assert seen == (["begun"] if ahead else [])
    assert isinstance(work.send(None), Command)
    with pytest.raises(StopIteration):
        work.send("answer")
    assert seen == ["begun", "answer"]
    work.close()


@pytest.mark.parametrize(("coroutine", "error"), [(nothing, StopIteration), (fails, ZeroDivisionError)])
def test_an_end_ahead_of_time_shows_when_it_is_its_turn(coroutine, error):
    work = Primed(coroutine())
    work.prime()
    with pytest.raises(error):
        work.send(None)
    work.close()


def test_a_coroutine_that_is_given_up_is_closed():
    work = Primed(echo([]))
    work.prime()
    work.close()
    with pytest.raises(RuntimeError, match="already awaited"):
        work._work.send(None)


@pytest.mark.parametrize(("policy", "push"), [("bsp", None), ("essp", "deltas"), ("asp", None)])
def test_a_rehearsal_needs_no_config(policy, push):
    rehearse(policy, push, ["f4", "i8"], cache_rows=3)
