"""Imported by the fork server before it forks: children begin with everything imported and compiled."""

import pskit.runtime.live.child  # noqa: F401
from pskit.apps.mf import MatrixFactorization
from pskit.core.policies import policy_class, policy_names
from pskit.runtime.live.warmup import perform, rehearse

for _policy in policy_names():
    for _push in ("rows", "deltas") if policy_class(_policy).subscribes else (None,):
        rehearse(_policy, _push, ("f4", "f8", "i4", "i8"))

# The kernels of the application that everybody runs first; those of others are loaded by each process.
perform(
    MatrixFactorization(),
    "ssp",
    None,
    data="ml-small",
    rank=2,
    step=0.001,
    schedule="constant",
    reg=0.0,
    biases=False,
    clock_fraction=0.01,
    clocks=2,
    holdout=0.0,
    kernel="numba",
)
