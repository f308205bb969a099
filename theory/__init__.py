"""Bounds and identities of arXiv 1410.8043 (SSP, ESSP, VAP), as printed and as corrected.

One file per theorem. Every bound function takes keyword arguments named as in the paper, accepts NumPy arrays
for sweeps and returns a `Bound` with value, assumptions and source. Sources read `[1410.8043, Thm 5] as
printed`, `... corrected` or `new: ...`. The command line is `python -m theory thm5 --eta .5 --L 1 ...`; SymPy
derivations are in `theory.derivations` and are imported only when asked for.

| file | result |
|---|---|
| `thm1`, `thm2` | VAP: regret, remainder of the variance |
| `thm3` | SSP, ESSP: pathwise regret |
| `thm5`, `thm5_variants` | tail of the regret from moments of gamma, of counts (5-k), of gamma^eta (5-eta) |
| `thm6`, `thm6_moments` | exact change of the variance; its prediction under A1 and A2 |
| `lemma4`, `appendix_a1`, `appendix_a2` | the lemmas; certificate C0 |
| `delay_regret` | regret from a run's own delays (C2, C3) |
| `intervals` | run-level tail (5-run), Clopper-Pearson, Maurer-Pontil |
| `concentration`, `chernoff` | Bernstein, Bennett; per-term, two-point and Cramer |
| `staleness`, `moments`, `assumptions` | gamma and counts of a run, their moments, diagnostics of A1 and A2 |
| `delay_model`, `linear` | quadratics: iid-delay model; exact recursion for a recorded schedule |
"""

from theory._sums import harmonic_sums
from theory.appendix_a1 import Certificate, lemma_a1, regret_certificate
from theory.appendix_a2 import lemma_a2_remainder
from theory.assumptions import AssumptionReport, PairedTest, check_assumptions, same_schedule_test
from theory.bound import Bound
from theory.concentration import bennett_tail, bernstein_tail
from theory.delay_model import delay_moments, largest_stable_step
from theory.delay_regret import delay_adaptive_regret, smooth_regret
from theory.intervals import clopper_pearson_upper, maurer_pontil_upper, run_tail
from theory.lemma4 import lemma4_gamma, lemma4_ubar, lemma4_weights
from theory.linear import LinearMoments, linear_recursion, linear_terms
from theory.moments import Moments, gamma_moments, vector_moments
from theory.staleness import Counts, Gamma, counts, gamma, gamma_vectors, prefix_visibility, read_start_counts
from theory.thm1 import thm1_regret, thm1_regret_printed
from theory.thm2 import thm2_drift, thm2_drift_printed, thm2_remainder
from theory.thm3 import n_max, thm3_ho2013, thm3_optimal, thm3_regret
from theory.thm5 import METHODS, thm5_center, thm5_deviation, thm5_tail
from theory.thm5_variants import thm5_tail_counts, thm5_tail_steps
from theory.thm6 import Closure, thm6_as_printed, thm6_closure, thm6_terms
from theory.thm6_moments import (
    Thm6SampleMoments,
    Thm6Samples,
    thm6_defect,
    thm6_from_moments,
    thm6_sample_moments,
)

__all__ = [
    "METHODS",
    "AssumptionReport",
    "Bound",
    "Certificate",
    "Closure",
    "Counts",
    "Gamma",
    "LinearMoments",
    "Moments",
    "PairedTest",
    "Thm6SampleMoments",
    "Thm6Samples",
    "bennett_tail",
    "bernstein_tail",
    "check_assumptions",
    "clopper_pearson_upper",
    "counts",
    "delay_adaptive_regret",
    "delay_moments",
    "gamma",
    "gamma_moments",
    "gamma_vectors",
    "harmonic_sums",
    "largest_stable_step",
    "lemma4_gamma",
    "lemma4_ubar",
    "lemma4_weights",
    "lemma_a1",
    "lemma_a2_remainder",
    "linear_recursion",
    "linear_terms",
    "maurer_pontil_upper",
    "n_max",
    "prefix_visibility",
    "read_start_counts",
    "regret_certificate",
    "run_tail",
    "same_schedule_test",
    "smooth_regret",
    "thm1_regret",
    "thm1_regret_printed",
    "thm2_drift",
    "thm2_drift_printed",
    "thm2_remainder",
    "thm3_ho2013",
    "thm3_optimal",
    "thm3_regret",
    "thm5_center",
    "thm5_deviation",
    "thm5_tail",
    "thm5_tail_counts",
    "thm5_tail_steps",
    "thm6_as_printed",
    "thm6_closure",
    "thm6_defect",
    "thm6_from_moments",
    "thm6_sample_moments",
    "thm6_terms",
    "vector_moments",
]
