from pskit.config import Config
from pskit.repro.caption import compute, conditions, counted, distribution, listed, seeds
from pskit.repro.ensemble import Ensemble
from tests.paper.synthetic import trace_of


def test_conditions_say_what_a_reader_needs():
    runs = [
        Config(
            preset=preset,
            app={"clocks": 3, "step": step},
            ps={"policy": "ssp", "slack": s},
            run={"seed": seed},
        )
        for seed, (preset, step, s) in enumerate([("near-equal", 0.005, 4), ("straggler", 0.02, 16)], start=1)
    ]
    text = conditions(Ensemble([trace_of(cfg) for cfg in runs]))
    assert text == (
        "Data: MF, made up. P = 16. shards: 1, placement colocated. "
        "s = 4, 16. step 0.005, 0.02. time to compute a clock: "
        "1s + exponential (mean 100ms), mean-reverting (0.2); "
        "1s + exponential (mean 100ms), mean-reverting (0.2), worker 0 2 times as long. "
        "latency of a message: exponential (mean 200ms). bandwidth unlimited. Seeds 1, 2."
    )


def test_models_in_words():
    cfg = Config(
        compute={"model": "uniform", "low": "1s", "high": "3s"},
        network={"latency": {"model": "pareto", "mean": "5ms", "alpha": 1.5, "floor": "1ms"}},
    ).model_dump(mode="json")
    assert compute(cfg["compute"]) == "uniform (low 1s, high 3s)"
    assert distribution(cfg["network"]["latency"]) == "1ms + pareto (mean 5ms, alpha 1.5)"


def test_lists():
    assert listed([0.02, 0.005, 0.02]) == "0.005, 0.02"
    assert listed([16, 8]) == "8, 16"
    assert seeds([1, 2, 3, 4]) == "Seeds 1 to 4"
    assert seeds([7]) == "Seed 7"
    assert seeds([1, 5]) == "Seeds 1, 5"
    assert seeds([1, 2, 3, 11, 12, 13, 14]) == "Seeds 1 to 3, 11 to 14"


def test_counts():
    assert [counted(n, "figure") for n in (0, 1, 2)] == ["0 figures", "1 figure", "2 figures"]
