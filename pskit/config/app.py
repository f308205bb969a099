"""The section [app]: all keys that applications have, and which of them each one has."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from pskit.apps import SYNTHETIC, app_names
from pskit.config.base import Section, broken_rule, not_one_of

_REGRESSION = frozenset({"data", "data_seed", "samples", "dim", "noise", "noise_seed", "distance"})
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
