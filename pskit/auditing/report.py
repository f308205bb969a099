"""The result of an audit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """A rule that the trace breaks.

    Attributes
    ----------
    check : str
        Name of the check.
    count : int
        How often.
    story : str
        The first time: who did what, what is wrong with it, which messages led there.
    """

    check: str
    count: int
    story: str

    def __str__(self) -> str:
        times = "" if self.count == 1 else f" ({self.count:,} times; the first)"
        return f"{self.check}{times}: {self.story}"


@dataclass(frozen=True)
class AuditReport:
    """What an audit checked and found.

    Attributes
    ----------
    violations : tuple of Violation
        In the order of the checks: what others build on comes first.
    checked : dict of str to int
        By check, how many things it looked at.
    skipped : dict of str to str
        By check that was not made, why.
    reads : int
        Rows of reads in the trace, all of them checked.
    total_reads : int
        Rows of reads of the run.
    """

    violations: tuple[Violation, ...]
    checked: dict[str, int]
    skipped: dict[str, str]
    reads: int
    total_reads: int

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.violations

    @property
    def share(self) -> float:
        """Share of the run's reads that the trace has, and that were checked; 1 for a run without reads."""
        return self.reads / self.total_reads if self.total_reads else 1.0

    @property
    def story(self) -> str:
        """The first violation as a story, empty when there is none."""
        return str(self.violations[0]) if self.violations else ""

    def __str__(self) -> str:
        scope = f"{len(self.checked)} checks, {self.reads:,} of {self.total_reads:,} reads ({self.share:.1%})"
        return f"audit: {scope}: no violation" if self.ok else f"audit: {scope}\n{self.story}"
