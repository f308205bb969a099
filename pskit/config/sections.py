"""The sections of a config: [app], [ps], [cluster], [compute], [network], [run]."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from pskit.apps import app_names
from pskit.config.base import PositiveTime, Rate, Section, Time, broken_rule, not_one_of
from pskit.config.timing import Distribution, Link, Pause, Straggler
from pskit.core.policies import UNBOUNDED, Policy, policy_class, policy_names

LARGEST_CLUSTER = 100_000
DEFAULT_SLACK = 8
DEFAULT_TIME_SCALE = 0.2
"""With it 16 workers of the flagship experiment keep their times on two idle cores."""
# Keys of [app] that only some of the built-in applications have; a user's own application has them all.
APP_KEYS: dict[str, frozenset[str]] = {
    "mf": frozenset({"data", "rank", "reg", "biases", "clock_fraction", "holdout", "kernel"}),
    "quadratic": frozenset({"dim", "noise"}),
}
_OWN_APP = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def foreign_app_keys(name: str) -> frozenset[str]:
    """Return the keys of [app] that the application `name` does not have."""
    if name not in APP_KEYS:
        return frozenset()
    return frozenset().union(*APP_KEYS.values()) - APP_KEYS[name]


def foreign_ps_keys(policy: type[Policy]) -> frozenset[str]:
    """Return the keys of [ps] that `policy` leaves no choice in."""
    keys = set() if policy.takes_slack else {"slack"}
    return frozenset(keys if policy.subscribes else keys | {"push"})


class AppConfig(Section):
    """What is computed; which keys apply depends on the application."""

    name: Annotated[str, Field(description='the application, or "module:Class" for your own')] = "mf"
    data: Annotated[
        str,
        Field(
            min_length=1, description='the data: an embedded set such as "ml-small", or the path of a file'
        ),
    ] = "ml-small"
    rank: Annotated[int, Field(ge=1, le=100_000, description="the number of factors, 1 or more")] = 32
    step: Annotated[float, Field(gt=0, description="the step size, above 0")] = 0.005
    schedule: Annotated[
        Literal["constant", "inverse-sqrt"], Field(description="how the step size changes with the clock")
    ] = "constant"
    reg: Annotated[float, Field(ge=0, description="the weight of the l2 penalty, 0 or more")] = 0.05
    biases: Annotated[bool, Field(description="true to learn a bias per user and item, else false")] = False
    clock_fraction: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="the share of a worker's data that one clock covers, above 0 and at most 1",
        ),
    ] = 0.1
    clocks: Annotated[
        int, Field(ge=1, le=10**9, description="the number of clocks of each worker, 1 or more")
    ] = 100
    holdout: Annotated[
        float,
        Field(ge=0, lt=1, description="the share of the data kept back for the test loss, from 0 to below 1"),
    ] = 0.0
    kernel: Annotated[
        Literal["numba", "numpy"], Field(description="the implementation of the inner loop")
    ] = "numba"
    dim: Annotated[int, Field(ge=1, le=10**9, description="the number of unknowns, 1 or more")] = 100
    noise: Annotated[
        float, Field(ge=0, description="the standard deviation of the gradient noise, 0 or more")
    ] = 1.0
    options: dict[str, Any] = Field(
        default_factory=dict, description="a table of your own application's keys"
    )

    @field_validator("name")
    @classmethod
    def _known_application(cls, name: str) -> str:
        if name not in app_names() and not _OWN_APP.fullmatch(name):
            raise not_one_of("application", [*app_names(), "module:Class"])
        return name

    @model_validator(mode="before")
    @classmethod
    def _only_the_applications_keys(cls, given: Any) -> Any:
        if isinstance(given, dict):
            name = str(given.get("name", "mf"))
            for key in given:
                if key in foreign_app_keys(name):
                    owner = next(app for app, keys in APP_KEYS.items() if key in keys)
                    raise broken_rule(
                        f'the application "{name}" has no key "{key}"; it belongs to "{owner}"', key
                    )
        return given

    @model_serializer(mode="wrap")
    def _leave_out_foreign_keys(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        foreign = foreign_app_keys(self.name)
        return {key: value for key, value in serialize(self).items() if key not in foreign}


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

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, policy: str) -> str:
        if ":" in policy:
            try:
                policy_class(policy)
            except KeyError as error:
                raise broken_rule(str(error.args[0])) from error
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
        filled = {"slack": DEFAULT_SLACK if policy.takes_slack else 0} if bounded else {}
        return filled | ({"push": "rows"} if policy.subscribes else {}) | given


class ClusterConfig(Section):
    """The machines: one per client, with the shards on the same machines or on their own."""

    clients: Annotated[
        int, Field(ge=1, le=LARGEST_CLUSTER, description="the number of client processes, 1 or more")
    ] = 16
    threads: Annotated[
        int, Field(ge=1, le=LARGEST_CLUSTER, description="the number of workers per client, 1 or more")
    ] = 1
    placement: Annotated[
        Literal["colocated", "separate"],
        Field(
            description="where the shards are: behind the clients' network cards, or on machines of their own"
        ),
    ] = "colocated"


class ComputeConfig(Distribution):
    """The time that one clock computes: a draw of the distribution, plus `per_item` for each item of work."""

    per_item: Annotated[Time, Field(description='the time per item of work, such as "2us"')] = 0
    reversion: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="how fast a worker that is behind its schedule catches up, 0 (not at all) to 1",
        ),
    ] = 0.0
    stragglers: Annotated[
        tuple[Straggler, ...], Field(strict=False, description="a list of slow workers")
    ] = ()
    pauses: Annotated[tuple[Pause, ...], Field(strict=False, description="a list of pauses of workers")] = ()


class NetworkConfig(Section):
    """The links between clients and shards, and the card of each machine."""

    latency: Annotated[Distribution, Field(description="the distribution of the latency of every link")]
    bandwidth: Annotated[
        Rate, Field(description='the rate of each machine\'s network card, such as "1Gbit/s", or "unlimited"')
    ] = None
    loss: Annotated[float, Field(ge=0, lt=1, description="the share of messages lost, from 0 to below 1")] = (
        0.0
    )
    reorder: Annotated[bool, Field(description="true if messages may overtake each other, else false")] = (
        False
    )
    retransmit: Annotated[
        PositiveTime,
        Field(
            description='the time after which an unacknowledged message is sent again, above 0 such as "1s"'
        ),
    ] = 1_000_000_000
    links: Annotated[
        tuple[Link, ...], Field(strict=False, description="a list of exceptions for single links")
    ] = ()


class RunConfig(Section):
    """How the run is executed and recorded."""

    runtime: Annotated[
        Literal["sim", "live"],
        Field(description="how time passes: sim (virtual) or live (processes on the wall clock)"),
    ] = "sim"
    time_scale: Annotated[
        float | None,
        Field(
            gt=0, le=1000, description="the real seconds that an emulated second takes, above 0, such as 0.1"
        ),
    ] = None
    """None in virtual time, which takes no real time."""
    seed: Annotated[int, Field(ge=0, lt=2**63, description="the seed of all random numbers, 0 or more")] = 0
    trace: Annotated[
        Literal["summary", "full"],
        Field(description="whether a keyed sample of the reads is stored, or every read"),
    ] = "summary"
    diverge_factor: Annotated[
        float,
        Field(
            gt=1, description="the multiple of the initial loss above which a run counts as diverged, above 1"
        ),
    ] = 10.0
    eval_every: Annotated[
        int, Field(ge=1, description="the number of clocks between evaluations, 1 or more")
    ] = 1

    @model_validator(mode="before")
    @classmethod
    def _only_real_time_has_a_scale(cls, given: Any) -> Any:
        """Refuse a time scale in virtual time, and fill in the default of the live runtime."""
        if not isinstance(given, dict):
            return given
        if given.get("runtime", "sim") == "live":
            return {"time_scale": DEFAULT_TIME_SCALE} | given
        if "time_scale" in given:
            raise broken_rule(
                'virtual time has no scale; leave time_scale out, or choose runtime = "live"', "time_scale"
            )
        return given
