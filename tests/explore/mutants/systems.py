"""Small systems in which the explorer finds planted bugs."""

from pskit.explore import System

SSP = System("ssp", slack=0, shards=1, clocks=1)
SSP1 = System("ssp", slack=1, shards=1, clocks=2)
SSP_THREADS = System("ssp", slack=0, clients=1, threads=2, shards=1, clocks=1)
APART = System("ssp", slack=0, clients=1, threads=2, shards=1, scripts={0: "C G0 L", 1: "G0 C L"})
ESSP0 = System("essp", slack=0, shards=1, clocks=1)
ESSP1 = System("essp", slack=1, shards=1, clocks=2)
ESSP_SHARDS = System("essp", slack=0, shards=2, clocks=1)
ESSP_IDLE = System("essp", slack=0, shards=1, scripts={0: "G0 C G0 L", 1: "G0 C G0 L"})
DELTAS = System("essp", slack=1, deltas=True, shards=1, clocks=2)
EVICTING = System("essp", slack=0, shards=1, clocks=1, evictions=True)
TINY_CACHE = System("ssp", slack=0, shards=1, rows=2, clocks=1, capacity=1)
EVICTING_THREADS = System("essp", slack=1, clients=1, threads=2, shards=1, clocks=1, evictions=True)
EVICTING_BARRIER = System("essp", slack=0, clients=1, threads=2, shards=1, clocks=1, evictions=True)
BARRIER = System("bsp", slack=0, shards=1, clocks=2)
ASYNC = System("asp", slack=0, shards=1, clocks=2)
UNEVEN = {0: "L", 1: "C C G0 L"}
LOSSY_OPLOGS = System("ssp", slack=0, clients=1, shards=1, scripts={0: "I0 C I0 L"}, lossy=True)
LOSSY = System("ssp", slack=0, shards=1, scripts={0: "G0 L", 1: "I0 L"}, lossy=True)
