"""What a batch of runs (`pskit.repro.batches`) is measured for: configs in, columns out.

A measure takes the configs of a batch, which differ in one seed alone, makes the runs, and gives arrays by
name, in general with a row per run. Its name stands in the experiment's TOML. Runs of one worker process are
made one after another; several batches at a time make use of several cores.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from pskit.config import Config
from pskit.repro.measured import counterexample, shaped, theorem5, theorem6, vap

Measure = Callable[[Sequence[Config]], Mapping[str, npt.NDArray[Any]]]

MEASURES: dict[str, Measure] = {
    "counterexample": counterexample.measured,
    "theorem5": theorem5.measured,
    "shaped": shaped.measured,
    "variance": theorem6.variance,
    "scaling": theorem6.scaling,
    "vap-bound": vap.bounded,
    "vap-floor": vap.floor,
}
