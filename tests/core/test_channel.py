import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pskit.core.channel import Ack, Receiver, Segment, Sender, SetTimer
from pskit.core.messages import Unsubscribe


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(["send", "arrive", "lose", "repeat", "time out"]), st.integers(0, 99)))
)
def test_messages_arrive_once_and_in_order(steps):
    sender, receiver = Sender(), Receiver()
    wire: list[Segment | Ack] = []
    timers: list[int] = []
    sent, got = [], []

    def emit(effects):
        for effect in effects:
            (timers if isinstance(effect, SetTimer) else wire).append(effect)

    def arrive(packet):
        if isinstance(packet, Ack):
            emit(sender.on_ack(packet))
        else:
            ready, ack = receiver.on_segment(packet)
            got.extend(ready)
            wire.append(ack)

    for step, pick in steps:
        if step == "send":
            sent.append(f"message {len(sent)}")
            emit(sender.send(sent[-1]))
        elif step == "time out":
            due, timers[:] = timers[:], []
            for timer in due:
                emit(sender.on_timer(timer.epoch))
        elif wire:
            i = pick % len(wire)
            if step == "arrive":
                arrive(wire.pop(i))
            elif step == "lose":
                del wire[i]
            else:
                wire.append(wire[i])
        assert got == sent[: len(got)]
        assert bool(sender.unacked) <= bool(timers), "a timer runs while anything is unacknowledged"
    rounds = 0
    while sender.unacked or wire:
        rounds += 1
        assert rounds < 1000
        if wire:
            arrive(wire.pop(0))
        else:
            due, timers[:] = timers[:], []
            for timer in due:
                emit(sender.on_timer(timer.epoch))
    assert got == sent
    assert not receiver.early


def test_a_perfect_link_carries_every_message_once():
    sender, receiver = Sender(), Receiver()
    for i in range(3):
        segment, *timer = sender.send(i)
        assert segment == Segment(i, i)
        assert timer == ([SetTimer(1, 0)] if i == 0 else [])
        ready, ack = receiver.on_segment(segment)
        assert (ready, ack) == ([i], Ack(i + 1))
    assert sender.on_ack(Ack(3)) == []
    assert not sender.unacked
    assert sender.on_timer(1) == []  # a timer that still runs means nothing


def test_progress_sets_the_timer_anew_and_no_progress_does_not():
    sender = Sender()
    for i in range(3):
        sender.send(i)
    (timer,) = sender.on_ack(Ack(1))
    assert sender.on_ack(Ack(1)) == []
    assert sender.on_timer(1) == [], "replaced"
    segment, again = sender.on_timer(timer.epoch)
    assert segment == Segment(1, 1), "the oldest one only"
    assert again.epoch != timer.epoch


def test_gaps_wait_in_the_reorder_buffer():
    receiver = Receiver()
    assert receiver.on_segment(Segment(2, "c")) == ([], Ack(0))
    assert receiver.on_segment(Segment(1, "b")) == ([], Ack(0))
    assert receiver.on_segment(Segment(0, "a")) == (["a", "b", "c"], Ack(3))
    assert receiver.on_segment(Segment(1, "b")) == ([], Ack(3)), "repeated: acknowledged again, not handed on"
    assert not receiver.early


def test_a_silent_link_is_tried_less_and_less_often() -> None:
    sender = Sender()
    effects = sender.send(Unsubscribe(np.zeros(1, np.int32)))
    lengths = []
    for _ in range(15):
        (timer,) = [e for e in effects if isinstance(e, SetTimer)]
        lengths.append(timer.doublings)
        effects = sender.on_timer(timer.epoch)
        assert [e.seq for e in effects if isinstance(e, Segment)] == [0]
    assert lengths == [*range(10), *[10] * 5]


def test_progress_sets_the_timer_to_its_first_length() -> None:
    sender = Sender()
    (timer,) = [
        e
        for _ in range(2)
        for e in sender.send(Unsubscribe(np.zeros(1, np.int32)))
        if isinstance(e, SetTimer)
    ]
    (timer,) = [e for e in sender.on_timer(timer.epoch) if isinstance(e, SetTimer)]
    assert timer.doublings == 1
    (timer,) = [e for e in sender.on_ack(Ack(1)) if isinstance(e, SetTimer)]
    assert timer.doublings == 0
