"""The checks of the claims, by id: each takes runs and tolerances and gives the parts of its verdict."""

from collections.abc import Callable, Mapping
from typing import Any

from pskit.repro.claims import convergence, live, staleness, theorem5, theorem6, vap
from pskit.repro.claims.parts import Part
from pskit.repro.ensemble import Ensemble

Check = Callable[[Ensemble, Mapping[str, Any]], list[Part]]

CHECKS: dict[str, Check] = {
    "F1L-1": staleness.close_to_uniform,
    "F1L-2": staleness.concentrated,
    "F1L-3": live.agree,
    "F1L-4": staleness.regimes,
    "F2M-1": convergence.ssp_diverges,
    "F2M-2": convergence.essp_converges,
    "F2M-3": convergence.ssp_shaky,
    "F2M-4": convergence.onset_later,
    "F2M-5": convergence.faster,
    "T5-1": theorem5.bounds_hold,
    "T5-2": theorem5.printed,
    "T5-3": theorem5.shaped,
    "T5-4": theorem5.rate,
    "T6-1": theorem6.adds_up,
    "T6-2": theorem6.slopes,
    "T6-3": theorem6.exact_curve,
    "T6-4": theorem6.from_moments,
    "V-1": vap.bound_holds,
    "V-2": vap.price,
    "V-3": vap.floors_of,
}
