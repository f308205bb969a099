"""Hundreds of bad days in virtual time; thousands with ``-m slow``."""

import pytest

from tests.explore import schedules

BLOCKS, SEEDS = 12, 25


@pytest.mark.parametrize("block", range(BLOCKS))
def test_schedules(block):
    for seed in range(SEEDS * block, SEEDS * (block + 1)):
        schedules.run(seed)


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(5))
def test_thousands_of_schedules(thousand):
    schedules.run_many(range(1000 * thousand + SEEDS * BLOCKS, 1000 * (thousand + 1) + SEEDS * BLOCKS))


def test_everything_is_drawn():
    drawn = [schedules.draw(seed) for seed in range(300)]
    assert {cfg.ps.policy for cfg in drawn} == {"ssp", "essp", "bsp", "asp"}
    assert {cfg.ps.push for cfg in drawn if cfg.ps.policy == "essp"} == {"rows", "deltas"}
    assert any(cfg.network.loss and cfg.network.reorder for cfg in drawn)
    assert any(cfg.network.links for cfg in drawn)
    assert any(cfg.compute.pauses and cfg.compute.stragglers for cfg in drawn)
    assert any(cfg.ps.cache_rows == 1 and cfg.app.options["rows"] > 1 for cfg in drawn)
    assert any(cfg.workers > cfg.app.options["rows"] for cfg in drawn)
    assert any(cfg.ps.shards > cfg.app.options["rows"] for cfg in drawn)
    assert any(len(set(cfg.app.options["clocks"])) > 2 for cfg in drawn)
    assert any(set(cfg.app.options["clocks"]) == {0} for cfg in drawn)


def test_a_schedule_is_drawn_from_its_number_alone():
    assert schedules.draw(17) == schedules.draw(17) != schedules.draw(18)


def test_a_schedule_that_fails_says_which(monkeypatch, capsys):
    monkeypatch.setattr(schedules, "run", lambda seed: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        schedules.run_many([41])
    assert capsys.readouterr().out == f"schedule 41 of {schedules.draw(41).ps.policy}:\n"
