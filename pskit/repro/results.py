"""The runs of a plan, opened, and by experiment."""

from collections.abc import Iterable, Mapping

from pskit.repro.ensemble import Ensemble
from pskit.repro.plan import Plan


class Results:
    """The runs of a plan, by experiment.

    Parameters
    ----------
    plan : Plan
    errors : mapping of str to str
        Why runs could not be made, by fingerprint.
    """

    def __init__(self, plan: Plan, errors: Mapping[str, str]) -> None:
        self.plan, self.errors = plan, errors
        self._traces = {key: run.open() for key, run in plan.runs.items() if key not in errors}

    def of(self, experiments: Iterable[str]) -> tuple[Ensemble, dict[str, str]]:
        """Runs of some experiments, and why others of theirs could not be made, by the name of the run."""
        runs = self.plan.runs
        keys = dict.fromkeys(key for name in experiments for key in self.plan.members.get(name, []))
        failed = {runs[k].folder.name: self.errors[k] for k in keys if k in self.errors}
        return Ensemble([self._traces[key] for key in keys if key in self._traces]), failed

    def counts(self) -> dict[str, int]:
        """Number of runs: total, reused, made, failed."""
        total, missing = self.plan.size, sum(run.size for run in self.plan.missing)
        failed = sum(self.plan.runs[key].size for key in self.errors)
        return {"total": total, "reused": total - missing, "made": missing - failed, "failed": failed}
