"""Configuration of a run: one validated, frozen object that names everything its result depends on.

`load_config` reads a TOML file and `--set` overrides; `Config(...)` takes the same keys in Python. Layers,
from weak to strong: the preset, the file (or the Python arguments), the overrides.
"""

from pskit.config.app import AppConfig
from pskit.config.load import load_config
from pskit.config.model import Config
from pskit.config.presets import PRESETS
from pskit.config.ps import PsConfig
from pskit.config.sections import ClusterConfig, ComputeConfig, NetworkConfig, RunConfig
from pskit.config.timing import Distribution, Link, Pause, Straggler

__all__ = [
    "PRESETS",
    "AppConfig",
    "ClusterConfig",
    "ComputeConfig",
    "Config",
    "Distribution",
    "Link",
    "NetworkConfig",
    "Pause",
    "PsConfig",
    "RunConfig",
    "Straggler",
    "load_config",
]
