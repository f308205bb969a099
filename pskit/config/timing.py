"""Random times and their exceptions: distributions, stragglers, pauses, per-link overrides."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pskit.config.base import PositiveTime, Section, Time, broken_rule

# Which parameters a model takes; all of them must be given. `floor` belongs to every model.
MODEL_PARAMETERS: dict[str, tuple[str, ...]] = {
    "constant": ("mean",),
    "uniform": ("low", "high"),
    "exponential": ("mean",),
    "lognormal": ("mean", "cv"),
    "pareto": ("mean", "alpha"),
    "bimodal": ("mean", "far", "p_far"),
    "empirical": ("file",),
}
Model = Literal["constant", "uniform", "exponential", "lognormal", "pareto", "bimodal", "empirical"]
MEASURED = "measured"
"""Not a distribution: the real time of what is computed."""
_PARAMETERS = sorted({name for names in MODEL_PARAMETERS.values() for name in names})

_ENDPOINT = re.compile(r"(client|shard):(\*|0|[1-9][0-9]{0,8})")


class Distribution(Section):
    """The distribution of a time, drawn as ``floor + X``; X follows `model`."""

    model: Annotated[Model, Field(description="the distribution of the time X, which is added to floor")]
    floor: Annotated[Time, Field(description='a time added to every draw, such as "1s"')] = 0
    mean: Annotated[Time | None, Field(description='the mean of X, a time such as "100ms"')] = None
    low: Annotated[Time | None, Field(description="the shortest X, a time")] = None
    high: Annotated[Time | None, Field(description="the longest X, a time not below low")] = None
    cv: Annotated[
        float | None, Field(gt=0, le=100, description="standard deviation / mean of X, above 0")
    ] = None
    alpha: Annotated[
        float | None, Field(gt=1, le=1000, description="the tail index, above 1 (a finite mean)")
    ] = None
    far: Annotated[Time | None, Field(description="the rare value of X, a time")] = None
    p_far: Annotated[float | None, Field(ge=0, le=1, description="the probability of far, from 0 to 1")] = (
        None
    )
    file: Annotated[
        str | None,
        Field(min_length=1, description="the path of a text file with one time in seconds per line"),
    ] = None

    @model_validator(mode="after")
    def _only_the_models_parameters(self) -> Self:
        if self.model not in MODEL_PARAMETERS:
            return self
        needed = MODEL_PARAMETERS[self.model]
        takes = f'the model "{self.model}" takes floor, {" and ".join(needed)}'
        for name in _PARAMETERS:
            if name not in needed and getattr(self, name) is not None:
                raise broken_rule(f"{takes}; it has no {name}", name)
        for name in needed:
            if getattr(self, name) is None:
                raise broken_rule(
                    f"{name} is missing: {takes} (naming a model starts a new distribution)", "model"
                )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise broken_rule("high may not be below low", "high")
        return self


class Straggler(Section):
    """A worker whose compute times are multiplied by `factor` in some of its clocks."""

    worker: Annotated[int, Field(ge=0, description="the number of a worker, counted from 0")]
    factor: Annotated[float, Field(gt=0, le=1e6, description="the factor on the compute time, above 0")]
    from_clock: Annotated[int, Field(ge=0, description="the first slow clock, 0 or more")] = 0
    until_clock: Annotated[int | None, Field(description="the first clock after the slow ones")] = None
    probability: Annotated[
        float, Field(gt=0, le=1, description="the probability that a clock is slow, above 0 and at most 1")
    ] = 1.0

    @model_validator(mode="after")
    def _at_least_one_clock(self) -> Self:
        if self.until_clock is not None and self.until_clock <= self.from_clock:
            raise broken_rule(f"until_clock must be above from_clock = {self.from_clock}", "until_clock")
        return self


class Pause(Section):
    """A span of time in which a worker computes nothing."""

    worker: Annotated[int, Field(ge=0, description="the number of a worker, counted from 0")]
    at: Annotated[Time, Field(description='the time at which the pause begins, such as "20s"')]
    duration: Annotated[
        PositiveTime, Field(description='how long the pause lasts, a time above 0 such as "5s"')
    ]


class Link(Section):
    """What is different on the directed links from `src` to `dst`; a later entry wins over an earlier one."""

    src: Annotated[str, Field(description='the sender: "client:3", "client:*", "shard:0" or "shard:*"')]
    dst: Annotated[str, Field(description='the receiver: "shard:0", "shard:*", "client:3" or "client:*"')]
    latency: Annotated[
        Distribution | None, Field(description="the distribution of the latency of these links")
    ] = None
    loss: Annotated[
        float | None,
        Field(ge=0, lt=1, description="the share of messages lost on these links, from 0 to below 1"),
    ] = None
    reorder: Annotated[
        bool | None, Field(description="true if messages on these links may overtake each other, else false")
    ] = None

    @model_validator(mode="after")
    def _joins_a_client_and_a_shard(self) -> Self:
        kinds = []
        for key in ("src", "dst"):
            match = _ENDPOINT.fullmatch(getattr(self, key))
            if match is None:
                raise broken_rule(
                    'an endpoint is written "client:3", "client:*", "shard:0" or "shard:*"', key
                )
            kinds.append(match[1])
        if kinds[0] == kinds[1]:
            raise broken_rule("messages travel only between a client and a shard, in either direction", "dst")
        if self.latency is None and self.loss is None and self.reorder is None:
            raise broken_rule("a link must give at least one of latency, loss, reorder")
        return self
