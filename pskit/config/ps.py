"""The section [ps]: the policy, and the keys that it leaves a choice in."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from pskit.apps import WHERE_MODULES_ARE
from pskit.config.base import LARGEST_CLUSTER, Section, broken_rule, not_one_of
from pskit.core.policies import UNBOUNDED, Policy, policy_class, policy_names

DEFAULT_SLACK = 8
GATE = {"v0": 1.0, "v_schedule": "inverse-sqrt", "vap_variant": "aggregate"}
"""Keys of [ps] of a policy with a gate, with their defaults."""


def foreign_ps_keys(policy: type[Policy]) -> frozenset[str]:
    """Return the keys of [ps] that `policy` leaves no choice in."""
    keys = set() if policy.takes_slack else {"slack"}
    keys |= set() if policy.subscribes else {"push"}
    return frozenset(keys if policy.gated else keys | set(GATE))


class PsConfig(Section):
    """How the parameter server keeps the workers' views together."""

    policy: Annotated[str, Field(description="the consistency policy")] = "essp"
    slack: Annotated[
        int | None, Field(ge=0, le=10**9, description="the bound on the staleness in clocks, 0 or more")
    ] = None
    """A read at clock c has all updates with tag <= c - slack - 1; None = unbounded (asp)."""
    shards: Annotated[
        int, Field(ge=1, le=LARGEST_CLUSTER, description="the number of server shards, 1 or more")
    ] = 1
    cache_rows: Annotated[
        int, Field(ge=0, description="the capacity of a client's cache in rows, 0 for all rows")
    ] = 0
    push: Annotated[
        Literal["rows", "deltas"] | None,
        Field(description="what a push carries: whole rows, or only the changed entries"),
    ] = None
    """None for a policy that does not push."""
    v0: Annotated[
        float | None,
        Field(gt=0, description="the first threshold v_1 of what a view may lack in each entry, above 0"),
    ] = None
    """This and the next two: None for a policy without a gate."""
    v_schedule: Annotated[
        Literal["inverse-sqrt", "constant"] | None,
        Field(description="how the threshold v_t falls with the count t of computations started"),
    ] = None
    vap_variant: Annotated[
        Literal["aggregate", "per_worker"] | None,
        Field(description="whether the sum of all unseen updates is bounded, or that of each worker"),
    ] = None

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, policy: str) -> str:
        if ":" in policy:
            try:
                policy_class(policy)
            except KeyError as error:
                missing = isinstance(error.__cause__, ModuleNotFoundError)
                raise broken_rule(f"{error.args[0]}{f'; {WHERE_MODULES_ARE}' * missing}") from error
        elif policy not in policy_names():
            raise not_one_of("policy", [*policy_names(), "module:Class"])
        return policy

    @model_validator(mode="before")
    @classmethod
    def _fit_the_policy(cls, given: Any) -> Any:
        """Refuse what the policy leaves no choice in, and fill in its defaults."""
        if not isinstance(given, dict):
            return given
        name = given.get("policy", "essp")
        try:
            policy = policy_class(name)
        except (KeyError, AttributeError):  # not a policy, or not even text: said about the key itself
            return given
        bounded = policy.takes_slack or policy(slack=0).need(0) != UNBOUNDED
        if not policy.takes_slack and given.get("slack", 0 if bounded else None) != (0 if bounded else None):
            what = "has slack 0 by definition" if bounded else "has no bound"
            raise broken_rule(f'the policy "{name}" {what}; leave slack out, or choose ssp or essp', "slack")
        if not policy.subscribes and "push" in given:
            raise broken_rule(f'the policy "{name}" pushes nothing; leave push out', "push")
        for key in GATE:
            if not policy.gated and given.get(key) is not None:
                raise broken_rule(
                    f'the policy "{name}" bounds no values; leave {key} out, or choose vap', key
                )
        filled = {"slack": DEFAULT_SLACK if policy.takes_slack else 0} if bounded else {}
        return (
            filled | ({"push": "rows"} if policy.subscribes else {}) | (GATE if policy.gated else {}) | given
        )
