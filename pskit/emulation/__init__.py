"""The emulated cluster: keyed random streams, compute times, and the network.

Pure samplers: nothing here knows the protocol or a runtime. Every number is a function of seed, name and
count, made of operations that are exact or fixed by IEEE 754, so emulated times are equal on every platform.
"""

from pskit.emulation.compute import ComputeModel
from pskit.emulation.network import Network
from pskit.emulation.samplers import Quantile, Sampler
from pskit.emulation.streams import Stream

__all__ = ["ComputeModel", "Network", "Quantile", "Sampler", "Stream"]
