"""Consistency policies by name."""

from importlib import import_module
from typing import Any, TypeVar

from pskit.core.messages import ProtocolViolation
from pskit.core.policies.asp import ASP
from pskit.core.policies.base import UNBOUNDED, Policy
from pskit.core.policies.bsp import BSP
from pskit.core.policies.essp import ESSP
from pskit.core.policies.ssp import SSP
from pskit.core.policies.vap import VAP

PolicyClass = TypeVar("PolicyClass", bound=type[Policy])

_POLICIES: dict[str, type[Policy]] = {p.name: p for p in (BSP, SSP, ESSP, ASP, VAP)}


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
    except (Exception, SystemExit) as error:  # of the user's module
        raise KeyError(f"no policy {name!r}: {type(error).__name__} in {module!r}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise KeyError(f"no policy {name!r}: {attribute} is not a subclass of pskit.Policy")
    return found


def register_policy(policy: PolicyClass) -> PolicyClass:
    """Make a user's policy class known under its ``name`` (usable as a decorator).

    Raises
    ------
    TypeError
        When it is no subclass of `Policy`.
    ValueError
        When it has no name of its own, or another class already has it.
    """
    given: Any = policy
    if not (isinstance(given, type) and issubclass(given, Policy)):
        raise TypeError(f"register_policy takes a subclass of pskit.Policy, got {given!r:.60}")
    own = vars(policy).get("name")
    if not isinstance(own, str) or not own or ":" in own:
        raise ValueError(
            f"policy class {policy.__qualname__} needs a name of its own, text without a colon, such as "
            f'name = "{policy.__qualname__.lower()}"'
        )
    if _POLICIES.get(policy.name, policy) is not policy:
        raise ValueError(f"a policy named {policy.name!r} is registered already")
    _POLICIES[policy.name] = policy
    return policy


def make_policy(ps: Any) -> Policy:
    """The policy that a ``[ps]`` section (policy, slack, push) asks for.

    Raises
    ------
    ProtocolViolation
        When the constructor of a user's policy fails.
    """
    try:
        return policy_class(ps.policy)(slack=ps.slack or 0, deltas=ps.push == "deltas")
    except (Exception, SystemExit) as error:
        raise ProtocolViolation(
            f"policy {ps.policy!r}: its constructor failed: {type(error).__name__}: {error}"
        ) from error


__all__ = [
    "ASP",
    "BSP",
    "ESSP",
    "SSP",
    "UNBOUNDED",
    "VAP",
    "Policy",
    "make_policy",
    "policy_class",
    "policy_names",
    "register_policy",
]
