"""`pskit doctor`: what of this machine matters to runs, and what follows from it."""

import importlib.metadata
import multiprocessing
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from pskit.units import format_bytes

Verdict = Literal["ok", "note", "bad"]

SHARED_MEMORY = Path("/dev/shm")
ENOUGH_SHARED_MEMORY = 1 << 30
ENOUGH_MEMORY = 2 << 30
OLDEST_PYTHON = (3, 11)
NEEDED = ("numpy", "scipy", "numba", "pydantic", "typer", "rich", "matplotlib", "sympy")
OPTIONAL = {
    "pandas": "trace.to_pandas()",
    "xarray": "trace.to_xarray()",
    "hypothesis": "the property tests",
}
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Finding(NamedTuple):
    """One line of the doctor.

    Attributes
    ----------
    verdict : {"ok", "note", "bad"}
        Works; works with a restriction or leaves something out; runs will fail.
    what, found, meaning : str
    """

    verdict: Verdict
    what: str
    found: str
    meaning: str


def examine() -> Iterator[Finding]:
    """Look at interpreter, processors, memory, start methods, packages and thread settings."""
    yield _python()
    yield _processors()
    yield _memory()
    yield _shared_memory()
    yield _start_method()
    yield from _packages()
    yield _threads()
    yield _kernel_cache()


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= OLDEST_PYTHON
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding("ok" if good else "bad", "Python", version, f"{oldest} or newer is needed")


def _processors() -> Finding:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    meaning = "kernels of different workers run side by side; results do not depend on the number"
    if usable == 1:
        return Finding("note", "processors", "1 usable", "everything works; kernels run one after the other")
    return Finding("ok", "processors", f"{usable} usable of {os.cpu_count()}", meaning)


def _memory() -> Finding:
    from pskit.runtime.memory import available_bytes

    free = available_bytes()
    if free is None:
        return Finding(
            "note", "memory", "not known here", "a run that is too large is not refused in advance"
        )
    meaning = "a run says what it needs before it starts, and is refused when that does not fit"
    return Finding("ok" if free >= ENOUGH_MEMORY else "note", "memory", f"{format_bytes(free)} free", meaning)


def _shared_memory() -> Finding:
    if not SHARED_MEMORY.is_dir():
        return Finding("note", "shared memory", f"no {SHARED_MEMORY}", "runs in virtual time do not need it")
    free = shutil.disk_usage(SHARED_MEMORY).free
    if free >= ENOUGH_SHARED_MEMORY:
        return Finding(
            "ok", "shared memory", f"{format_bytes(free)} free", "enough for processes that share tables"
        )
    meaning = (
        "runs in virtual time do not need it; for processes that share tables start the container with more"
    )
    return Finding("note", "shared memory", f"{format_bytes(free)} free", meaning)


def _start_method() -> Finding:
    """The safest start method that this system has (fork breaks threads)."""
    methods = multiprocessing.get_all_start_methods()
    chosen = "forkserver" if "forkserver" in methods else "spawn"
    meaning = f"runs in virtual time start none; {chosen} is there for those that do"
    return Finding("ok", "start of processes", ", ".join(methods), meaning)


def _packages() -> Iterator[Finding]:
    for name in NEEDED:
        version = _version(name)
        if version is None:
            yield Finding("bad", name, "not installed", f"needed: pip install {name}")
        else:
            yield Finding("ok", name, version, "needed")
    for name, use in OPTIONAL.items():
        version = _version(name)
        missing = f"only needed for {use}: pip install {name}"
        yield Finding(
            "note" if version is None else "ok",
            name,
            version or "not installed",
            missing if version is None else use,
        )


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _threads() -> Finding:
    settings = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    found = ", ".join(f"{name}={value}" for name, value in settings.items()) or "none set"
    return Finding("ok", "thread settings", found, "the built-in kernels use one thread each")


def _kernel_cache() -> Finding:
    """Compiled kernels are kept beside the source, or in the user's cache folder where that is read-only."""
    import pskit

    place = os.environ.get("NUMBA_CACHE_DIR") or os.path.dirname(pskit.__file__)
    if os.access(place, os.W_OK):
        return Finding(
            "ok", "kernel cache", "writable", "only the first run after an installation compiles kernels"
        )
    return Finding(
        "note", "kernel cache", "read-only", "set NUMBA_CACHE_DIR if each run spends seconds on compiling"
    )
