"""The table [network.staleness]: which keys a law has, and what else it needs."""

import pytest

from pskit.config import Config, load_config
from pskit.config.staleness import Staleness
from pskit.errors import InputError

GOOD = {
    "ps": {"policy": "essp", "slack": 18},
    "cluster": {"clients": 3, "placement": "separate"},
    "compute": {"model": "constant", "mean": "1s"},
    "network": {
        "latency": {"model": "constant", "mean": "250ms"},
        "staleness": {"law": "uniform", "low": 1, "high": 5},
    },
}


def changed(**sections):
    return {name: {**GOOD.get(name, {}), **sections.get(name, {})} for name in {*GOOD, *sections}}


def test_a_config_with_a_law_comes_back_from_its_text():
    cfg = Config(**GOOD)
    assert cfg.network.staleness == Staleness(law="uniform", low=1, high=5)
    assert cfg.network.staleness.largest == 5
    assert Config(**cfg.to_dict()) == cfg
    assert "staleness" not in Config().to_dict()["network"]


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({"law": "fixed"}, 'age is missing: the law "fixed" takes age'),
        ({"law": "fixed", "age": 2, "low": 1}, 'the law "fixed" takes age; it has no low'),
        ({"law": "fixed", "age": 0}, "1 or more"),
        ({"law": "uniform", "low": 3, "high": 3}, "high must be above low = 3"),
        ({"law": "bimodal", "near": 4, "far": 2, "p_far": 0.5}, "far must be above near = 4"),
        ({"law": "bimodal", "near": 1, "far": 2, "p_far": 0.5, "bridge": 0.1}, "no age between near and far"),
        ({"law": "bimodal", "near": 1, "far": 2, "p_far": 1.0}, "above 0 and below 1"),
        ({"law": "heavy-tail", "mean": 0.5, "bound": 4}, "the mean age in clocks, above 1"),
        ({"law": "heavy-tail", "mean": 1, "bound": 4}, "the mean age in clocks, above 1"),
        ({"law": "histogram"}, "shares is missing"),
        ({"law": "histogram", "shares": [1, 0]}, "the last of the shares must be above 0"),
        ({"law": "histogram", "shares": [1, -1]}, "shares"),
        ({"law": "uniform", "low": 1, "high": 2, "bridge": 0.5}, "it has no bridge"),
        ({"law": "zipf"}, "law"),
    ],
)
def test_what_a_law_takes(law, message):
    with pytest.raises(InputError, match=message):
        Config(**changed(network={"staleness": law}))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"ps": {"policy": "asp", "slack": None}}, r"a policy that has a slack \(essp\)"),
        ({"ps": {"policy": "ssp"}}, r"a policy that pushes \(essp\)"),
        ({"ps": {"slack": 4}}, "a slack of 5 or more"),
        ({"ps": {"cache_rows": 7}}, "a cache for all rows"),
        ({"cluster": {"threads": 2}}, "one worker per client"),
        ({"cluster": {"placement": "colocated"}}, 'placement "separate"'),
        ({"compute": {"model": "exponential"}}, 'the compute model "constant"'),
        ({"compute": {"per_item": "1us"}}, "no time per item"),
        ({"compute": {"stragglers": [{"worker": 0, "factor": 2.0}]}}, "no stragglers"),
        ({"compute": {"pauses": [{"worker": 0, "at": "1s", "duration": "1s"}]}}, "no pauses"),
        ({"network": {"latency": {"model": "exponential", "mean": "1ms"}}}, 'the latency model "constant"'),
        (
            {"network": {"latency": {"model": "constant", "mean": "500ms"}}},
            "below half a clock's compute time",
        ),
        ({"network": {"latency": {"model": "constant", "mean": "0s"}}}, "a latency above 0"),
        ({"network": {"bandwidth": "1Gbit/s"}}, 'bandwidth "unlimited"'),
        ({"network": {"loss": 0.1}}, "neither loss nor reordering"),
        ({"network": {"links": [{"src": "client:0", "dst": "shard:0", "loss": 0.1}]}}, "no exceptions"),
    ],
)
def test_nothing_else_may_make_ages(sections, message):
    with pytest.raises(InputError, match=f"shaped staleness .* needs .*{message}"):
        Config(**changed(**sections))


def test_a_new_law_starts_anew_and_keeps_when_it_is_drawn(tmp_path):
    file = tmp_path / "a.toml"
    tree = changed(network={"staleness": {"law": "uniform", "low": 1, "high": 5, "drawn": "clock"}})
    file.write_text(Config(**tree).to_toml())
    cfg = load_config(file, overrides=["network.staleness={law = 'fixed', age = 3}"])
    assert cfg.network.staleness == Staleness(law="fixed", age=3, drawn="clock")
