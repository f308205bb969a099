"""The serial twin: runs one worker of an application on plain tables, copy / delta / add per clock."""

from pskit.apps.base import Clock, Compute, Get, Worker
from pskit.core.layout import Layout


class View:
    """What a GET gives back."""

    def __init__(self, views):
        self.views = views


class SerialTwin:
    """No shards, no cache, no messages: tables, and the updates of the open clock.

    Starts from the initial tables and draws from the streams of the run it is compared with.
    """

    def __init__(self, cfg, app, run, worker=0, workers=1):
        self.layout = Layout(app.tables(cfg))
        self.tables = {name: table.copy() for name, table in run.outcome.initial.items()}
        self.stream = run.simulation.stream
        self.open = {}
        self.work = app.work(Worker(worker, workers, cfg, self.layout, self))

    def inc(self, worker, table, rows, delta):
        for row, values in zip(rows.tolist(), delta, strict=True):
            key = table, row - int(self.layout.offsets[table])
            self.open[key] = self.open[key] + values if key in self.open else values.copy()

    def run(self):
        while self.step():
            self.add()
        self.add()
        return self.tables

    def step(self):
        """Go on to the end of the clock; False at the end of the work."""
        value = None
        while True:
            try:
                command = self.work.send(value)
            except StopIteration:
                return False
            value = None
            if isinstance(command, Get):
                value = View(self.views(command.rows))
            elif isinstance(command, Compute):
                value = command.fn(*command.arrays)
            else:
                assert isinstance(command, Clock)
                return True

    def views(self, rows):
        views = []
        for i, spec in enumerate(self.layout.tables):
            ids = rows[self.layout.table_of_row[rows] == i] - self.layout.offsets[i]
            if len(ids):
                view = self.tables[spec.name][ids]
                for k, row in enumerate(ids.tolist()):
                    if (i, row) in self.open:
                        view[k] += self.open[i, row]
                views.append(view)
        return views

    def add(self):
        for (table, row), values in self.open.items():
            self.tables[self.layout.tables[table].name][row] += values
        self.open = {}
