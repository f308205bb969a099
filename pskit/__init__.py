"""A single-node parameter-server laboratory: BSP, SSP, ESSP, ASP and VAP, in virtual time or live.

    cfg = pskit.load_config("experiments/mf.toml", overrides=["ps.policy=essp"])
    trace = pskit.run(cfg, out="runs/a")
    trace.staleness().mean()

Names are imported on first use, so that ``import pskit`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pskit.analysis.trace import Trace, open_trace
    from pskit.apps.base import TableSpec
    from pskit.auditing import audit
    from pskit.config import Config, load_config
    from pskit.core.policies import Policy, register_policy
    from pskit.errors import AppError, Blocked, InputError, RunFailed
    from pskit.replaying import open_replay, replay
    from pskit.running import run
    from pskit.runtime.live.viewing import attach
    from pskit.sessions import Session, session

_HOME = {
    "AppError": "pskit.errors",
    "Blocked": "pskit.errors",
    "Config": "pskit.config",
    "InputError": "pskit.errors",
    "Policy": "pskit.core.policies",
    "RunFailed": "pskit.errors",
    "Session": "pskit.sessions",
    "TableSpec": "pskit.apps.base",
    "Trace": "pskit.analysis.trace",
    "attach": "pskit.runtime.live.viewing",
    "audit": "pskit.auditing",
    "load_config": "pskit.config",
    "open_replay": "pskit.replaying",
    "open_trace": "pskit.analysis.trace",
    "register_policy": "pskit.core.policies",
    "replay": "pskit.replaying",
    "run": "pskit.running",
    "session": "pskit.sessions",
}

__version__ = "0.1.0"
__all__ = [
    "AppError",
    "Blocked",
    "Config",
    "InputError",
    "Policy",
    "RunFailed",
    "Session",
    "TableSpec",
    "Trace",
    "attach",
    "audit",
    "load_config",
    "open_replay",
    "open_trace",
    "register_policy",
    "replay",
    "run",
    "session",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name in _HOME:
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pskit' has no attribute {name!r}")
