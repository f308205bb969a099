"""Makes the two commands work on a machine that has nothing but Python.

``paper_repro.py`` and ``python3 -m tests`` call :func:`ensure` before they import anything that
needs installing. In an environment that has the dependencies it returns at once. Otherwise it
builds ``.venv`` beside this file from ``constraints.txt``, with uv when that is on PATH and with
pip when not, and starts the same command again in there.

``python3 bootstrap.py`` builds (or keeps) ``.venv`` and prints the path of its interpreter.

Standard library only, and on the fast path only modules that every Python has loaded anyway. The
file must parse on a Python that is too old, because it is what says so.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

OLDEST = (3, 11)
NEWEST_PINNED = (3, 14)
ROOT = os.path.dirname(os.path.abspath(__file__))
SETUP_FAILED = 2
INTERRUPTED = 130


def say(text: str) -> None:
    """Write to the user, apart from what the command itself prints."""
    print("bootstrap: " + text, file=sys.stderr, flush=True)


def fail(text: str) -> "NoReturn":
    """End the process with a message for the user."""
    say(text)
    raise SystemExit(SETUP_FAILED)


def refuse_old_python(version: "tuple[int, int]") -> None:
    """End the process when `version` (major, minor) is older than what the project needs."""
    if version >= OLDEST:
        return
    newer = newer_python()
    if newer is None:
        way_out = "Install a newer one: your system's packages, python.org, conda and uv have it."
    else:
        way_out = f"A newer one is on PATH: start the command again with {newer} in place of python3."
    fail(f"this needs Python 3.11 or newer, and {sys.executable} is {version[0]}.{version[1]}. {way_out}")


def newer_python() -> "str | None":
    """Return the newest command on PATH that starts a new enough Python, or None."""
    import shutil
    import subprocess

    for minor in range(NEWEST_PINNED[1], OLDEST[1] - 1, -1):
        name = f"python3.{minor}"
        # A version manager has shims on PATH for versions that it then refuses to start.
        null = subprocess.DEVNULL
        if (
            shutil.which(name) is not None
            and subprocess.call([name, "-c", ""], stdout=null, stderr=null) == 0
        ):
            return name
    return None


refuse_old_python(sys.version_info[:2])


def requirements(root: str, *lists: str) -> list[str]:
    """Read lists of pyproject.toml by name: ``dependencies``, or an extra such as ``test``.

    By hand, since importing ``tomllib`` alone takes most of the time that the fast path may cost;
    a test holds the result against the real parser.
    """
    with open(os.path.join(root, "pyproject.toml"), encoding="utf-8") as file:
        text = file.read()
    found = []
    for name in lists:
        block = text.split(f"\n{name} = [\n", 1)[1].split("\n]", 1)[0]
        found += [line.strip().rstrip(",").strip('"') for line in block.splitlines()]
    return found


def release(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, which is enough to compare it with a lower bound."""
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if digits:
            numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)


def installed(folders: list[str]) -> dict[str, str]:
    """Return name -> version of the distributions in `folders`, earlier folders first; imports nothing."""
    found: dict[str, str] = {}
    for folder in folders:
        try:
            entries = os.listdir(folder)
        except OSError:
            continue
        for entry in entries:
            if entry.endswith((".dist-info", ".egg-info")):
                name, _, version = entry[: -len(".dist-info")].partition("-")
                found.setdefault(name.lower().replace("_", "-").replace(".", "-"), version)
    return found


def missing(folders: list[str], needed: list[str]) -> list[str]:
    """Return the names of those of `needed` (each ``name>=version``) that `folders` do not satisfy."""
    have = installed(folders)
    wanted = [requirement.split(">=") for requirement in needed]
    return [name for name, bound in wanted if release(have.get(name, "")) < release(bound)]


class StepError(Exception):
    """A command of the set-up did not end well.

    Attributes
    ----------
    command : str
    tail : list of str
        The last lines that it printed, at least one.
    """

    def __init__(self, command: str, tail: list[str]) -> None:
        super().__init__(command)
        self.command = command
        self.tail = tail or ["(it printed nothing)"]


def run(command: list[str], log: str) -> None:
    """Run one command with its output appended to the file `log`; raise StepError unless it ends well."""
    import subprocess

    with open(log, "a+", encoding="utf-8", errors="replace") as file:
        start = file.seek(0, os.SEEK_END)
        try:
            # With close_fds the lock would end with us, and not with an installer that outlives us.
            code = subprocess.call(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, close_fds=False
            )
        except OSError as error:
            raise StepError(command[0], [str(error)]) from error
        if code != 0:
            file.seek(start)
            lines = [line for line in file.read().splitlines() if line.strip()]
            raise StepError(" ".join(command), lines[-12:])


class Environment:
    """The folder ``.venv`` of the project, as this script makes it.

    Its stamp says for which Python, place and pins it was completed. The stamp is there, saying
    "unfinished", before the first package, and is completed after the last one, so that an
    interrupted build is never believed. A ``.venv`` without a stamp is somebody else's and is
    left alone.

    Parameters
    ----------
    root : str
        Folder of the project, with ``pyproject.toml`` and ``constraints.txt``.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.path = os.path.join(root, ".venv")
        self.stamp = os.path.join(self.path, "bootstrap.stamp")
        self.log = os.path.join(self.path, "bootstrap.log")
        self.constraints = os.path.join(root, "constraints.txt")
        place = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        self.python = os.path.join(self.path, *place)

    def is_running(self) -> bool:
        """Tell whether this process runs in the environment."""
        return os.path.exists(self.stamp) and os.path.samefile(sys.prefix, self.path)

    def complete(self, needed: list[str]) -> bool:
        """Tell whether the environment was finished, for these pins and this Python, and has `needed`."""
        try:
            with open(self.stamp, encoding="utf-8") as file:
                finished = file.read() == self._finished_stamp()
        except OSError:
            return False
        return finished and os.path.exists(self.python) and not missing(self._folders(), needed)

    def provide(self, needed: list[str]) -> None:
        """Build the environment unless it is complete. Of several processes one builds, the others wait."""
        import time

        with open(self.constraints, encoding="utf-8") as file:
            lock(file.fileno())
            if self.complete(needed):
                return
            start = time.monotonic()
            self._build()
            say(f"ready after {time.monotonic() - start:.0f} s.")

    def _finished_stamp(self) -> str:
        with open(self.constraints, encoding="utf-8") as file:
            pins = file.read()
        python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
        # The place counts because a moved environment has the old paths in its scripts. The pins are kept as
        # they are and not as a hash: importing hashlib would cost more than comparing them.
        return f"{python}\n{self.root}\n{pins}"

    def _folders(self) -> list[str]:
        if self.is_running():
            return sys.path
        import sysconfig

        base = {"base": self.path, "platbase": self.path}
        return [sysconfig.get_path(name, "venv", base) for name in ("purelib", "platlib")]

    def _build(self) -> None:
        import shutil

        everything = requirements(self.root, "dependencies", "test", "dev")
        uv = shutil.which("uv")
        say(
            f"making .venv for Python {sys.version_info[0]}.{sys.version_info[1]} with the packages of "
            f"constraints.txt, by {'uv' if uv else 'pip'} (once; about 180 MB, a minute or two)."
        )
        for tool in [uv, None] if uv else [None]:
            try:
                self._install(everything, tool)
                break
            except StepError as failure:
                if tool is None:
                    self._give_up(failure)
                # pip may know of a mirror or proxy that uv does not.
                say(f"uv failed ({failure.tail[-1].strip()}); trying pip.")
        lacking = missing(self._folders(), everything)
        if lacking:
            fail(f"constraints.txt does not give what pyproject.toml asks for: {', '.join(lacking)}.")
        self._write_stamp(self._finished_stamp())

    def _install(self, packages: list[str], uv: str | None) -> None:
        self._clear()
        # -I keeps PYTHONPATH and the user's own packages out of what counts as installed.
        venv = [getattr(sys, "_base_executable", sys.executable), "-I", "-m", "venv"]
        if uv is None:
            run([*venv, self.path], self.log)
            install = [self.python, "-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
            # Compiling what is never imported costs more than half of the time; uv leaves it too.
            install.append("--no-compile")
        else:
            run([*venv, "--without-pip", self.path], self.log)
            install = [uv, "pip", "install", "--python", self.python]
        run([*install, "--only-binary", ":all:", "--constraint", self.constraints, *packages], self.log)
        run([*install, "--no-deps", "--no-build-isolation", "--editable", self.root], self.log)

    def _clear(self) -> None:
        import shutil

        os.makedirs(self.path, exist_ok=True)
        if os.listdir(self.path) and not os.path.exists(self.stamp):
            fail(
                f"{self.path} was not made by this script and stays as it is. Activate it and run "
                "`python -m pip install -e '.[test]'`, or remove it and start again."
            )
        # The stamp outlives the rest: a clearing that is cut short leaves a folder that is still ours.
        self._write_stamp("unfinished\n")
        for entry in list(os.scandir(self.path)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            elif entry.path != self.stamp:
                os.remove(entry.path)

    def _write_stamp(self, text: str) -> None:
        with open(self.stamp, "w", encoding="utf-8") as file:
            file.write(text)

    def _give_up(self, failure: StepError) -> "NoReturn":
        lines = [f"this command failed: {failure.command}", *(f"    {line}" for line in failure.tail)]
        if sys.version_info[:2] > NEWEST_PINNED:
            lines.append(f"The pinned packages are for Python 3.11 to 3.{NEWEST_PINNED[1]}.")
        lines.append(
            "Start again to try again, or make an environment of your own and run "
            f"`python -m pip install -e '.[test]'` there. The whole log: {self.log}"
        )
        fail("\n".join(lines))


def lock(file: int) -> None:
    """Hold an exclusive lock on an open file, where the system has such locks.

    It lasts until this process and those that it started with ``close_fds=False`` have closed the file.
    """
    try:
        import fcntl
    except ImportError:
        return
    os.set_inheritable(file, True)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another process is making .venv; waiting for it.")
        fcntl.flock(file, fcntl.LOCK_EX)


def provide(environment: Environment, needed: list[str]) -> None:
    """Provide the environment, or end the process with a message."""
    try:
        environment.provide(needed)
    except KeyboardInterrupt:
        say("interrupted; the next start begins anew.")
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:
        fail(f"cannot make .venv: {error}")


def ensure(*extras: str) -> None:
    """Return if this interpreter has the project's dependencies; else start the command again where it has.

    Parameters
    ----------
    *extras : str
        Extras of pyproject.toml that are needed too, such as ``test``.

    Raises
    ------
    SystemExit
        Code 2 when the environment cannot be made, 130 when the user interrupts.
    """
    needed = requirements(ROOT, "dependencies", *extras)
    environment = Environment(ROOT)
    if environment.is_running():
        if environment.complete(needed):
            return
    elif not missing(sys.path, needed):
        return
    provide(environment, needed)
    start_again(environment.python)


def start_again(python: str) -> "NoReturn":
    """Replace this process by the same command under another interpreter."""
    # PYTHONHOME would point the new interpreter back at the old packages, and us into a loop.
    os.environ.pop("PYTHONHOME", None)
    command = [python, *sys.orig_argv[1:]]
    if os.name == "nt":
        import subprocess

        raise SystemExit(subprocess.call(command))
    os.execv(python, command)


if __name__ == "__main__":
    own = Environment(ROOT)
    provide(own, requirements(ROOT, "dependencies", "test", "dev"))
    print(own.python)
