"""Hypothesis settings of tests whose examples must be the same in every run."""

from hypothesis import HealthCheck, settings

FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
