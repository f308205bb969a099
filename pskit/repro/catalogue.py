"""What is to be reproduced: claims, figures and experiments, read from the project's TOML files."""

import tomllib
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pskit.config import Config
from pskit.errors import InputError

Profile = Literal["quick", "default", "full"]
PROFILES: tuple[Profile, ...] = ("quick", "default", "full")
Varies = Literal["run.seed", "app.noise_seed"]
"""What the runs of a batch differ in: schedule, samples and noise, or these without the schedule."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_Kind = TypeVar("_Kind", bound=_Entry)


class Sweep(_Entry):
    """A family of configs: every combination of the values in `over`, on top of `set`.

    Keys are dotted (``"ps.slack"``). `seconds` is about what a run takes, for the estimate before the start.
    `seeds` is how many seeds a profile takes, where they are fewer than the experiment's.
    """

    set: dict[str, Any] = {}
    over: dict[str, list[Any]] = {}
    profiles: tuple[Profile, ...] = PROFILES
    seconds: float = 1.0
    seeds: dict[Profile, Annotated[int, Field(ge=1)]] = {}

    def combinations(self) -> list[dict[str, Any]]:
        """The dotted keys of every config."""
        return [
            self.set | dict(zip(self.over, values, strict=True)) for values in product(*self.over.values())
        ]


class Experiment(_Entry):
    """One item of the paper: a base config, sweeps over it, and how many seeds a profile takes.

    With a `measure` its runs are made in batches that keep columns instead of traces: `pskit.repro.batches`
    says how, and what `batch` and `varies` are.
    """

    title: str
    seeds: dict[Profile, Annotated[int, Field(ge=1)]]
    first_seed: Annotated[int, Field(ge=0)] = 1
    measure: str = ""
    batch: Annotated[int, Field(ge=0)] = 0
    varies: Varies = "run.seed"
    base: dict[str, Any] = {}
    sweeps: tuple[Sweep, ...]

    def configs(self, profile: Profile) -> list[tuple[Config, float]]:
        """Configs of `profile`, seeds from `first_seed` on, and the seconds that each may take."""
        found = []
        for seed in self._seeds(profile):
            for sweep in self.sweeps:
                if seed in self._seeds(profile, sweep):
                    for keys in sweep.combinations():
                        cfg = Config(**with_keys(self.base, keys | {self.varies: seed}))
                        found.append((cfg, sweep.seconds))
        return found

    def batches(self, profile: Profile) -> list[tuple[Config, range, float]]:
        """Configs of `profile` without their seeds, the seeds of each batch, and the seconds of one run."""
        found = []
        for sweep in self.sweeps:
            seeds = self._seeds(profile, sweep)
            if not seeds:
                continue
            size = self.batch or len(seeds)
            for keys in sweep.combinations():
                cfg = Config(**with_keys(self.base, keys))
                found += [(cfg, seeds[i : i + size], sweep.seconds) for i in range(0, len(seeds), size)]
        return found

    def _seeds(self, profile: Profile, sweep: Sweep | None = None) -> range:
        """Seeds of `profile`, or those of them that a sweep takes."""
        count = self.seeds[profile]
        if sweep is not None:
            count = min(count, sweep.seeds.get(profile, count)) if profile in sweep.profiles else 0
        return range(self.first_seed, self.first_seed + count)


class Claim(_Entry):
    """A claim of the paper and what we expect of it.

    Attributes
    ----------
    paper : str
        What the paper says, or would have to say.
    expected : str
        The recorded expectation, in words; `tolerance` has its numbers.
    met : {"PASS", "FINDING"}
        What a met expectation means: the claim holds, or it does not and this is why (`explanation`).
    set_after : str
        What had been seen when its numbers were set; empty if they were fixed beforehand.
    untested : str
        Why nothing is tested; then the claim needs no experiments.
    """

    paper: str
    expected: str
    experiments: tuple[str, ...] = ()
    tolerance: dict[str, Any] = {}
    met: Literal["PASS", "FINDING"] = "PASS"
    explanation: str = ""
    set_after: str = ""
    untested: str = ""


class FigureEntry(_Entry):
    """A figure: the module ``figures/NAME.py`` draws it from the runs of `experiments`."""

    title: str
    caption: str
    experiments: tuple[str, ...]
    claims: tuple[str, ...] = ()


class Catalogue(_Entry):
    """Everything that can be asked for."""

    figures: dict[str, FigureEntry]
    claims: dict[str, Claim]
    experiments: dict[str, Experiment] = {}

    def choose(self, only: Sequence[str]) -> list[str]:
        """Ids of the claims that `only` names by id or by the beginning of one; all of them if it is empty.

        Raises
        ------
        InputError
            On a name that fits no claim, with the list.
        """
        for name in only:
            if not name or not any(claim.startswith(name) for claim in self.claims):
                known = ", ".join(self.claims)
                raise InputError(
                    f"no claim begins with {name!r}; there are {known}. A beginning such as F2M means all."
                )
        return [claim for claim in self.claims if not only or claim.startswith(tuple(only))]

    def figures_for(self, claims: Sequence[str]) -> list[str]:
        """Names of the figures of `claims`, and of all others whose runs these claims need anyway."""
        wanted, there = set(claims), set(self.needs(claims, ()))
        return [
            name
            for name, figure in self.figures.items()
            if wanted & set(figure.claims) or there.issuperset(figure.experiments)
        ]

    def figure_of(self, claim: str) -> str | None:
        """Name of the figure that shows `claim`."""
        return next((name for name, figure in self.figures.items() if claim in figure.claims), None)

    def needs(self, claims: Iterable[str], figures: Iterable[str]) -> list[str]:
        """Names of the experiments that claims and figures draw on, in the order of the files."""
        wanted = {e for c in claims if not self.claims[c].untested for e in self.claims[c].experiments}
        wanted |= {e for f in figures for e in self.figures[f].experiments}
        return [name for name in self.experiments if name in wanted]


def with_keys(base: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """Copy of the nested dicts `base` with the dotted `keys` set."""
    tree: dict[str, Any] = {k: with_keys(v, {}) if isinstance(v, dict) else v for k, v in base.items()}
    for dotted, value in keys.items():
        *path, last = dotted.split(".")
        table = tree
        for key in path:
            table = table.setdefault(key, {})
        table[last] = value
    return tree


def load_catalogue(figures_toml: Path, experiments: Path) -> Catalogue:
    """Read ``figures.toml`` and the experiments that it names.

    Raises
    ------
    InputError
        On a file that is missing or not as expected, and on a name that leads nowhere.
    """
    catalogue = _read(figures_toml, Catalogue)
    named = {e for figure in catalogue.figures.values() for e in figure.experiments}
    named |= {e for claim in catalogue.claims.values() for e in claim.experiments}
    for name, figure in catalogue.figures.items():
        unknown = [claim for claim in figure.claims if claim not in catalogue.claims]
        if unknown:
            raise InputError(
                f"{figures_toml}: the figure {name!r} shows unknown claims: {', '.join(unknown)}"
            )
    found = {name: _read(experiments / f"{name}.toml", Experiment) for name in sorted(named)}
    return catalogue.model_copy(update={"experiments": found})


def _read(path: Path, kind: type[_Kind]) -> _Kind:
    try:
        return kind(**tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {place}: {first['msg']}") from None
