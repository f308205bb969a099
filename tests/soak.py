"""``python3 -m tests.soak [CLOCKS [POLICY]]``: a long live run, whose processes must not grow.

What a run records does grow: the trace, told here by what came out in the end. Whatever grows beyond that is
a leak. Prints the resident size of every process over the run; ends with 1 where one grows, and with 1 where
the audit finds something.
"""

import multiprocessing
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

CLOCKS = 20_000
CLIENTS, SHARDS = 3, 2
SECONDS_BETWEEN_LOOKS = 0.5
WARM_UP = 0.3
"""Share of the run before growth counts: pools, arrays and the allocator come to their size."""
PER_RECORDED = 2.0
"""Bytes that a process may take for each byte of the trace: records wait in arrays that grow by doubling,
and some as Python objects."""
ALLOWED = 4 << 20
"""Bytes beyond that: the allocator's steps."""


def resident(pid: int) -> int:
    """Bytes of a process that are in memory and its own, 0 once it has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(pages[1]) - int(pages[2])) * 4096


class Looks:
    """Looks at all processes now and then.

    Attributes
    ----------
    clocks : list of int
        Clocks that all workers had finished.
    sizes : dict of str to list of int
        Bytes, by process, 0 where it was not there.
    """

    def __init__(self) -> None:
        self.done = 0
        self.clocks: list[int] = []
        self.sizes: dict[str, list[int]] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Looks":
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_LOOKS):
            sizes = {child.name: resident(child.pid or 0) for child in multiprocessing.active_children()}
            if self.done == 0 or len(sizes) <= CLIENTS:
                continue
            for name, size in sizes.items():
                self.sizes.setdefault(name, []).append(size)
            self.clocks.append(self.done)


def soak(clocks: int, policy: str) -> bool:
    """Run, print, and tell whether all is well."""
    import pskit
    from pskit.trace.schema import SCHEMA

    cfg = pskit.Config(
        app={"name": "tests.runtime.live.apps:Told", "clocks": clocks},
        ps={"policy": policy, "shards": SHARDS, **({} if policy in ("bsp", "asp") else {"slack": 4})},
        cluster={"clients": CLIENTS, "placement": "separate"},
        compute={"model": "exponential", "mean": "10ms"},
        network={"latency": {"model": "exponential", "mean": "1ms"}},
        run={"runtime": "live", "time_scale": 0.1, "eval_every": 100},
    )

    with Looks() as looks:

        def progress(done: int, total: int, info: dict[str, Any]) -> None:
            looks.done = done

        began = time.perf_counter()
        trace = pskit.run(cfg, progress=progress)
    seconds = time.perf_counter() - began
    report = pskit.audit(trace)
    well = trace.status == "finished" and report.ok
    print(f"{policy}: {clocks} clocks in {seconds:.0f} s, {trace.messages()['all']['messages']:,} messages")
    print(f"audit: {'clean' if report.ok else report.story}; full rings: {trace.manifest['full_rings']}")
    recorded = sum(values.nbytes for name in SCHEMA for values in trace.columns(name).values()) / clocks
    print(f"the trace: {recorded:.0f} bytes per clock")
    at = np.array(looks.clocks)
    steady = at >= WARM_UP * clocks
    for name, sizes in sorted(looks.sizes.items()):
        mib = np.array(sizes) / 2**20
        slope = np.polyfit(at[steady], np.array(sizes)[steady], 1)[0]
        grown = (slope - PER_RECORDED * recorded) * (1 - WARM_UP) * clocks
        verdict = "grows" if grown > ALLOWED else "flat"
        well &= verdict == "flat"
        path = " ".join(f"{size:.1f}" for size in mib[:: max(1, len(mib) // 10)])
        print(f"{name:<12} {verdict}: {slope:+.0f} bytes per clock; MiB over the run: {path}")
    return well


if __name__ == "__main__":
    arguments = sys.argv[1:]
    well = soak(int(arguments[0]) if arguments else CLOCKS, arguments[1] if len(arguments) > 1 else "essp")
    sys.exit(0 if well else 1)
