"""What the values of a run may depend on besides its config: processor, versions, thread settings."""

import os
import platform
import subprocess
import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np

PACKAGES = ("numpy", "scipy", "numba", "llvmlite")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def versions() -> dict[str, str | None]:
    """Versions of Python and of the numerical packages; None where one is not installed."""
    return {"python": platform.python_version(), **{package: _version(package) for package in PACKAGES}}


@lru_cache  # looking it up reads files, which took an eighth of a short run
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def threads() -> dict[str, Any]:
    """Thread counts asked for in the environment (None where unset), and numba's own."""
    asked: dict[str, Any] = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    numba_threads = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    return {**asked, "numba": numba_threads}


@lru_cache
def machine() -> dict[str, Any]:
    """Processor, its features as NumPy and LLVM see them, BLAS, and system; no name of the host."""
    config = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    simd = config.get("SIMD Extensions", {})
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "byteorder": sys.byteorder,
        "cpu": _cpu_model(),
        "cpu_count": os.cpu_count(),
        "cpu_features": {"baseline": simd.get("baseline", []), "found": simd.get("found", [])},
        "llvm_cpu": llvmlite.binding.get_host_cpu_name(),
        "blas": f"{blas.get('name')} {blas.get('version')}",
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


@lru_cache
def git_commit() -> dict[str, Any]:
    """Commit of the package's code and whether files differ from it; None, None where not known.

    An installed package may lie inside a repository of somebody else's: only one that tracks this
    very file counts.
    """
    unknown: dict[str, Any] = {"commit": None, "dirty": None}
    here = Path(__file__).resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return unknown
    commit = _git(here.parent, "rev-parse", "--verify", "HEAD")
    changes = _git(here.parents[1], "status", "--porcelain", "--", ".")
    if commit is None or changes is None:
        return unknown
    return {"commit": commit.strip(), "dirty": bool(changes.strip())}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
