"""Figures drawn by two processes: the same files as by one."""

import os
from typing import NamedTuple

import pytest

from pskit.config import Config
from pskit.repro import drawing
from pskit.repro.drawing import SHARED_FROM, draw_all
from pskit.repro.plan import Plan
from pskit.repro.results import Results
from tests.figures.made_up import BATCHED, CATALOGUE
from tests.paper.synthetic import trace_of

NAMES = [name for name in CATALOGUE.figures if name not in BATCHED][:SHARED_FROM]
ENTRIES = {name: CATALOGUE.figures[name] for name in NAMES}


class MadeUp(NamedTuple):
    """Stands for a planned run, and can be sent to another process."""

    cfg: Config

    def open(self):
        return trace_of(self.cfg)


@pytest.fixture(scope="module")
def results():
    members, runs = {}, {}
    for name in NAMES:
        for experiment in ENTRIES[name].experiments:
            configs = [cfg for cfg, _ in CATALOGUE.experiments[experiment].configs("quick")]
            members[experiment] = [f"{experiment} {i}" for i in range(len(configs))]
            runs.update(zip(members[experiment], map(MadeUp, configs), strict=True))
    return Results(Plan(runs, members), {})


@pytest.fixture(scope="module")
def alone(results, tmp_path_factory):
    """What one process draws: what became of the figures, and the bytes of their files."""
    folder = tmp_path_factory.mktemp("alone")
    return draw_all(ENTRIES, results, folder, 1), contents(folder)


def contents(folder):
    return {path.name: path.read_bytes() for path in (folder / "figures").iterdir()}


def dies(*arguments):
    os._exit(3)


def test_a_second_process_draws_the_same(results, alone, tmp_path):
    drawn = draw_all(ENTRIES, results, tmp_path, 2)
    assert (drawn, contents(tmp_path)) == alone
    assert [figure.name for figure in drawn] == NAMES
    assert all(figure.files for figure in drawn)


def test_what_a_process_leaves_undone_is_drawn_here(results, alone, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "_draw_share", dies)
    assert (draw_all(ENTRIES, results, tmp_path, 2), contents(tmp_path)) == alone
