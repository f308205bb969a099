import sys
from types import SimpleNamespace

import numpy as np
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
    VAP,
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
    assert policy_names() == ["bsp", "ssp", "essp", "asp", "vap"]
    assert [policy_class(n) for n in policy_names()] == [BSP, SSP, ESSP, ASP, VAP]
    with pytest.raises(KeyError, match=r"no policy 'sap'; known are .*'ssp'"):
        policy_class("sap")


@pytest.mark.parametrize("name", ["ssp", "essp"])
def test_need_is_clock_minus_slack(name):
    policy = make_policy(ps(name, slack=3, push="rows"))
    assert [policy.need(c) for c in (0, 3, 10)] == [-3, 0, 7]  # k >= c - s, not k > c - s


def test_need_without_a_choice_of_slack():
    assert make_policy(ps("bsp", slack=0)).need(5) == 5
    assert make_policy(ps("asp")).need(5) == UNBOUNDED
    assert make_policy(ps("vap", push="rows")).need(5) == UNBOUNDED
    assert [name for name in policy_names() if policy_class(name).gated] == ["vap"]


@pytest.mark.parametrize(
    ("policy", "subscribes", "refetches", "takes_slack"),
    [
        (BSP, False, False, False),
        (SSP, False, False, True),
        (ESSP, True, False, True),
        (ASP, False, True, False),
        (VAP, True, False, False),
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


def client_of(policy):
    layout = Layout([TableSpec("a", 1, 1, "i8")])
    return Client(0, [0], layout, policy, RowPools(layout))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda clock: clock + 1, "'own': the need at clock 0 is 1, which can never be met"),
        (lambda clock: clock - 0.5, "'own': the need at clock 0 must be an integer, got -0.5"),
        (lambda clock: None, "must be an integer, got None"),
        (lambda clock: 1 // clock, r"'own': need\(\) failed at clock 0: ZeroDivisionError"),
        (lambda clock: sys.exit(0), r"need\(\) failed at clock 0: SystemExit: 0"),
    ],
)
def test_a_need_that_is_none(answer, message):
    own = type("Own", (SSP,), {"name": "own", "need": lambda self, clock: answer(clock)})
    with pytest.raises(ProtocolViolation, match=message):
        client_of(own()).get(0, np.array([0], np.int32))


def test_any_kind_of_integer_is_a_need():
    own = type("Own", (SSP,), {"name": "own", "need": lambda self, clock: np.int64(clock) - 2})
    assert own().need(5) == 3
    far = type("Far", (SSP,), {"name": "far", "need": lambda self, clock: -(10**30)})
    assert far().need(5) == UNBOUNDED


@pytest.mark.parametrize("method", ["on_oplog", "on_rise"])
def test_a_policys_fault_names_it(method):
    def fail(self, *_):
        raise LookupError("mine")

    own = type("Nameless", (SSP,), {method: fail})
    with pytest.raises(ProtocolViolation, match=rf"'Nameless': {method}\(\) failed: LookupError: mine"):
        getattr(own(), method)(*([None] * (2 if method == "on_oplog" else 1)))


def test_a_constructor_that_fails_is_the_policys_fault(monkeypatch):
    def fail(self, **_):
        raise LookupError("mine")

    monkeypatch.setattr("pskit.core.policies._POLICIES", {"own": type("Own", (SSP,), {"__init__": fail})})
    with pytest.raises(ProtocolViolation, match="'own': its constructor failed: LookupError: mine"):
        make_policy(ps("own", 1))


@pytest.mark.parametrize("given", [None, 3, "ssp", dict, SSP()])
def test_only_a_policy_class_can_be_registered(given):
    with pytest.raises(TypeError, match=r"takes a subclass of pskit\.Policy, got"):
        register_policy(given)


@pytest.mark.parametrize("attributes", [{}, {"name": ""}, {"name": 3}, {"name": "a:b"}])
@pytest.mark.parametrize("base", [Policy, SSP])
def test_a_policy_needs_a_name_of_its_own(base, attributes):
    with pytest.raises(ValueError, match=r"policy class Mine needs a name of its own.*name = \"mine\""):
        register_policy(type("Mine", (base,), attributes))
