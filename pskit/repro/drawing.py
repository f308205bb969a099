"""Draws the figures of a report: loads ``figures/NAME.py`` and gives it the runs of its experiments."""

import multiprocessing
import signal
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from pskit.repro.caption import conditions
from pskit.repro.catalogue import FigureEntry
from pskit.repro.ensemble import Absent, Ensemble
from pskit.repro.plan import Plan
from pskit.repro.results import Results
from pskit.repro.runner import for_children
from pskit.runtime.children import METHOD

FOLDER = "figures"
"""Subfolder of the output, and the package of the drawing modules."""
SHARED_FROM = 6
"""Figures from which a second process draws a third of them: loading takes it as long as a few of them."""


class Drawn(NamedTuple):
    """A figure of the report.

    Attributes
    ----------
    name, title, caption : str
    files : list of str
        Names within the output's figure folder: PNG, PDF, CSV. Empty when the runs it needs are missing.
    claims : tuple of str
    """

    name: str
    title: str
    caption: str
    files: list[str]
    claims: tuple[str, ...]


def draw(name: str, entry: FigureEntry, runs: Ensemble, out: Path) -> Drawn:
    """Draw one figure into ``out``.

    A module that shows a part of its experiments only has ``shown(runs)``, which chooses it: figure and
    caption are of these runs. What the caption says of the results comes from the module's ``remarks(runs)``,
    where it has that, and so is true of whatever profile's runs there are.
    """
    kit = import_module(f"{FOLDER}.kit")
    module = import_module(f"{FOLDER}.{name}")
    files: list[str] = []
    with kit.styled():
        sheet = kit.Sheet()
        try:
            if hasattr(module, "shown"):
                runs = module.shown(runs)
            module.draw(runs, sheet)
            files = sheet.save(out / FOLDER, name)
            remarks = getattr(module, "remarks", None)
            said = [entry.caption, remarks(runs) if remarks else "", conditions(runs)]
            caption = " ".join(filter(None, said))
        except Absent as absent:
            caption = f"Not drawn: {absent} in this profile."
    return Drawn(name, entry.title, caption, files, entry.claims)


def draw_all(entries: Mapping[str, FigureEntry], results: Results, out: Path, jobs: int) -> list[Drawn]:
    """Draw figures into ``out``, by name; where ``jobs`` allow it, a second process helps."""
    theirs = dict(list(entries.items())[2::3]) if jobs > 1 and len(entries) >= SHARED_FROM else {}
    context: Any = multiprocessing.get_context(METHOD)
    receiver, sender = context.Pipe(duplex=False)
    arguments = sender, theirs, results.plan, results.errors, out
    process = context.Process(target=_draw_share, args=arguments, daemon=True)
    drawn: dict[str, Drawn] = {}
    try:
        if theirs:
            with for_children():
                process.start()
        sender.close()
        for name, entry in entries.items():
            if name not in theirs:
                drawn[name] = draw(name, entry, results.of(entry.experiments)[0], out)
        try:
            drawn |= receiver.recv()
        except EOFError:  # there is no such process, or something went wrong there: here it can be seen
            for name, entry in theirs.items():
                drawn[name] = draw(name, entry, results.of(entry.experiments)[0], out)
    finally:
        receiver.close()
        if process.pid is not None:
            process.terminate()
            process.join()
    return [drawn[name] for name in entries]


def _draw_share(
    sender: Connection, entries: Mapping[str, FigureEntry], plan: Plan, errors: Mapping[str, str], out: Path
) -> None:
    """Draw figures and send what became of them; the body of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results = Results(plan, errors)
    sender.send(
        {name: draw(name, entry, results.of(entry.experiments)[0], out) for name, entry in entries.items()}
    )
