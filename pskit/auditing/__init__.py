"""The auditor: verifies a finished run from its trace alone. It shares no code with the protocol."""

from pskit.auditing.audit import audit
from pskit.auditing.report import AuditReport, Violation

__all__ = ["AuditReport", "Violation", "audit"]
