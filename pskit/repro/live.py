"""Makes missing live runs: one after another, before anything else of the report runs.

They need the processors for their times, and have processes of their own, which no worker process of the
report's may have; so this process starts them. The first start makes the fork server ready, once for all.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from pskit.config import Config
from pskit.errors import InputError
from pskit.repro.plan import PlannedRun, is_done
from pskit.repro.runner import Outcome, sweep, warm_up_configs
from pskit.running import run

IMPOSSIBLE = "this machine cannot make live runs: "


def make_live(runs: Sequence[PlannedRun], report: Callable[[Outcome | None], None]) -> list[Outcome]:
    """Make live runs; one that is not faithful to its config is tried once more, with time stretched.

    Where that does not help either the machine is busy: later runs have no second try.

    Parameters
    ----------
    runs : sequence of PlannedRun
    report : callable
        As that of `pskit.repro.runner.Runner`.
    """
    if not runs:
        return []
    with suppress(Exception):  # what is wrong is said of the runs themselves
        run(Config(**warm_up_configs(runs)[0]))
    report(None)
    outcomes, second_tries = [], True
    for planned in runs:
        begin = time.perf_counter()
        error, faithful = "", False
        for cfg, folder in planned.attempts():
            error, faithful = _attempt(cfg, folder)
            if error or faithful or not second_tries:
                break
        else:
            second_tries = False
        outcomes.append(Outcome(planned, time.perf_counter() - begin, error))
        report(outcomes[-1])
    return outcomes


def _attempt(cfg: Config, folder: Path) -> tuple[str, bool]:
    """An error or an empty text, and whether the run was faithful."""
    try:
        run(cfg, out=folder, force=True)
    except InputError as error:
        return f"{IMPOSSIBLE}{error}", False
    except Exception as error:
        return f"{type(error).__name__}: {error}", False
    finally:
        sweep(folder)
    return "", is_done(folder, cfg)
