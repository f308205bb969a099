"""The table [network.staleness]: a law of ages that latencies are made for."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pskit.config.base import Section, broken_rule

# Which parameters a law takes; all of them must be given.
LAW_PARAMETERS: dict[str, tuple[str, ...]] = {
    "fixed": ("age",),
    "uniform": ("low", "high"),
    "bimodal": ("near", "far", "p_far"),
    "heavy-tail": ("mean", "bound"),
    "histogram": ("shares",),
}
_PARAMETERS = sorted({name for names in LAW_PARAMETERS.values() for name in names})
LARGEST_AGE = 100_000

_Age = Annotated[int | None, Field(ge=1, le=LARGEST_AGE, description="an age in clocks, 1 or more")]


class Staleness(Section):
    """A law of the ages of reads, in clocks; 1 is the least where all clocks take the same time."""

    law: Annotated[
        Literal["fixed", "uniform", "bimodal", "heavy-tail", "histogram"],
        Field(description="the law of the ages of reads"),
    ]
    drawn: Annotated[
        Literal["run", "clock"],
        Field(description='when ages are drawn: "run" (one age for a whole run) or "clock" (they change)'),
    ] = "run"
    age: _Age = None
    low: _Age = None
    high: _Age = None
    near: _Age = None
    far: _Age = None
    p_far: Annotated[
        float | None, Field(gt=0, lt=1, description="the share of far (with near), above 0 and below 1")
    ] = None
    bridge: Annotated[
        float,
        Field(ge=0, lt=1, description="the share of the ages between near and far, from 0 to below 1"),
    ] = 0.0
    mean: Annotated[float | None, Field(gt=1, description="the mean age in clocks, above 1")] = None
    bound: _Age = None
    shares: Annotated[
        tuple[Annotated[float, Field(ge=0)], ...],
        Field(strict=False, max_length=LARGEST_AGE, description="a list of shares of the ages 1, 2, ..."),
    ] = ()

    @model_validator(mode="after")
    def _only_the_laws_parameters(self) -> Self:
        needed = LAW_PARAMETERS[self.law]
        takes = f'the law "{self.law}" takes {" and ".join(needed)}'
        for name in _PARAMETERS:
            given = getattr(self, name) not in (None, ())
            if given and name not in needed:
                raise broken_rule(f"{takes}; it has no {name}", name)
            if not given and name in needed:
                raise broken_rule(f"{name} is missing: {takes}", "law")
        if self.bridge and self.law != "bimodal":
            raise broken_rule(f"{takes}; it has no bridge", "bridge")
        for least, most in (("low", "high"), ("near", "far")):
            lower, upper = getattr(self, least), getattr(self, most)
            if lower is not None and upper is not None and not lower < upper:
                raise broken_rule(f"{most} must be above {least} = {lower}", most)
        if self.bridge and self.near is not None and self.far == self.near + 1:
            raise broken_rule("there is no age between near and far; leave bridge out", "bridge")
        if self.law == "histogram" and not self.shares[-1]:
            raise broken_rule("the last of the shares must be above 0", "shares")
        return self

    @property
    def largest(self) -> int:
        """The largest age."""
        return self.age or self.high or self.far or self.bound or len(self.shares)
