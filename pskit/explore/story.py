"""A way through a system, told step by step, and kept in a file."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pskit.core.messages import Applied, Effect, Left, Read
from pskit.errors import InputError
from pskit.explore.gated import space_of
from pskit.explore.outcomes import Done, Failure
from pskit.explore.script import Move
from pskit.explore.search import DEAD, is_dead
from pskit.explore.space import Event, Space, State
from pskit.explore.system import System
from pskit.explore.wire import (
    Frozen,
    FrozenIncrement,
    FrozenOplog,
    FrozenReply,
    FrozenRequest,
    FrozenUnsubscribe,
)

FORMAT = "pskit explorer trace 1"


class Step(NamedTuple):
    """One event, what exactly it is, and what comes of it."""

    event: str
    what: str
    then: list[str]


class Story(NamedTuple):
    """Steps from the start of a system, and the invariant that the last one breaks, if any."""

    system: System
    violation: str | None
    steps: list[Step]

    @property
    def path(self) -> list[str]:
        """Names of the events."""
        return [step.event for step in self.steps]


def tell(system: System, path: Sequence[str], violation: str | None = None) -> Story:
    """Go the way of ``path`` (see `pskit.explore.search.Verdict`) with real machines.

    Parameters
    ----------
    system : System
    path : sequence of str
    violation : str, optional
        What a search found there. Only that no way leads to the end must be known to be looked for.

    Raises
    ------
    InputError
        When an event of the path cannot happen where it should.
    """
    space = space_of(system)
    state, steps = space.start, list[Step]()
    for name in path:
        if wrong := space.wrong(state):
            raise InputError(f"step {len(steps)} ends the trace ({wrong}), but it goes on with {name!r}")
        events = {event.name: event for event in space.events(state)}
        if name not in events:
            raise InputError(
                f"step {len(steps) + 1} of the trace, {name!r}, cannot happen there, only "
                f"{', '.join(map(repr, events)) or 'nothing'}: the trace is of another version of the core"
            )
        steps.append(_step(space, state, events[name]))
        outcome = events[name].outcome
        if isinstance(outcome, Failure):
            if len(steps) < len(path):
                raise InputError(f"step {len(steps)} ends the trace ({outcome.what}), but it goes on")
            return Story(system, outcome.what, steps)
        state = outcome
    found = space.wrong(state)
    if found is None and violation == DEAD and is_dead(space, state):
        found = DEAD
    return Story(system, found, steps)


def save(story: Story, file: Path) -> None:
    """Write a story as JSON."""
    plain = {
        "format": FORMAT,
        "system": story.system.to_dict(),
        "violation": story.violation,
        "steps": [step._asdict() for step in story.steps],
    }
    file.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")


def replay(file: Path) -> Story:
    """Read a story's system and events, and go that way again.

    Raises
    ------
    InputError
        When the file is none, or its events cannot happen any more.
    """
    try:
        plain: Any = json.loads(file.read_text(encoding="utf-8"))
        known = plain["format"] == FORMAT
        system, path = System.from_dict(plain["system"]), [step["event"] for step in plain["steps"]]
        violation = plain["violation"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} is no explorer trace: {error}") from error
    if not known:
        raise InputError(f"{file} is no explorer trace of this version: format {plain['format']!r}")
    return tell(system, path, violation)


# -- in words ------------------------------------------------------------------------------------------


def _step(space: Space, state: State, event: Event) -> Step:
    messages = space.machines.tables.messages
    what = "; ".join(_message(messages[number][1]) for number in event.messages)
    if event.name.endswith("goes on"):
        what = _move(_next_move(space, state, int(event.name.split()[1])))
    end = "client" if event.name.startswith("client") and " to shard " in event.name else "shard"
    then: list[str] = []
    for call in event.calls:
        then += [line for effect in call.effects for line in _effect(effect, space.system.workers)]
        if isinstance(call, Done):
            then += [f"to {end} {to}: {_message(messages[m][1])}" for to, m in call.sends]
    return Step(event.name, what, then)


def _next_move(space: Space, state: State, worker: int) -> Move:
    client = space.machines.client(space.sides.sides[state[worker // space.system.threads]].client)
    return space.system.moves[worker][client.workers[worker % space.system.threads].done]


def _move(move: Move) -> str:
    calls = [*move.incs, move.call]
    names = {"get": "GET", "inc": "INC", "undo": "take back INC", "clock": "clock()", "leave": "leave"}
    return ", then ".join(f"{names[c.name]}{f' of rows {list(c.rows)}' if c.rows else ''}" for c in calls)


def _message(message: Frozen) -> str:
    if isinstance(message, FrozenOplog):
        rows = [row for part in message.parts for row in part[0]]
        leaving = "leaving " if message.leaving else ""
        leaving = "INC, " if isinstance(message, FrozenIncrement) else leaving
        return f"{leaving}oplog of worker {message.worker}, clock {message.clock}, rows {rows}"
    if isinstance(message, FrozenRequest):
        label = message.label
        return f"request of worker {label.worker} for rows {list(label.rows)}, need {label.need}"
    if isinstance(message, FrozenUnsubscribe):
        return f"unsubscribe rows {list(message.rows)}"
    said = f"clock {message.clock}, version {message.version}, own units in it {list(message.applied)}"
    if isinstance(message, FrozenReply):
        return f"reply with rows {list(message.rows)}, {said}"
    entries = [row for rows, _, _, _ in message.entries for row in rows]
    return f"push of rows {list(message.rows)}{f', entries of rows {entries}' if entries else ''}, {said}"


def _effect(effect: Effect, workers: int) -> Iterator[str]:
    if isinstance(effect, Read):
        views = [view for table in effect.views for view in table]
        for row, view, version, own, age in zip(
            effect.rows, views, effect.version, effect.own_from, effect.age, strict=True
        ):
            yield (
                f"worker {effect.worker} reads row {row} at clock {effect.clock}: {_units(view[:workers])}"
                f" (version {version}, own units from {own} added, age {age})"
            )
    elif isinstance(effect, Applied):
        yield f"shard {effect.shard} applies worker {effect.oplog.worker}'s unit {effect.oplog.seq}"
    elif isinstance(effect, Left):
        yield f"worker {effect.worker} is no member of shard {effect.shard} any more, clock {effect.clock}"


def _units(view: Any) -> str:
    """Which update units a view holds, see `pskit.explore.script`."""
    if (view < 0).any():
        return f"values {view.tolist()}"
    held = []
    for worker, value in enumerate(view.tolist()):
        times = [int(digit) for digit in reversed(np.base_repr(value, 8))]
        clocks = [f"{k}" if n == 1 else f"{k} x{n}" for k, n in enumerate(times) if n]
        held.append(f"worker {worker}'s {', '.join(clocks) or 'none'}")
    return "units " + "; ".join(held)
