"""Ctrl-C wherever an application may be at work: the trace so far fits together, or there is none."""

import signal
import threading

import numpy as np
import pytest

import pskit
from pskit.core.layout import TableSpec
from pskit.runtime import interrupts
from pskit.runtime.interrupts import BrokenOff, between_events

HERE = f"{__name__}:Interrupts"
PLACES = ("first objective", "first kernel", "work", "inc", "kernel", "pool", "objective", "last objective")


class Interrupts:
    """Presses Ctrl-C ``options.times`` times at the place ``options.place``; worker 1, in its clock 3."""

    def tables(self, cfg):
        self.options, self.objectives = cfg.app.options, 0
        return [TableSpec("x", 4, 2)]

    def init(self, ctx):
        pass

    def lipschitz_inf(self, cfg):
        return 4.0

    def step_at(self, cfg, worker, clock, start):
        return 1.0

    def press(self, place, *arrays):
        if self.options["place"] == place:
            for _ in range(self.options.get("times", 1)):
                signal.raise_signal(signal.SIGINT)
        return arrays

    async def work(self, ps):
        table = ps.table("x")
        for clock in range(ps.cfg.app.clocks):
            mine = ps.worker == 1 and clock == 3
            rows = np.array([ps.worker % 4, clock % 4])
            values = await table.get(np.unique(rows))
            if mine:
                self.press("work")
            first = "first kernel" if (ps.worker, clock) == (1, 0) else ""
            await ps.compute(self.press, "kernel" if mine else first, values, cost=1)
            if mine:
                await ps.compute(self.in_pool, cost=50_000)
            table.inc(rows, np.ones((2, 2)))
            if mine:
                self.press("inc")
                table.inc(rows, np.ones((2, 2)))
            await ps.clock()

    def in_pool(self):
        if self.options["place"] == "pool":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def objective(self, tables):
        self.objectives += 1
        first = "first objective" if self.objectives == 1 else "objective"
        self.press(first if self.objectives in (1, 5) else "")
        if (tables["x"].sum()) == self.options.get("sum"):
            self.press("last objective")
        return {"loss": 1.0}


def config(place, policy="essp", clocks=8, **options):
    ps = {"essp": {"slack": 1}, "ssp": {"slack": 2}, "vap": {"v0": 50.0}}.get(policy, {})
    return pskit.Config(
        app={"name": HERE, "clocks": clocks, "options": {"place": place, **options}},
        ps={"policy": policy, "shards": 2, **ps},
        cluster={"clients": 2, "threads": 2, "placement": "separate"},
        compute={"model": "exponential", "mean": "1s"},
        network={"latency": {"model": "exponential", "mean": "200ms"}},
        run={"trace": "full"},
    )


@pytest.mark.parametrize("policy", ["essp", "ssp", "bsp", "asp", "vap"])
@pytest.mark.parametrize("place", PLACES)
def test_the_trace_so_far_passes_the_audit(tmp_path, policy, place):
    everything = 4 * 8 * 2 * 2 + 4  # what all INCs add to all entries
    with pytest.raises(KeyboardInterrupt) as caught:
        pskit.run(config(place, policy, sum=everything), out=tmp_path / "run")
    assert not isinstance(caught.value, BrokenOff)
    trace = pskit.open_trace(tmp_path / "run")
    assert trace.status == "interrupted"
    assert (len(trace.columns("clocks")["t_end"]) == 32) == (place == "last objective")
    report = pskit.audit(tmp_path / "run")
    assert report.ok, str(report)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("place", ["first objective", "inc", "kernel", "objective"])
def test_a_second_one_breaks_off_and_leaves_nothing(tmp_path, place):
    with pytest.raises(BrokenOff):
        pskit.run(config(place, times=2), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_has_to_wait_is_told(monkeypatch, capfd):
    monkeypatch.setattr(interrupts, "SECONDS_UNTIL_TOLD", 0.0)
    with between_events("leaves no trace") as came:
        assert not came
        signal.raise_signal(signal.SIGINT)
        assert came == [signal.SIGINT]
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join()
    assert "another Ctrl-C breaks it off at once, and leaves no trace\n" in capfd.readouterr().err


def test_who_is_done_soon_is_told_nothing(capfd):
    with between_events("leaves no trace"):
        signal.raise_signal(signal.SIGINT)
    assert not any(isinstance(t, threading.Timer) and not t.finished.is_set() for t in threading.enumerate())
    assert capfd.readouterr().err == ""


def test_one_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with between_events("leaves no trace") as came:
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert came == []
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_there_is_none():
    seen = []

    def look():
        with between_events("leaves no trace") as came:
            seen.append((came, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [([], signal.default_int_handler)]
