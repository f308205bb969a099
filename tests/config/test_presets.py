"""Presets, and which keys win over which."""

import pytest

from pskit.config import PRESETS, Config
from pskit.config.presets import overlay


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_is_valid_and_survives_writing(name: str) -> None:
    cfg = Config(preset=name)
    assert Config(**cfg.to_dict()) == cfg
    assert cfg.network.latency.mean == 200_000_000


def test_what_the_presets_say() -> None:
    assert Config(preset="near-equal").compute.reversion == 0.2
    assert Config(preset="exponential").compute.floor == 0
    assert Config(preset="exponential").compute.reversion == 0
    (straggler,) = Config(preset="straggler").compute.stragglers
    assert (straggler.worker, straggler.factor) == (0, 2.0)
    big = Config(preset="paper-64")
    assert (big.workers, big.ps.shards, big.network.bandwidth) == (64, 8, 125_000_000)
    assert Config(preset="paper-8").workers == 8


def test_explicit_keys_win_over_the_preset() -> None:
    cfg = Config(preset="paper-64", cluster={"threads": 2}, ps={"shards": 4}, compute={"mean": "50ms"})
    assert (cfg.workers, cfg.ps.shards) == (128, 4)
    assert (cfg.compute.mean, cfg.compute.floor) == (50_000_000, 10**9)
    assert Config(preset="straggler", compute={"stragglers": []}).compute == Config().compute


def test_a_named_model_replaces_the_whole_distribution() -> None:
    cfg = Config(preset="straggler", compute={"model": "uniform", "low": "1s", "high": "2s"})
    assert (cfg.compute.floor, cfg.compute.mean, cfg.compute.reversion) == (0, None, 0)
    assert cfg.compute.stragglers == Config(preset="straggler").compute.stragglers
    same = Config(compute={"model": "exponential", "mean": "1s"})
    assert same.compute.floor == 0


def test_a_new_policy_drops_the_weaker_keys_that_it_does_not_have() -> None:
    file = {"ps": {"policy": "essp", "slack": 4, "push": "deltas", "shards": 2}}
    assert overlay(file, {"ps": {"policy": "bsp"}}) == {"ps": {"policy": "bsp", "shards": 2}}
    assert overlay(file, {"ps": {"policy": "asp"}}) == {"ps": {"policy": "asp", "shards": 2}}
    assert overlay(file, {"ps": {"policy": "ssp"}}) == {"ps": {"policy": "ssp", "slack": 4, "shards": 2}}
    assert overlay(file, {"ps": {"policy": "bsp", "slack": 3}})["ps"]["slack"] == 3
    assert file["ps"]["push"] == "deltas"


def test_a_new_application_drops_the_keys_of_the_old_one() -> None:
    file = {"app": {"name": "mf", "rank": 8, "clocks": 5}}
    assert overlay(file, {"app": {"name": "quadratic"}}) == {"app": {"name": "quadratic", "clocks": 5}}
    assert overlay(file, {"app": {"name": "mine:App"}}) == {
        "app": {"name": "mine:App", "rank": 8, "clocks": 5}
    }


def test_keys_called_model_or_policy_elsewhere_are_just_keys() -> None:
    weak = {"app": {"options": {"model": "a", "mean": 1, "slack": 2}}}
    assert overlay(weak, {"app": {"options": {"model": "b", "policy": "bsp"}}}) == {
        "app": {"options": {"model": "b", "mean": 1, "slack": 2, "policy": "bsp"}}
    }
