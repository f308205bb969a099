"""Consistency policies by name."""

from importlib import import_module
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
    """The class registered as ``name``, or found as ``module:Class``.

    Raises
    ------
    KeyError
        When there is none, with the reason.
    """
    if name in _POLICIES:
        return _POLICIES[name]
    module, _, attribute = name.partition(":")
    if not attribute:
        raise KeyError(f"no policy {name!r}; known are {policy_names()}")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise KeyError(f"no policy {name!r}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise KeyError(f"no policy {name!r}: {attribute} is not a subclass of pskit.Policy")
    return found


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
