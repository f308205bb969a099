"""Shaped staleness: laws, the process of ages, the delays made of it, and what runs measure."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pskit
from pskit.config.staleness import Staleness
from pskit.emulation.staleness import AgeLaw, _solve, held_back, law, target_law
from pskit.errors import InputError

LAWS = {
    "fixed": {"law": "fixed", "age": 3},
    "uniform": {"law": "uniform", "low": 1, "high": 5},
    "bimodal": {"law": "bimodal", "near": 1, "far": 18, "p_far": 0.0752, "bridge": 0.1},
    "heavy-tail": {"law": "heavy-tail", "mean": 3.0, "bound": 18},
    "histogram": {"law": "histogram", "shares": [3, 1, 2, 1, 3]},
}


def wanted(name, drawn="run"):
    return Staleness(**LAWS[name], drawn=drawn)


@pytest.mark.parametrize("name", LAWS)
def test_the_laws_have_their_means_and_add_up(name):
    shares = law(wanted(name))
    assert sum(shares) == pytest.approx(1, abs=1e-12)
    assert len(shares) == wanted(name).largest
    assert sum(age * share for age, share in enumerate(shares, 1)) == pytest.approx(3, abs=2e-3)


def test_two_ages_without_a_bridge():
    shares = law(Staleness(law="bimodal", near=2, far=5, p_far=0.25))
    assert shares == [0, 0.75, 0, 0, 0.25]


@pytest.mark.parametrize("size", [5e-324, 1.0, 1e308])
def test_shares_of_any_size(size):
    assert law(Staleness(law="histogram", shares=[size, 0.0, size, size])) == [1 / 3, 0, 1 / 3, 1 / 3]


def test_a_heavy_tail_falls_like_the_inverse_of_a_shifted_age():
    steps = np.diff(1 / np.array(law(wanted("heavy-tail"))))
    np.testing.assert_allclose(steps, steps[0], rtol=1e-9)
    assert steps[0] > 0


@pytest.mark.parametrize("mean", [10.0, 9.5, 1 + 1e-12])
def test_a_tail_with_an_impossible_mean(mean):
    with pytest.raises(
        InputError, match=r"18 has a mean above 1 and below 9.5 \(that of a uniform law\), not"
    ):
        law(Staleness(law="heavy-tail", mean=mean, bound=18))


def long_run_shares(q, hold):
    """Shares of the ages in the process of the module's docstring, by adding up its cycles."""
    q = np.array(q)
    time = np.zeros(len(q))
    for i, j in np.ndindex(len(q), len(q)):  # from target i to target j
        time[j] += q[i] * q[j] * hold
        time[i + 1 : j] += q[i] * q[j]
    return time / time.sum()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=12))
def test_any_law_without_a_gap_is_the_long_run_law_of_its_process(weights):
    shares = np.array(weights) / sum(weights)
    q, hold = target_law(shares.tolist())
    assert min(q) >= 0
    np.testing.assert_allclose(long_run_shares(q, hold), shares, atol=1e-7)
    assert hold == 1 or min(_solve(shares.tolist(), hold - 1)) < 0  # the fastest that there is


@pytest.mark.parametrize(("name", "hold"), [("fixed", 1), ("uniform", 1), ("heavy-tail", 2), ("bimodal", 11)])
def test_smooth_laws_need_hardly_any_holding(name, hold):
    assert target_law(law(wanted(name)))[1] == hold


def test_a_gap_cannot_be_drawn_within_a_run():
    apart = Staleness(law="bimodal", near=1, far=18, p_far=0.1, drawn="clock")
    with pytest.raises(InputError, match=r"the age 2.*an age rises by one per clock.*bridge"):
        AgeLaw(apart)
    AgeLaw(apart.model_copy(update={"drawn": "run"}))
    tiny = Staleness(law="histogram", shares=[1, 1e-9, 1], drawn="clock")
    with pytest.raises(InputError, match="more than 10000 clocks"):
        AgeLaw(tiny)


@pytest.mark.parametrize("name", LAWS)
def test_ages_rise_by_one_at_most_and_follow_the_law(name):
    ages = list(islice(AgeLaw(wanted(name, "clock")).ages(5, 0), 60_000))
    assert max(np.diff(ages), default=0) <= 1
    shares = law(wanted(name))
    found = np.bincount(ages, minlength=len(shares) + 1)[1:] / len(ages)
    _, hold = target_law(shares)
    # At least one new draw in hold + 18 clocks: so many independent ages there are, no fewer.
    tolerance = 4 * np.sqrt(0.25 / (len(ages) / (hold + len(shares))))
    assert np.abs(found - shares).max() < tolerance
    assert max(found) > tolerance


def test_one_age_for_a_whole_run_and_for_all_clients():
    seen = Counter()
    for seed in range(2000):
        law_of_run = AgeLaw(wanted("histogram"))
        first = list(islice(law_of_run.ages(seed, 0), 3))
        assert len(set(first)) == 1
        assert first == list(islice(law_of_run.ages(seed, 7), 3))
        seen[first[0]] += 1
    for age, share in enumerate(law(wanted("histogram")), 1):
        assert abs(seen[age] / 2000 - share) < 4 * np.sqrt(share * (1 - share) / 2000)


def test_clients_and_seeds_have_ages_of_their_own():
    changing = AgeLaw(wanted("uniform", "clock"))
    first, other, again = (list(islice(changing.ages(*key), 50)) for key in ((1, 0), (1, 1), (1, 0)))
    assert first == again != other
    assert first != list(islice(changing.ages(2, 0), 50))


@given(st.lists(st.integers(1, 6), min_size=30, max_size=30))
def test_pushes_are_held_back_until_the_first_read_that_may_see_them(steps):
    """A naive model of a reader: read c sees every push of clock m that arrived before it."""
    ages = [steps[0]]
    for step in steps[1:]:
        ages.append(min(step, ages[-1] + 1))
    held = list(islice(held_back(iter([*ages, *[1] * 100])), 20))
    assert held[0] == 0
    # Push m is made right after the read of clock m, so with no holding the read of clock m + 1 sees it.
    first_read = {m: m + 1 + back for m, back in enumerate(held[1:], 1)}
    for c in range(20):
        seen = max([m for m in first_read if first_read[m] <= c], default=0)
        assert c - seen == min(ages[c], c)


def shaped(name, drawn, seed=0, clocks=60, **more):
    return pskit.Config(
        app={"name": "absolute", "dim": 2, "noise": 0.0, "clocks": clocks, "step": 0.1},
        ps={"policy": "essp", "slack": 18, **more.pop("ps", {})},
        cluster={"clients": 3, "placement": "separate"},
        compute={"model": "constant", "mean": "1s"},
        network={
            "latency": {"model": "constant", "mean": "250ms"},
            "staleness": {**LAWS[name], "drawn": drawn},
        },
        run={"seed": seed, "eval_every": clocks, **more},
    )


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("drawn", ["run", "clock"])
@pytest.mark.parametrize("name", ["fixed", "bimodal", "histogram"])
def test_measured_ages_are_those_that_were_drawn(name, drawn, shards):
    cfg = shaped(name, drawn, seed=3, ps={"shards": shards})
    trace = pskit.run(cfg, threads=1)
    reads = trace.columns("reads")
    for client in range(3):
        ages = list(islice(AgeLaw(cfg.network.staleness).ages(3, client), 60))
        mine = reads["worker"] == client
        expected = np.minimum(ages, np.arange(60))[reads["clock"][mine]]
        assert np.array_equal(reads["age"][mine], expected)
    waited = trace.columns("clocks")["t_wait"]
    assert np.count_nonzero(waited) == 3  # for the first GET only: the slack never binds
    assert pskit.audit(trace).ok


def test_the_measured_histogram_is_the_law():
    runs = [pskit.run(shaped("heavy-tail", "clock", seed, clocks=300), threads=1) for seed in range(3)]
    counts = np.zeros(19)
    for trace in runs:
        h = trace.columns("histogram")
        late = h["clock"] >= 18
        np.add.at(counts, h["age"][late], h["count"][late])
    found = counts[1:] / counts.sum()
    # 9 readers and 282 clocks; a new age is drawn at least once in 18 clocks.
    assert np.abs(found - law(wanted("heavy-tail"))).max() < 4 * np.sqrt(0.25 / (9 * 282 / 18))
    assert (np.arange(1, 19) @ found) == pytest.approx(3, abs=0.5)


def test_the_seed_of_the_noise_leaves_the_schedule_alone():
    hashes = set()
    for noise_seed in (1, 2):
        cfg = shaped("uniform", "clock", seed=9)
        tree = cfg.to_dict()
        tree["app"]["noise_seed"] = noise_seed
        hashes.add(pskit.run(pskit.Config(**tree), threads=1).manifest["schedule_hash"])
    assert len(hashes) == 1
