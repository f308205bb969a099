"""Defaults, round trips, fingerprints, and the rules between keys."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pskit.config import Config, Straggler
from pskit.config.sections import DEFAULT_TIME_SCALE
from pskit.config.timing import MODEL_PARAMETERS
from pskit.errors import InputError


def refused(**tree: Any) -> str:
    with pytest.raises(InputError) as caught:
        Config(**tree)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_defaults_are_a_sensible_run() -> None:
    cfg = Config(app={"name": "mf"})
    assert (cfg.app.data, cfg.app.rank, cfg.app.step, cfg.app.reg) == ("ml-small", 32, 0.005, 0.05)
    assert (cfg.app.schedule, cfg.app.clock_fraction, cfg.app.clocks) == ("constant", 0.1, 100)
    assert (cfg.ps.policy, cfg.ps.slack, cfg.ps.shards, cfg.ps.push) == ("essp", 8, 1, "rows")
    assert (cfg.cluster.clients, cfg.cluster.threads, cfg.workers) == (16, 1, 16)
    assert cfg.cluster.placement == "colocated"
    assert (cfg.compute.model, cfg.compute.floor, cfg.compute.mean) == ("exponential", 10**9, 10**8)
    assert cfg.network.bandwidth is None
    assert Config() == cfg


def test_times_and_rates_are_integers() -> None:
    cfg = Config(
        compute={"model": "constant", "mean": "5ms", "per_item": "2us"}, network={"bandwidth": "1Gbit/s"}
    )
    assert (cfg.compute.mean, cfg.compute.per_item, cfg.network.bandwidth) == (5_000_000, 2_000, 125_000_000)


def test_nothing_can_be_changed_later() -> None:
    cfg = Config()
    for section, key, name in (
        (cfg.ps, "slack", "ps.slack"),
        (cfg, "app", "app"),
        (cfg.compute, "new", "compute.new"),
    ):
        with pytest.raises(
            InputError, match=rf"^{name} = 3: a config is never changed.*load_config"
        ) as caught:
            setattr(section, key, 3)
        assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(InputError, match=r"^run\.seed, to be deleted"):
        del cfg.run.seed
    assert cfg == Config()


@pytest.mark.parametrize("given", ["x.toml", {"app": {}}, None])
def test_sections_are_given_by_name(given: object) -> None:
    with pytest.raises(
        InputError, match=r"^Config\(\.\.\.\): expected sections by name.*load_config.*; got "
    ):
        Config(given)


@pytest.mark.parametrize(
    ("policy", "slack", "push"),
    [("bsp", 0, None), ("ssp", 8, None), ("essp", 8, "rows"), ("asp", None, None)],
)
def test_slack_and_push_follow_the_policy(policy: str, slack: int | None, push: str | None) -> None:
    cfg = Config(ps={"policy": policy})
    assert (cfg.ps.slack, cfg.ps.push) == (slack, push)
    assert Config(**cfg.to_dict()) == cfg


def test_bsp_may_name_its_slack() -> None:
    assert Config(ps={"policy": "bsp", "slack": 0}) == Config(ps={"policy": "bsp"})


@pytest.mark.parametrize(
    ("policy", "key", "value", "message"),
    [
        ("bsp", "slack", 3, 'the policy "bsp" has slack 0'),
        ("asp", "slack", 3, 'the policy "asp" has no bound'),
        ("asp", "slack", 0, 'the policy "asp" has no bound'),
        ("ssp", "push", "rows", 'the policy "ssp" pushes nothing'),
        ("bsp", "push", "deltas", 'the policy "bsp" pushes nothing'),
    ],
)
def test_what_a_policy_fixes_is_refused(policy: str, key: str, value: object, message: str) -> None:
    text = refused(ps={"policy": policy, key: value})
    assert message in text
    assert f"ps.{key} = " in text


TIMES = {"mean": "2s", "low": "1s", "high": "3s", "far": "9s"}
PARAMETERS: dict[str, object] = {**TIMES, "cv": 0.5, "alpha": 1.5, "p_far": 0.1, "file": "times.txt"}


@pytest.mark.parametrize("model", sorted(MODEL_PARAMETERS))
def test_a_model_takes_its_parameters_and_no_others(model: str) -> None:
    own = {key: PARAMETERS[key] for key in MODEL_PARAMETERS[model]}
    cfg = Config(compute={"model": model, **own}, network={"latency": {"model": model, **own}})
    assert cfg.compute.model == model
    assert cfg.compute.floor == 0
    assert Config(**cfg.to_dict()) == cfg
    for key in sorted(set(PARAMETERS) - set(own)):
        assert f"it has no {key}" in refused(compute={"model": model, **own, key: PARAMETERS[key]})
    for key in own:
        rest = {k: v for k, v in own.items() if k != key}
        assert f"{key} is missing" in refused(network={"latency": {"model": model, **rest}})


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"compute": {"model": "uniform", "low": "2s", "high": "1s"}}, "high may not be below low"),
        ({"compute": {"stragglers": [{"worker": 16, "factor": 2.0}]}}, "workers 0 to 15"),
        ({"compute": {"pauses": [{"worker": 99, "at": "1s", "duration": "1s"}]}}, "workers 0 to 15"),
        (
            {"compute": {"stragglers": [{"worker": 0, "factor": 2.0, "from_clock": 5, "until_clock": 5}]}},
            "until_clock must be above from_clock = 5",
        ),
        ({"network": {"links": [{"src": "client:16", "dst": "shard:0", "loss": 0.1}]}}, "0 to 15"),
        ({"network": {"links": [{"src": "client:*", "dst": "shard:1", "loss": 0.1}]}}, "0 to 0"),
        ({"network": {"links": [{"src": "client:0", "dst": "client:1", "loss": 0.1}]}}, "only between"),
        ({"network": {"links": [{"src": "machine:0", "dst": "shard:0", "loss": 0.1}]}}, "an endpoint is"),
        ({"network": {"links": [{"src": "client:0", "dst": "shard:0"}]}}, "at least one of"),
        ({"cluster": {"clients": 1000, "threads": 1000}}, "1000000 workers; at most"),
        ({"app": {"name": "mf", "dim": 3}}, 'the application "mf" has no key "dim"'),
        ({"app": {"name": "quadratic", "rank": 3}}, 'it belongs to "mf"'),
    ],
)
def test_rules_between_keys(tree: dict[str, Any], message: str) -> None:
    assert message in refused(**tree)


@pytest.mark.parametrize(
    ("section", "key", "value", "message"),
    [
        ("app", "step", 0, "above 0"),
        ("app", "step", -1.0, "above 0"),
        ("app", "step", float("nan"), "finite"),
        ("app", "step", float("inf"), "finite"),
        ("app", "step", "0.1", "a number"),
        ("app", "clock_fraction", 0, "above 0"),
        ("app", "clock_fraction", 1.5, "at most 1"),
        ("app", "clocks", 0, "at least 1"),
        ("app", "holdout", 1, "below 1"),
        ("app", "rank", 2.5, "whole number"),
        ("app", "rank", True, "whole number"),
        ("app", "rank", object(), "must be text, a number"),
        ("app", "biases", 1, "true or false"),
        ("app", "data", "", "not be empty"),
        ("app", "data", 7, "text in quotes"),
        ("app", "kernel", "cuda", "Allowed: numba, numpy"),
        ("app", "name", "mff", 'did you mean "mf"'),
        ("app", "name", "my module:App", "unknown application"),
        ("app", "options", 3, "a table"),
        ("app", "options", {"x": {"y": [float("nan")]}}, "app.options.x.y[0] = nan"),
        ("ps", "policy", "eSSP", 'did you mean "essp"'),
        ("ps", "policy", 3, "text in quotes"),
        ("ps", "slack", -1, "at least 0"),
        ("ps", "slack", 1.0, "whole number"),
        ("ps", "slack", 10**4000, "64 bits"),
        ("ps", "shards", 0, "at least 1"),
        ("ps", "cache_rows", -1, "at least 0"),
        ("ps", "push", "delta", 'did you mean "deltas"'),
        ("cluster", "clients", 0, "at least 1"),
        ("cluster", "clients", 10**9, "at most"),
        ("cluster", "threads", 0, "at least 1"),
        ("cluster", "placement", "remote", "Allowed: colocated, separate"),
        ("compute", "mean", 5, "needs a unit"),
        ("compute", "mean", "5", "needs a unit"),
        ("compute", "mean", "5Gbit/s", "no unit of a time"),
        ("compute", "mean", "-5ms", "negative"),
        ("compute", "reversion", 1.1, "at most 1"),
        ("compute", "model", "gamma", "Allowed: constant"),
        ("compute", "stragglers", [{"factor": 2.0}], "compute.stragglers[0].worker: this key is missing"),
        ("compute", "stragglers", [{"worker": 0, "factor": 0}], "above 0"),
        ("compute", "stragglers", [{"worker": 0, "factor": 2.0, "probability": 0}], "above 0"),
        ("compute", "stragglers", {"worker": 0, "factor": 2.0}, "a list"),
        ("compute", "pauses", [{"worker": 0, "at": "1s", "duration": "0s"}], "above 0"),
        ("network", "bandwidth", "1Gbps", 'did you mean "1Gbit/s"'),
        ("network", "bandwidth", "0bit/s", '"unlimited"'),
        ("network", "loss", 1.0, "below 1"),
        ("network", "retransmit", 0, "above 0"),
        ("network", "latency", "5ms", "a table"),
        ("network", "links", [{"src": "client:0", "dst": "shard:0", "los": 0.1}], 'did you mean "loss"'),
        ("run", "seed", -1, "at least 0"),
        ("run", "seed", 2**63, "64 bits"),
        ("run", "runtime", "simulator", "Allowed: sim, live"),
        ("run", "time_scale", 0.1, "virtual time has no scale"),
        ("run", "trace", "none", "Allowed: summary, full"),
        ("run", "diverge_factor", 1, "above 1"),
        ("run", "eval_every", 0, "at least 1"),
    ],
)
def test_a_wrong_value_is_refused(section: str, key: str, value: object, message: str) -> None:
    text = refused(**{section: {key: value}})
    assert message in text
    assert f"{section}.{key}" in text
    assert text.startswith("Config(...): ")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"slack": 3}, 'did you mean "ps.slack"'),
        ({"ps": {"cache-rows": 3}}, 'did you mean "cache_rows"'),
        ({"ps": {"staleness": 3}}, "Allowed: policy, slack, shards, cache_rows, push"),
        ({"cluter": {}}, 'did you mean "cluster"'),
        ({"ps": 3}, "must be a table"),
        ({"ps": [1]}, "must be a table"),
        ({"preset": "near-equl"}, 'did you mean "near-equal"'),
        ({"preset": 3}, "text in quotes"),
    ],
)
def test_wrong_keys_and_tables_are_refused(tree: dict[str, Any], message: str) -> None:
    assert message in refused(**tree)


def test_every_problem_has_a_line_up_to_some_number() -> None:
    def lines_of(**tree: Any) -> list[str]:
        with pytest.raises(InputError) as caught:
            Config(**tree)
        return str(caught.value).splitlines()

    lines = lines_of(app={"rank": 0, "clocks": 0}, ps={"shards": "1"})
    assert [line.split(" = ")[0] for line in lines] == [
        "Config(...): app.rank",
        "Config(...): app.clocks",
        "Config(...): ps.shards",
    ]
    many = lines_of(ps={f"k{i}": i for i in range(11)})
    assert len(many) == 9
    assert many[-1] == "... and 3 more"


def test_none_is_not_given_and_numpy_scalars_are_numbers() -> None:
    cfg = Config(preset=None, app={"rank": np.int64(4), "step": np.float64(0.5)}, run={"seed": None})
    assert cfg == Config(app={"rank": 4, "step": 0.5})
    assert type(cfg.app.rank) is int


def test_parts_of_a_config_can_be_given_as_objects() -> None:
    cfg = Config(app={"clocks": 7}, compute={"stragglers": [Straggler(worker=1, factor=3.0)]})
    again = Config(app=cfg.app, ps=cfg.ps, cluster=cfg.cluster, compute=cfg.compute, network=cfg.network)
    assert again == cfg


def test_a_config_travels_to_other_processes() -> None:
    cfg = Config(ps={"policy": "asp"})
    assert pickle.loads(pickle.dumps(cfg)) == cfg


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"compute": {"mean": "1s"}}, {"compute": {"mean": "1000ms"}}),
        ({"app": {"step": 1}}, {"app": {"step": 1.0}}),
        ({"network": {"bandwidth": "1Gbit/s"}}, {"network": {"bandwidth": "125MB/s"}}),
        ({"preset": "near-equal"}, {}),
        (
            {"preset": "exponential"},
            {"compute": {"model": "exponential", "mean": "1s"}, "network": {"latency": {"mean": "200ms"}}},
        ),
        ({"ps": {"policy": "bsp"}}, {"ps": {"policy": "bsp", "slack": 0}}),
        ({"ps": {"slack": 8}}, {}),
    ],
)
def test_the_fingerprint_is_equal_for_equal_meaning(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert Config(**one).fingerprint() == Config(**other).fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        {"run": {"seed": 1}},
        {"ps": {"slack": 7}},
        {"ps": {"policy": "ssp"}},
        {"app": {"step": 0.0050001}},
        {"compute": {"mean": "101ms"}},
        {"network": {"loss": 0.01}},
        {"preset": "straggler"},
    ],
)
def test_the_fingerprint_differs_where_results_may(change: dict[str, Any]) -> None:
    assert Config(**change).fingerprint() != Config().fingerprint()


def test_the_fingerprint_is_the_same_in_every_version() -> None:
    # Stored runs are found by it: if this changes, say so in the CHANGELOG.
    fingerprint = Config().fingerprint()
    assert len(fingerprint) == 64
    assert fingerprint.startswith("7e7e813d97f8dc35")


times = st.integers(0, 10**15).map(lambda ns: f"{ns}ns")
trees = st.fixed_dictionaries(
    {},
    optional={
        "app": st.fixed_dictionaries(
            {},
            optional={
                "step": st.floats(1e-300, 1e300),
                "data": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9),
                "options": st.dictionaries(
                    st.text("ab c", max_size=3), st.integers(-9, 9) | st.text("a\"'\\\n")
                ),
            },
        ),
        "ps": st.fixed_dictionaries({}, optional={"policy": st.sampled_from(["bsp", "ssp", "essp", "asp"])}),
        "compute": st.fixed_dictionaries(
            {"model": st.just("bimodal"), "mean": times, "far": times, "p_far": st.floats(0, 1)},
            optional={
                "floor": times,
                "stragglers": st.lists(
                    st.fixed_dictionaries({"worker": st.integers(0, 15), "factor": st.floats(0.01, 99)}),
                    max_size=2,
                ),
            },
        ),
        "network": st.fixed_dictionaries(
            {},
            optional={
                "bandwidth": st.just("unlimited") | st.integers(1, 10**12).map("{}B/s".format),
                "links": st.just([{"src": "client:*", "dst": "shard:0", "loss": 0.5}]),
            },
        ),
        "preset": st.sampled_from(["near-equal", "exponential", "straggler", "paper-64"]),
    },
)


@given(trees)
def test_a_config_survives_its_dict(tree: dict[str, Any]) -> None:
    cfg = Config(**tree)
    again = Config(**cfg.to_dict())
    assert again == cfg
    assert again.fingerprint() == cfg.fingerprint()


def test_only_the_live_runtime_has_a_time_scale() -> None:
    assert Config().run.time_scale is None
    assert "time_scale" not in Config().to_dict()["run"]
    assert Config(run={"runtime": "live"}).run.time_scale == DEFAULT_TIME_SCALE
    assert Config(run={"runtime": "live", "time_scale": 2}).to_dict()["run"]["time_scale"] == 2.0
    assert "above 0" in refused(run={"runtime": "live", "time_scale": 0})
    assert "at most 1000" in refused(run={"runtime": "live", "time_scale": 1001})


def test_keys_of_the_gate_have_defaults_under_vap_only():
    ps = Config(ps={"policy": "vap"}).ps
    assert (ps.v0, ps.v_schedule, ps.vap_variant, ps.push, ps.slack) == (
        1.0, "inverse-sqrt", "aggregate", "rows", None,
    )  # fmt: skip
    assert Config(ps={"policy": "vap", "v0": 3, "push": "deltas"}).ps.v0 == 3.0
    assert not {"v0", "v_schedule", "vap_variant"} & Config().to_dict()["ps"].keys()
    cfg = Config(ps={"policy": "vap", "v0": 0.25})
    assert Config(**cfg.to_dict()) == cfg


@pytest.mark.parametrize(
    ("ps", "message"),
    [
        ({"v0": 1.0}, r'ps\.v0 = 1\.0: the policy "essp" bounds no values; leave v0 out, or choose vap'),
        ({"policy": "ssp", "vap_variant": "aggregate"}, r"ps\.vap_variant.*bounds no values"),
        ({"policy": "vap", "v0": 0}, r"ps\.v0 = 0: must be above 0"),
        ({"policy": "vap", "v0": -1.0}, r"ps\.v0 = -1\.0: must be above 0"),
        ({"policy": "vap", "v0": "1"}, r"ps\.v0"),
        ({"policy": "vap", "v0": float("nan")}, r"ps\.v0"),
        ({"policy": "vap", "vap_variant": "sum"}, r'ps\.vap_variant = "sum".*aggregate'),
        ({"policy": "vap", "v_schedule": "linear"}, r'ps\.v_schedule = "linear".*inverse-sqrt'),
        ({"policy": "vap", "slack": 2}, r'ps\.slack = 2: the policy "vap" has no bound'),
    ],
)
def test_wrong_keys_of_the_gate(ps, message):
    with pytest.raises(InputError, match=message):
        Config(ps=ps)
