"""Progress: lines at a pace where nobody watches, a bar on a terminal."""

import io

from rich.console import Console

from pskit.console.progress import SECONDS_BETWEEN_LINES, showing_progress

INFO = {"clock_min": 3, "clock_max": 5, "waiting_share": 0.25, "messages": 1234, "in_flight": 7}


def test_plain_lines_come_now_and_then() -> None:
    out, now = io.StringIO(), [0.0]
    with showing_progress(Console(file=out), lambda: now[0]) as progress:
        for second in range(int(3 * SECONDS_BETWEEN_LINES)):
            now[0] = float(second)
            progress(5, 10, INFO)
    assert out.getvalue().splitlines() == [
        "clock 3-5 of 10, 25% waiting, 1,234 messages, 7 in flight, about 5 s left",
        "clock 3-5 of 10, 25% waiting, 1,234 messages, 7 in flight, about 10 s left",
    ]


def test_nothing_is_promised_before_the_first_clock() -> None:
    out, now = io.StringIO(), [0.0]
    with showing_progress(Console(file=out), lambda: now[0]) as progress:
        now[0] = SECONDS_BETWEEN_LINES
        progress(0, 10, INFO | {"clock_min": 0, "clock_max": 0})
    assert out.getvalue() == "clock 0 of 10, 25% waiting, 1,234 messages, 7 in flight\n"


def test_the_time_left_is_that_of_clocks_not_of_preparations() -> None:
    out, now = io.StringIO(), [0.0]
    with showing_progress(Console(file=out), lambda: now[0]) as progress:
        for now[0], done in ((60.0, 0), (66.0, 3)):
            progress(done, 10, INFO)
    assert [line.rpartition(", ")[2] for line in out.getvalue().splitlines()] == [
        "7 in flight",
        "about 14 s left",
    ]


def test_a_terminal_gets_a_bar() -> None:
    out = io.StringIO()
    with showing_progress(Console(file=out, force_terminal=True, width=120)) as progress:
        progress(5, 10, INFO)
    assert "3-5 of 10" in out.getvalue()
    assert "1,234 messages" in out.getvalue()
