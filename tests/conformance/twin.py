"""What BSP must come to: the workers one after the other on plain tables, clock by clock."""

from types import SimpleNamespace

from pskit.core.layout import Layout
from pskit.emulation.streams import Stream
from tests.runtime.apps import Drift
from tests.runtime.serial import SerialTwin


def bsp_twin(trace):
    """Final tables of a run of `Drift`, and its losses after every clock."""
    manifest = trace.manifest
    workers, seed, app = manifest["workers"], manifest["seed"], Drift()
    cfg = SimpleNamespace(app=SimpleNamespace(**manifest["config"]["app"]), workers=workers)
    cfg.app.options = manifest["config"]["app"].get("options", {})
    initial = {t.name: trace.table(t.name, "initial") for t in Layout(app.tables(cfg)).tables}
    run = SimpleNamespace(
        outcome=SimpleNamespace(initial=initial),
        simulation=SimpleNamespace(stream=lambda *key: Stream(seed, "app", *key)),
    )
    turns = [SerialTwin(cfg, app, run, worker, workers) for worker in range(workers)]
    tables = turns[0].tables  # of all; what each adds comes in when all have ended the clock
    for turn in turns:
        turn.tables = tables
    losses = [app.objective(tables)["loss"]]
    steps = [turn.step for turn in turns]
    while sum(step() for step in steps):  # all of them have as many clocks
        for turn in turns:
            turn.add()
        losses.append(app.objective(tables)["loss"])
    return tables, losses
