"""Consistency policies by name."""

from typing import Any

from pskit.core.policies.asp import ASP
from pskit.core.policies.base import UNBOUNDED, Policy
from pskit.core.policies.bsp import BSP
from pskit.core.policies.essp import ESSP
from pskit.core.policies.ssp import SSP

_POLICIES: dict[str, type[Policy]] = {p.name: p for p in (BSP, SSP, ESSP, ASP)}


def policy_names() -> list[str]:
    """Names that ``ps.policy`` accepts."""
    return list(_POLICIES)


def policy_class(name: str) -> type[Policy]:
    """The class registered as ``name``; KeyError names the known ones."""
    try:
        return _POLICIES[name]
    except KeyError:
        raise KeyError(f"no policy {name!r}; known are {policy_names()}") from None


def register_policy(policy: type[Policy]) -> type[Policy]:
    """Make a user's policy class known under its ``name`` (usable as a decorator).

    Raises
    ------
    ValueError
        When another class already has the name.
    """
    if _POLICIES.get(policy.name, policy) is not policy:
        raise ValueError(f"a policy named {policy.name!r} is registered already")
    _POLICIES[policy.name] = policy
    return policy


def make_policy(ps: Any) -> Policy:
    """The policy that a ``[ps]`` section (policy, slack, push) asks for."""
    return policy_class(ps.policy)(slack=ps.slack or 0, deltas=ps.push == "deltas")


__all__ = [
    "ASP",
    "BSP",
    "ESSP",
    "SSP",
    "UNBOUNDED",
    "Policy",
    "make_policy",
    "policy_class",
    "policy_names",
    "register_policy",
]
