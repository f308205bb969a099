from types import SimpleNamespace

import pytest

from pskit.core.client import Client
from pskit.core.layout import Layout, TableSpec
from pskit.core.messages import ProtocolViolation
from pskit.core.policies import (
    ASP,
    BSP,
    ESSP,
    SSP,
    UNBOUNDED,
    Policy,
    make_policy,
    policy_class,
    policy_names,
    register_policy,
)
from pskit.core.rows import RowPools


def ps(policy, slack=None, push=None):
    return SimpleNamespace(policy=policy, slack=slack, push=push)


def test_names():
    assert policy_names() == ["bsp", "ssp", "essp", "asp"]
    assert [policy_class(n) for n in policy_names()] == [BSP, SSP, ESSP, ASP]
    with pytest.raises(KeyError, match=r"no policy 'sap'; known are .*'ssp'"):
        policy_class("sap")


@pytest.mark.parametrize("name", ["ssp", "essp"])
def test_need_is_clock_minus_slack(name):
    policy = make_policy(ps(name, slack=3, push="rows"))
    assert [policy.need(c) for c in (0, 3, 10)] == [-3, 0, 7]  # k >= c - s, not k > c - s


def test_need_without_a_choice_of_slack():
    assert make_policy(ps("bsp", slack=0)).need(5) == 5
    assert make_policy(ps("asp")).need(5) == UNBOUNDED


@pytest.mark.parametrize(
    ("policy", "subscribes", "refetches", "takes_slack"),
    [
        (BSP, False, False, False),
        (SSP, False, False, True),
        (ESSP, True, False, True),
        (ASP, False, True, False),
    ],
)
def test_what_each_is(policy, subscribes, refetches, takes_slack):
    assert (policy.subscribes, policy.refetches, policy.takes_slack) == (subscribes, refetches, takes_slack)


def test_push_kind():
    assert make_policy(ps("essp", 1, "deltas")).deltas
    assert not make_policy(ps("essp", 1, "rows")).deltas


def test_a_users_policy(monkeypatch):
    monkeypatch.setattr("pskit.core.policies._POLICIES", {"ssp": SSP})

    @register_policy
    class Patient(Policy):
        name = "patient"

    assert register_policy(Patient) is Patient  # again is no error
    assert type(make_policy(ps("patient", 1))) is Patient
    with pytest.raises(ValueError, match="named 'ssp' is registered already"):
        register_policy(type("Other", (Policy,), {"name": "ssp"}))


def test_a_need_that_falls_is_the_policys_fault():
    class Wavering(SSP):
        name = "wavering"

        def need(self, clock):
            return -(clock % 2)

    layout = Layout([TableSpec("a", 1, 1, "i8")])
    client = Client(0, [0], layout, Wavering(), RowPools(layout))
    with pytest.raises(ProtocolViolation, match=r"'wavering'.*falls from 0 at clock 0 to -1"):
        client.clock(0)
