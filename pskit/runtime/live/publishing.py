"""What a published arena says of itself, so that a viewer that knows nothing can read it.

At its end: a text in JSON, then a line of words that says where, and is complete once the first of them is
`MAGIC`.
"""

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from pskit.core.layout import Layout
from pskit.errors import InputError
from pskit.runtime.live import names
from pskit.runtime.live.arena import Arena, aligned
from pskit.runtime.live.plan import Plan
from pskit.trace.manifest import describe_layout

if TYPE_CHECKING:
    from pskit.config import Config

MAGIC, VERSION = 0x74696B73702D31, 1
LINE_BYTES = 64
MOST_TEXT = 1 << 24


def open_arena(cfg: "Config", layout: Layout, plan: Plan) -> Arena:
    """The arena of a run: anonymous, or under the name that ``run.publish`` says.

    Raises
    ------
    InputError
        When the name is taken, or there is not enough memory.
    """
    name = cfg.run.publish
    if name is None:
        return Arena.create(plan.nbytes, plan.committed)
    about = {"config": cfg.to_dict(), "layout": describe_layout(layout), "pid": os.getpid()}
    text = json.dumps(about).encode()
    _make_way(name)
    size = aligned(len(text)) + LINE_BYTES
    arena = Arena.create(plan.nbytes + size, plan.committed, name, plan.tables.first_bytes + size)
    arena.commit(plan.nbytes, size)
    arena.view(plan.nbytes, (len(text),), np.uint8)[:] = np.frombuffer(text, np.uint8)
    last = arena.view(plan.nbytes + size - LINE_BYTES, (8,), np.int64)
    last[1:4] = VERSION, plan.nbytes, len(text)
    last[0] = MAGIC
    return arena


def about(arena: Arena, name: str) -> dict[str, Any]:
    """What a published arena says of itself.

    Raises
    ------
    InputError
        When it is none of ours, or not complete yet.
    """
    try:
        magic, version, at, length = (
            arena.view(arena.nbytes - LINE_BYTES, (8,), np.int64)[:4].tolist()
            if arena.nbytes >= LINE_BYTES and arena.nbytes % LINE_BYTES == 0
            else (0, 0, 0, 0)
        )
        if magic != MAGIC or not 0 < length <= MOST_TEXT:
            raise ValueError("no run")
        if version != VERSION:
            raise InputError(f"{name!r}: published by another version of pskit, which this one cannot read")
        found: dict[str, Any] = json.loads(arena.view(at, (length,), np.uint8).tobytes())
        return found
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"{name!r}: this shared memory is not that of a run, or not ready yet") from error


def _make_way(name: str) -> None:
    """Take back a name that a run has left which was killed with all its processes and their tracker."""
    try:
        fd = names.look_at(name)
    except InputError:
        return
    with Arena.of(fd) as arena:
        try:
            pid, living = int(about(arena, name)["pid"]), arena.is_of_the_living
        except InputError:
            raise InputError(
                f"run.publish = {name!r}: something else in shared memory has this name; choose another one"
            ) from None
    if living:
        raise InputError(
            f"run.publish = {name!r}: the run of process {pid} is published under this name; choose another"
        )
    names.remove(name)
