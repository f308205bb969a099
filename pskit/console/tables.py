"""Runs as tables of the terminal: the summary after a run, the report of one, the comparison of two."""

from collections.abc import Mapping
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from pskit.analysis.trace import Trace
from pskit.console import facts
from pskit.units import format_bytes, format_span

WIDEST_BAR = 30


def print_summary(console: Console, trace: Trace, folder: Path | None) -> None:
    """Print what came out of a run."""
    rows = facts.facts(trace) | facts.hashes(trace)
    if folder is not None:
        rows["folder"] = str(folder)
    _print_pairs(console, rows)
    for fault in facts.faults(trace):
        console.print(f"fault: {fault}", style="red", markup=False, soft_wrap=True)


def print_report(console: Console, trace: Trace, folder: Path) -> None:
    """Print a run in tables: summary, metrics over clocks, ages of reads, time, messages."""
    print_summary(console, trace, folder)
    console.print(_metrics_table(trace), _ages_table(trace), _time_table(trace), _messages_table(trace))


def print_comparison(console: Console, names: tuple[str, str], runs: tuple[Trace, Trace]) -> None:
    """Print two runs side by side: what differs in their configs, their facts, loss at equal clocks."""
    settings = _table("config", *names)
    for key, values in facts.differences(dict(runs[0].config), dict(runs[1].config)).items():
        if key != "preset":
            settings.add_row(key, *values)
    if not settings.row_count:
        settings.add_row("no difference", "", "")

    results = _table("result", *names)
    both = [facts.facts(run) for run in runs]
    for label in dict.fromkeys([*both[0], *both[1]]):
        shown = [column.get(label, "-") for column in both]
        if label == "data" and shown[0] == shown[1]:
            console.print(shown[0], markup=False, highlight=False)
        elif label != "setting":  # the configs above say it
            results.add_row(label, *shown)

    losses = _table("loss at clock", *names)
    for clock in facts.shown_clocks(*runs):
        losses.add_row(str(clock), *(facts.number(facts.loss_at(run, clock), 6) for run in runs))

    same = _table("identical", "")
    for label, value in facts.hashes(runs[0]).items():
        same.add_row(label, "yes" if value == facts.hashes(runs[1])[label] else "no")
    console.print(settings, results, losses, same)
    remark = facts.about_schedules(names, runs)
    if remark is not None:
        console.print(remark, soft_wrap=True, markup=False, highlight=False)


def _metrics_table(trace: Trace) -> Table:
    names = facts.metric_names(trace)
    table = _table("clock", *names)
    for clock in facts.shown_clocks(trace):
        table.add_row(str(clock), *(facts.number(facts.loss_at(trace, clock, name), 6) for name in names))
    return table


def _ages_table(trace: Trace) -> Table:
    staleness = trace.staleness()
    shares = staleness.histogram("age")
    largest = max(shares.values(), default=1.0)
    table = _table("age of reads", "differential", "share", "")
    for age, part in shares.items():
        bar = "#" * round(WIDEST_BAR * part / largest)
        table.add_row(str(age), str(-age - 1), facts.share(part), bar)
    return table


def _time_table(trace: Trace) -> Table:
    split = trace.time_split()
    table = _table("time of workers", "least", "mean", "most")
    for name in ("computing", "waiting", "sending"):
        times = split[name]
        if len(times):
            table.add_row(name, *(format_span(round(t)) for t in (times.min(), times.mean(), times.max())))
    return table


def _messages_table(trace: Trace) -> Table:
    table = _table("messages", "number", "bytes", "rows")
    for kind, sums in trace.messages().items():
        table.add_row(kind, f"{sums['messages']:,}", format_bytes(sums["bytes"]), f"{sums['rows']:,}")
    return table


def _print_pairs(console: Console, pairs: Mapping[str, str]) -> None:
    width = max(map(len, pairs)) + 2
    for label, value in pairs.items():
        # Not a table: a folder or hash longer than the terminal must stay whole for copying.
        console.print(f"{label:<{width}}{value}", soft_wrap=True, markup=False, highlight=False)


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, header in enumerate(headers):
        table.add_column(header, justify="left" if place == 0 or not header else "right", overflow="fold")
    return table
