"""Run small configs, if wanted with every machine watched by the invariants."""

from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from pskit.config import Config
from pskit.core import invariants
from pskit.core.client import Client
from pskit.core.layout import Layout
from pskit.core.server import ServerShard
from pskit.runtime.base import Outcome
from pskit.runtime.sim import Simulation, simulation
from pskit.trace.recorder import Recorder
from pskit.trace.schema import MESSAGE_KINDS

LATENCY = {"model": "exponential", "mean": "200ms"}
COMPUTE = {"model": "exponential", "mean": "1s"}

POLICIES: dict[str, dict[str, Any]] = {
    "ssp": {"policy": "ssp"},
    "essp-rows": {"policy": "essp", "push": "rows"},
    "essp-deltas": {"policy": "essp", "push": "deltas"},
    "bsp": {"policy": "bsp"},
    "asp": {"policy": "asp"},
}


def ps(name: str, slack: int = 1, **more: Any) -> dict[str, Any]:
    """A [ps] section of a policy by its name above, with a slack where it takes one."""
    return {**POLICIES[name], **({} if name in ("bsp", "asp") else {"slack": slack}), **more}


def config(app: str = "tests.runtime.apps:Digits", *, clocks: int = 10, **given: Any) -> Config:
    """A Config from its sections; times vary much unless the sections say otherwise."""
    options = given.pop("options", {})
    tree = {"compute": COMPUTE, "network": {"latency": LATENCY}, "cluster": {"clients": 3}, **given}
    return Config(app={"name": app, "clocks": clocks, "options": options}, **tree)


class Run(NamedTuple):
    """A finished simulation."""

    simulation: Simulation
    schedule_hash: str
    columns: dict[str, dict[str, np.ndarray]]
    outcome: Outcome
    watch: invariants.Watch | None

    def messages(self, kind: str | None = None) -> dict[str, np.ndarray]:
        """Columns of the messages of a kind."""
        columns = self.columns["messages"]
        keep = slice(None) if kind is None else columns["kind"] == MESSAGE_KINDS.index(kind)
        return {name: values[keep] for name, values in columns.items()}


def simulate(
    cfg: Config, app: Any, *, watched: bool = False, before: Any = None, **simulation_args: Any
) -> Run:
    """Run ``app``; ``before(simulation)`` may prepare something."""
    layout = Layout(app.tables(cfg), cfg.ps.shards)
    recorder = Recorder(layout, cfg.workers, "full", cfg.run.seed)
    made = make_watched if watched else Simulation
    sim = made(cfg, app, layout, recorder, **simulation_args)
    if before is not None:
        before(sim)
    sim.run()
    watch = sim.clients[0].watch if watched else None
    outcome = sim.outcome()
    if watch:
        check_end(watch, outcome)
    return Run(sim, recorder.schedule_hash, recorder.finish(), outcome, watch)


def same_tables(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    """Whether two sets of tables are equal bit for bit."""
    return a.keys() == b.keys() and all(invariants.same_bits(a[name], b[name]) for name in a)


class WatchedClient(Client):
    """Tells the ledger of its workers' calls, and the watch of their effects."""

    watch: invariants.Watch

    def get(self, worker, rows):
        return self._watched(super().get(worker, rows))

    def receive(self, shard, message):
        return self._watched(super().receive(shard, message))

    def inc(self, worker, table, rows, delta):
        super().inc(worker, table, rows, delta)
        self.watch.ledger.inc(worker, rows, delta)

    def clock(self, worker, *times):
        self.watch.ledger.close(worker)
        return self._watched(super().clock(worker, *times))

    def leave(self, worker, *times):
        self.watch.ledger.close(worker, leaving=True)
        return self._watched(super().leave(worker, *times))

    def _watched(self, effects):
        self.watch.client_did(self.client, effects)
        invariants.exact_copies(self.watch.ledger, self)
        invariants.cache_is_bounded(self)
        return effects


class WatchedShard(ServerShard):
    watch: invariants.Watch

    def receive(self, client, message):
        effects = super().receive(client, message)
        self.watch.shard_did(self.shard, effects)
        return effects


def make_watched(cfg: Config, app: Any, layout: Layout, recorder: Recorder, **more: Any) -> Simulation:
    """A simulation whose machines are watched, and whose row pools are looked through at every event."""
    with mock.patch.multiple(simulation, Client=WatchedClient, ServerShard=WatchedShard):
        sim = Simulation(cfg, app, layout, recorder, **more)
    ledger = invariants.Ledger(layout, sim.initial, range(cfg.workers))
    watch = invariants.Watch(ledger, sim.shards, sim.clients, bsp=cfg.ps.policy == "bsp")
    for machine in (*sim.clients, *sim.shards):
        machine.watch = watch
    return sim


def check_end(watch: invariants.Watch, outcome: Outcome) -> None:
    """Invariants of a run that came to its end."""
    assert outcome.status == "finished"
    invariants.not_stuck(watch.clients, watch.shards, able=[])
    invariants.end_state(watch.ledger, outcome.final)
    for client in watch.clients:
        for shard in watch.shards:
            invariants.subscriptions_match(client, shard)
    for name, initial in outcome.initial.items():
        if initial.dtype.kind == "i":
            assert np.array_equal(outcome.final[name], initial + outcome.incs[name])
