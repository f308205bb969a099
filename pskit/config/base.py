"""What all sections share: strict frozen models, types with units, the errors of rules between keys."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from pskit.errors import InputError
from pskit.units import format_rate, format_time, parse_rate, parse_time

LARGEST_CLUSTER = 100_000
"""The most clients, threads, shards or workers."""

# A field's description completes the sentence "KEY is ..." in error messages, so it says what is allowed.
Time = Annotated[int, BeforeValidator(parse_time), PlainSerializer(format_time, return_type=str)]
PositiveTime = Annotated[Time, Field(gt=0)]
Rate = Annotated[int | None, BeforeValidator(parse_rate), PlainSerializer(format_rate, return_type=str)]


class Section(BaseModel):
    """A table of the config: unknown keys and wrong types are refused, and nothing can be changed later."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def __setattr__(self, name: str, value: Any) -> None:
        raise self._unchangeable(name, f" = {value!r:.60}")

    def __delattr__(self, name: str) -> None:
        raise self._unchangeable(name, ", to be deleted")

    def _unchangeable(self, name: str, how: str) -> InputError:
        kind = type(self).__name__
        section = kind.removesuffix("Config").lower() if kind.endswith("Config") else ""
        key = f"{section}.{name}" if section else name
        return InputError(
            f"{key}{how}: a config is never changed, its runs are known by it. Make another: "
            f'load_config(FILE, ["{key}=..."]), or Config(**TABLES) of a changed cfg.to_dict()'
        )


def broken_rule(message: str, *path: str | int) -> PydanticCustomError:
    """Make the error of a rule between keys.

    Parameters
    ----------
    message : what is wrong and what is allowed, without full stop.
    path : the key to blame, relative to the model whose validator raises.
    """
    return PydanticCustomError("broken_rule", "{message}", {"message": message, "path": path})


def not_one_of(what: str, allowed: list[str]) -> PydanticCustomError:
    """Make the error of a value that is not among the `allowed` names."""
    return PydanticCustomError("not_one_of", "unknown {what}", {"what": what, "allowed": allowed})
