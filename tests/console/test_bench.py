"""What is said of benchmarks before and while they run."""

import io
import threading

from rich.console import Console

from pskit.console import bench


def test_every_benchmark_says_about_how_long_it_takes() -> None:
    for path in bench.available().values():
        assert bench.duration([path]) >= 1, path
    assert bench.duration([*bench.available().values()][:1] * 2) == 2 * bench.duration(
        [*bench.available().values()][:1]
    )


def test_a_file_that_says_nothing_takes_no_time(tmp_path) -> None:
    (tmp_path / "one.py").write_text("x = 1\n")
    assert bench.duration([tmp_path / "one.py"]) == 0


def test_a_line_now_and_then_until_the_end() -> None:
    out, seen = io.StringIO(), threading.Event()

    class Telling(io.StringIO):
        def write(self, text: str) -> int:
            seen.set()
            return out.write(text)

    before = threading.active_count()
    with bench.showing_time(Console(file=Telling()), "two", 30, between=0.001):
        assert seen.wait(60)
    assert out.getvalue().startswith("two: 0 s of about 30 s")
    assert threading.active_count() == before
