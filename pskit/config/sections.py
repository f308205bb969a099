"""The sections of a config: [app], [ps], [cluster], [compute], [network], [run]."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from pskit.apps import app_names
from pskit.config.base import PositiveTime, Rate, Section, Time, broken_rule, not_one_of
from pskit.config.staleness import Staleness
from pskit.config.timing import MEASURED, Distribution, Link, Pause, Straggler
from pskit.core.policies import UNBOUNDED, Policy, policy_class, policy_names

LARGEST_CLUSTER = 100_000
DEFAULT_SLACK = 8
GATE = {"v0": 1.0, "v_schedule": "inverse-sqrt", "vap_variant": "aggregate"}
"""Keys of [ps] of a policy with a gate, with their defaults."""
SYNTHETIC = "synthetic"
DEFAULT_TIME_SCALE = 0.2
"""With it 16 workers of the flagship experiment keep their times on two idle cores."""
_REGRESSION = frozenset({"data", "data_seed", "samples", "dim", "noise", "noise_seed", "distance"})
LIVE_ONLY = {
    "time_scale": "virtual time has no scale",
    "on_death": "in virtual time there is no process that could die",
    "record": "a run in virtual time can be made again from its config, so it needs no record",
    "publish": "a run in virtual time is over before anybody could look at it",
}
# Keys of [app] that only some of the built-in applications have; a user's own application has them all.
APP_KEYS: dict[str, frozenset[str]] = {
    "mf": frozenset({"data", "rank", "reg", "biases", "clock_fraction", "holdout", "kernel"}),
    "quadratic": frozenset({"dim", "noise", "noise_seed", "distance", "curvature", "random_start"}),
    "absolute": _REGRESSION,
    "huber": _REGRESSION | {"threshold"},
    "logistic": _REGRESSION,
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
    keys |= set() if policy.subscribes else {"push"}
    return frozenset(keys if policy.gated else keys | set(GATE))


class AppConfig(Section):
    """What is computed; which keys apply depends on the application."""

    name: Annotated[str, Field(description='the application, or "module:Class" for your own')] = "mf"
    data: Annotated[
        str,
        Field(
            min_length=1,
            description='the data: an embedded set such as "ml-small", "synthetic" for a convex application, '
            "or the path of a file",
        ),
    ] = "ml-small"
    """Of a convex application: "synthetic"."""
    rank: Annotated[int, Field(ge=1, le=100_000, description="the number of factors, 1 or more")] = 32
    step: Annotated[float, Field(gt=0, description="the step size, above 0")] = 0.005
    schedule: Annotated[
        Literal["constant", "inverse-sqrt", "inverse-sqrt-t"],
        Field(description="how the step size falls: with the clock, or with the clock-major index t"),
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
    noise_seed: Annotated[
        int | None,
        Field(ge=0, lt=2**63, description="the seed of samples and gradient noise alone, 0 or more"),
    ] = None
    """None: run.seed, which times and latencies always follow."""
    distance: Annotated[
        float | None, Field(gt=0, description="the distance from the start to the true parameters, above 0")
    ] = None
    """None: 1 in every coordinate."""
    curvature: Annotated[
        tuple[Annotated[float, Field(gt=0)], ...],
        Field(strict=False, description="a list of curvatures, one above 0 for each unknown"),
    ] = ()
    """Empty: evenly spaced from 1 down to 1/4."""
    random_start: Annotated[
        bool, Field(description="true to start in a direction drawn from the noise seed, else false")
    ] = False
    samples: Annotated[
        int, Field(ge=1, le=10**7, description="the number of synthetic samples, 1 or more")
    ] = 1000
    data_seed: Annotated[
        int, Field(ge=0, lt=2**63, description="the seed of the synthetic data, 0 or more")
    ] = 0
    threshold: Annotated[
        float, Field(gt=0, description="the residual at which the Huber loss turns linear, above 0")
    ] = 0.1
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
            curvature = given.get("curvature")
            if isinstance(curvature, list | tuple) and curvature:
                given = {"dim": len(curvature)} | given
            if APP_KEYS.get(name, frozenset()) >= _REGRESSION:
                given = {"data": SYNTHETIC} | given
        return given

    @model_validator(mode="after")
    def _one_curvature_for_each_unknown(self) -> Self:
        if self.curvature and len(self.curvature) != self.dim:
            message = f"{len(self.curvature)} curvatures for dim = {self.dim} unknowns; give one for each"
            raise broken_rule(message, "curvature")
        return self

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
        for key in GATE:
            if not policy.gated and given.get(key) is not None:
                raise broken_rule(
                    f'the policy "{name}" bounds no values; leave {key} out, or choose vap', key
                )
        filled = {"slack": DEFAULT_SLACK if policy.takes_slack else 0} if bounded else {}
        return (
            filled | ({"push": "rows"} if policy.subscribes else {}) | (GATE if policy.gated else {}) | given
        )


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
    """The time that one clock computes: a draw of the distribution, plus `per_item` for each item of work.

    Under the model "measured" it is the real time of the kernels, on the scale of the run.
    """

    model: Annotated[  # type: ignore[assignment]  # one more than a distribution has
        Literal[
            "constant", "uniform", "exponential", "lognormal", "pareto", "bimodal", "empirical", "measured"
        ],
        Field(
            description='the distribution of the time X, which is added to floor; or "measured" (live only)'
        ),
    ]
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

    @model_validator(mode="after")
    def _nothing_is_added_to_what_is_measured(self) -> Self:
        if self.model != MEASURED:
            return self
        for key in (
            "floor",
            "mean",
            "low",
            "high",
            "cv",
            "alpha",
            "far",
            "p_far",
            "file",
            "per_item",
            "reversion",
        ):
            if getattr(self, key):
                raise broken_rule(
                    f'the model "{MEASURED}" takes the real time of the kernels; it has no {key}', key
                )
        for place, straggler in enumerate(self.stragglers):
            if straggler.factor < 1:
                message = "a computation that is measured cannot be made faster than it is; give 1 or more"
                raise broken_rule(message, "stragglers", place, "factor")
        return self


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
    staleness: Annotated[
        Staleness | None,
        Field(description="a law of the ages of reads, for which pushes are held back by whole clocks"),
    ] = None
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
    record: Annotated[
        bool | None, Field(description="true to store what `pskit replay` needs (live only), else false")
    ] = None
    """None: no."""
    publish: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,29}$",
            description="a name under which viewers see the run while it lasts (live only): 1 to 30 letters, "
            "digits, dots, hyphens or underscores",
        ),
    ] = None
    on_death: Annotated[
        Literal["stop", "continue"] | None,
        Field(description="what happens when a client's process dies (live only): the run stops or goes on"),
    ] = None
    diverge_factor: Annotated[
        float,
        Field(
            gt=1, description="the multiple of the initial loss above which a run counts as diverged, above 1"
        ),
    ] = 10.0
    eval_every: Annotated[
        int, Field(ge=1, description="the number of clocks between evaluations, 1 or more")
    ] = 1

    @field_validator("record")
    @classmethod
    def _no_is_the_default(cls, record: bool | None) -> bool | None:
        return record or None

    @model_validator(mode="before")
    @classmethod
    def _only_real_time_has_a_scale(cls, given: Any) -> Any:
        """Refuse in virtual time what belongs to real time, and fill in the defaults of the live runtime."""
        if not isinstance(given, dict):
            return given
        if given.get("runtime", "sim") == "live":
            filled: dict[str, Any] = {"time_scale": DEFAULT_TIME_SCALE, "on_death": "stop"}
            if given.get("record") is True:
                if given.get("on_death") == "continue":
                    raise broken_rule("a run that goes on after a death cannot be replayed", "on_death")
                if given.get("trace", "full") != "full":
                    raise broken_rule(
                        'a recorded run stores every read and message; leave trace out, or set it to "full"',
                        "trace",
                    )
                filled["trace"] = "full"
            return filled | given
        for key, why in LIVE_ONLY.items():
            if given.get(key):
                raise broken_rule(f'{why}; leave {key} out, or choose runtime = "live"', key)
        return given
