"""Draws the figures of a report: loads ``figures/NAME.py`` and gives it the runs of its experiments."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from pskit.repro.caption import conditions
from pskit.repro.catalogue import FigureEntry
from pskit.repro.ensemble import Absent, Ensemble

FOLDER = "figures"
"""Subfolder of the output, and the package of the drawing modules."""


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
