"""What a system allows one user or container to have, asked before processes are started."""

import contextlib
import os
import resource
from pathlib import Path

from pskit.errors import InputError

MOST_CLIENTS = 200
"""The server process is handed a bell of each client, and a fork server passes on 256 descriptors."""
DESCRIPTORS_OF_A_CHILD, OTHER_DESCRIPTORS = 6, 60
TASKS_OF_A_CHILD, OTHER_TASKS = 2, 2
"""A child's own thread and the one that watches the launcher; fork server and resource tracker."""


def check_limits(clients: int) -> None:
    """Refuse more processes than can be, and more open files.

    Raises
    ------
    InputError
        Names what is needed and what is allowed.
    """
    who, instead = f"cluster.clients = {clients}", "give fewer clients more threads"
    if clients > MOST_CLIENTS:
        raise InputError(
            f"{who}: the live runtime has a process for each client, and at most {MOST_CLIENTS} are allowed; "
            'give a client more threads, or use run.runtime = "sim"'
        )
    allowed = open_files_allowed()
    needed = DESCRIPTORS_OF_A_CHILD * (clients + 1) + OTHER_DESCRIPTORS
    if needed > allowed:
        raise InputError(
            f"{who}: their processes need {needed} open files, and {allowed} are allowed; raise the limit "
            f"(ulimit -n), or {instead}"
        )
    left = tasks_left()
    needed = TASKS_OF_A_CHILD * (clients + 1) + OTHER_TASKS
    if left is not None and needed > left:
        raise InputError(
            f"{who}: their processes have {needed} threads, and {left} more are allowed; raise the limit "
            f"(ulimit -u, or that of the container), or {instead}"
        )


def open_files_allowed() -> int:
    """Open files that a process may have."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def tasks_left() -> int | None:
    """Threads that can still be started by this user and in this container; None: nobody knows a limit."""
    left = []
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if limit != resource.RLIM_INFINITY and os.getuid() != 0:  # for the superuser the kernel does not count
        left.append(limit - _tasks_of(os.getuid()))
    for folder in _own_groups():
        with contextlib.suppress(OSError, ValueError):  # "max": no limit
            most = int((folder / "pids.max").read_text())
            left.append(most - int((folder / "pids.current").read_text()))
    return max(0, min(left)) if left else None


def _tasks_of(user: int) -> int:
    """Threads of all processes whose real user this is."""
    count = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, KeyError, ValueError):  # it may have ended meanwhile
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            if int(lines["Uid"].split()[0]) == user:
                count += int(lines["Threads"])
    return count


def _own_groups() -> list[Path]:
    """Folders of the control group of this process and of those around it."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, name = line.split(":", 2)
        root = Path("/sys/fs/cgroup") / ("" if not controllers else "pids")
        if not controllers or "pids" in controllers.split(","):
            own = root / name.lstrip("/")
            found += [folder for folder in (own, *own.parents) if folder.is_relative_to(root)]
    return found
