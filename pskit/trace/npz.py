"""Arrays in a ``.npz`` file: plain arrays, no pickles, the same bytes for the same arrays."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pskit.errors import InputError

# `numpy.savez_compressed` packs at zlib's level 6 and stamps the time of day into the archive: five times
# slower for a few per cent, and another sha256 each time. What is written here `numpy.load` reads.
_LEVEL = 1
_DATE = (1980, 1, 1, 0, 0, 0)

# What zipfile, zlib and NumPy raise on damaged bytes: bad structure, bad header text, a short member, a
# nonsense size, an unknown method or flag.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, TypeError, LookupError, ArithmeticError,
    OSError, EOFError, MemoryError, RuntimeError,
)  # fmt: skip


def write_npz(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write ``arrays`` to ``path``, under their names."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", _DATE)
            # Floats hardly shrink: packing them took a quarter of a short run for a tenth of their size.
            method = zipfile.ZIP_STORED if values.dtype.kind == "f" else zipfile.ZIP_DEFLATED
            archive.writestr(info, member.getbuffer(), method, _LEVEL)


def read_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read all arrays of ``path``.

    Raises
    ------
    InputError
        When the file is missing, damaged, or holds something else than plain arrays.
    """
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    arrays[name.removesuffix(".npy")] = np.lib.format.read_array(member, allow_pickle=False)
                    member.read()  # to the end, where zipfile checks the sum over the bytes
    except FileNotFoundError:
        raise InputError(f"{path.parent}: the run folder has no file {path.name}") from None
    except _DAMAGE as error:
        raise InputError(f"{path.parent}: the file {path.name} is damaged ({error})") from error
    return arrays


class LazyNpz(Mapping[str, npt.NDArray[Any]]):
    """The arrays of ``path``, read when first asked for, and then looked at by ``check``."""

    def __init__(self, path: Path, check: Callable[[Mapping[str, npt.NDArray[Any]]], None]) -> None:
        self._path, self._check = path, check

    @cached_property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays = read_npz(self._path)
        self._check(arrays)
        return arrays

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)
