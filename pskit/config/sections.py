"""The sections that describe the machines and the run: [cluster], [compute], [network], [run]."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from pskit.config.base import LARGEST_CLUSTER, PositiveTime, Rate, Section, Time, broken_rule
from pskit.config.staleness import Staleness
from pskit.config.timing import MEASURED, Distribution, Link, Model, Pause, Straggler

DEFAULT_TIME_SCALE = 0.2
"""With it 16 workers of the flagship experiment keep their times on two idle cores."""
LIVE_ONLY = {
    "time_scale": "virtual time has no scale",
    "on_death": "in virtual time there is no process that could die",
    "record": "a run in virtual time can be made again from its config, so it needs no record",
    "publish": "a run in virtual time is over before anybody could look at it",
}


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
        Literal[Model, "measured"],
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
        for key in (*Distribution.model_fields, "per_item", "reversion"):
            if key != "model" and getattr(self, key):
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
