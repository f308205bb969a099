"""All that workers, links and caches may do to the protocol, as far as hypothesis gets."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.machines import POLICIES, Deaths, LossyProtocol, Protocol

EXAMPLES, STEPS = 20, 50


def play(machine: type[Protocol], name: str, examples: int, steps: int) -> None:
    named = type(f"{machine.__name__}_{name}", (machine,), {"name": name})
    busy_machine = [HealthCheck.too_slow, HealthCheck.data_too_large]
    chosen = settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=busy_machine)
    run_state_machine_as_test(named, settings=chosen)


@pytest.mark.parametrize("name", POLICIES)
def test_reliable_links(name):
    play(Protocol, name, EXAMPLES, STEPS)


@pytest.mark.parametrize("name", POLICIES)
def test_lossy_links(name):
    play(LossyProtocol, name, EXAMPLES // 2, STEPS)


@pytest.mark.parametrize("name", POLICIES)
def test_clients_that_die(name):
    play(Deaths, name, EXAMPLES // 2, STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("machine", [Protocol, Deaths, LossyProtocol])
def test_at_length(machine, name):
    play(machine, name, 300, 120)
