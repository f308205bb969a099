import io
from pathlib import Path

from rich.console import Console

from pskit.config import Config
from pskit.repro.plan import PlannedRun
from pskit.repro.progress import SECONDS_BETWEEN_LINES, Pace, showing
from pskit.repro.runner import Outcome


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_time_left_is_of_the_work_left():
    runs = [PlannedRun(Config(), Path("a"), seconds, False) for seconds in (3.0, 1.0)]
    clock = Clock()
    pace = Pace(runs, clock=clock)
    clock.now = 10.0
    pace.step(None)
    assert (pace.setup, pace.left, pace.text()) == (10.0, None, "run 0 of 2")
    clock.now = 16.0
    pace.step(Outcome(runs[0], 6.0, ""))
    assert pace.left == (6.0 + 0.4) / (3.0 + 0.4)  # nearly twice as long as planned
    pace.step(Outcome(runs[1], 0.0, "broken"))
    assert pace.text() == "run 2 of 2, 1 failed, about 0 s left"


def test_a_live_run_has_no_cores_to_share_and_every_set_up_counts():
    live = Config(run={"runtime": "live"})
    runs = [PlannedRun(live, Path("a"), 4.0, False), PlannedRun(Config(), Path("b"), 8.0, False)]
    clock = Clock()
    pace = Pace(runs, 2, clock)
    for now, outcome in ((1.0, None), (5.0, Outcome(runs[0], 4.0, "")), (8.0, None)):
        clock.now = now
        pace.step(outcome)
    assert pace.setup == 1.0 + 3.0
    assert pace.left == 4.0  # as long as the live run took: twice the work on two cores
    clock.now = 12.0
    pace.step(Outcome(runs[1], 4.0, ""))
    assert (pace.left, pace.seconds) == (0.0, 8.0)


def test_without_a_terminal_a_line_now_and_then():
    runs = [PlannedRun(Config(), Path("a"), 1.0, False)] * 3
    clock, text = Clock(), io.StringIO()
    with showing(Console(file=text, width=200), Pace(runs, clock=clock), clock) as report:
        report(None)
        report(Outcome(runs[0], 1.0, ""))
        clock.now = SECONDS_BETWEEN_LINES
        report(Outcome(runs[1], 1.0, ""))
        report(Outcome(runs[2], 1.0, ""))
    assert text.getvalue() == "run 2 of 3, about 2 s left\n"


def test_on_a_terminal_a_bar():
    runs = [PlannedRun(Config(), Path("a"), 1.0, False)]
    text = io.StringIO()
    with showing(Console(file=text, force_terminal=True, width=80), Pace(runs)) as report:
        report(None)
        report(Outcome(runs[0], 1.0, ""))
    assert "run 1 of 1" in text.getvalue()
