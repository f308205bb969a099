"""The main function of every child process."""

import os
import signal
import threading
import traceback
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NamedTuple

from pskit.apps.awaiting import nothing_unawaited
from pskit.core.policies import policy_class
from pskit.errors import AppError, InputError
from pskit.runtime.live.arena import Arena
from pskit.runtime.live.client import ClientProcess
from pskit.runtime.live.gated import GatedClientProcess, GatedServerProcess
from pskit.runtime.live.names import take_back
from pskit.runtime.live.parts import Part
from pskit.runtime.live.server import ServerProcess
from pskit.runtime.live.warmup import rehearse

if TYPE_CHECKING:
    from pskit.config import Config


class Ready(NamedTuple):
    """Everything is prepared; waits for time zero."""


class Stopped(NamedTuple):
    """Has left its loop; takes part in nothing any more."""


class Failed(NamedTuple):
    """Cannot go on."""

    what: str
    users: type[InputError] | type[AppError] | None
    details: str


class Collect(NamedTuple):
    """To a child: all have stopped, hand over your part; the clients ``lost`` have died."""

    lost: tuple[int, ...]


Report = Ready | Stopped | Failed | Part


def main(
    me: int,
    cfg: "Config",
    arena: Arena,
    own_bell: Connection,
    bells: dict[int, Connection],
    launcher: Connection,
) -> None:
    """Be the process ``me`` of a run.

    Reports `Ready`, `Stopped` and at last its `Part` to the launcher, or `Failed`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the launcher, which stops the run
    try:
        threading.Thread(target=_die_with_the_launcher, args=(cfg.run.publish,), daemon=True).start()
        gated = policy_class(cfg.ps.policy).gated
        server, client = (GatedServerProcess, GatedClientProcess) if gated else (ServerProcess, ClientProcess)
        with nothing_unawaited(cfg.app.name):  # from the start: workers are primed
            process = (server if me == cfg.cluster.clients else client)(me, cfg, arena, own_bell, bells)
            rehearse(cfg.ps.policy, cfg.ps.push, [t.dtype for t in process.layout.tables], cfg.ps.cache_rows)
            _tell(launcher, Ready())
            process.run()
        _tell(launcher, Stopped())
        try:
            order: Collect = launcher.recv()
        except EOFError:
            return  # the launcher has given up
        _tell(launcher, process.part(order.lost))
        process.close()
    except Exception as error:
        plain = next((kind for kind in (InputError, AppError) if isinstance(error, kind)), None)
        what = f"{type(error).__name__}: {error}" if plain is None else str(error)
        _tell(launcher, Failed(what, plain, traceback.format_exc()))


def _tell(launcher: Connection, report: Report) -> None:
    """Report to the launcher; where that has given up, end in silence."""
    try:
        launcher.send(report)
    except BrokenPipeError:
        raise SystemExit(1) from None


def _die_with_the_launcher(name: str | None) -> None:
    """Wait for the end of the launcher, of which under forkserver this is no child, and follow it.

    A name of the arena is taken back, as the launcher cannot do it any more.
    """
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        if name is not None:
            take_back(name)
        os._exit(1)
