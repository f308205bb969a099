"""Golden values, and a small simulator of runs that knows nothing of the package under test."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Cases of golden.json by name: (inputs, outputs)."""
    cases = json.loads(Path(__file__).with_name("golden.json").read_text())["cases"]
    return {case["name"]: (case["inputs"], case["outputs"]) for case in cases}


def make_schedule(P: int, s: int, clocks: int, rng: np.random.Generator, eager: bool, spread: float):
    """Vc (C, P, P) and order (T,) of a run in continuous time; pull refreshes when the slack forces it."""
    vc = np.zeros((clocks, P, P), dtype=np.int64)
    arrival = np.full((P, clocks + 1), np.inf)
    arrival[:, 0] = 0.0
    clock, ready, cache = np.zeros(P, int), rng.random(P) * 0.01, np.zeros((P, P), dtype=np.int64)
    order, pushes = [], []  # pushes: (time at which they reach the clients, counts)
    pushed = 0
    while np.any(clock < clocks):
        p = int(np.argmin(np.where(clock < clocks, ready, np.inf)))
        now, c = float(ready[p]), int(clock[p])
        server = (arrival[:, 1:] <= now).sum(axis=1)
        if eager:
            while pushed < server.min():
                pushed += 1
                rise = arrival[:, pushed].max()
                pushes.append((rise + 0.1, (arrival[:, 1:] <= rise).sum(axis=1)))
            for reached, state in pushes[-4 * P :]:
                if reached <= now:
                    cache[p] = np.maximum(cache[p], state)
        if np.delete(cache[p], p).min(initial=clocks) < c - s:
            if server.min() < c - s:
                ready[p] = now + 0.02
                continue
            cache[p] = np.maximum(cache[p], server)
        vc[c, p] = cache[p]
        vc[c, p, p] = c
        order.append(c * P + p)
        ready[p] = now + 1 + spread * rng.exponential()
        arrival[p, c + 1] = max(arrival[p, c], ready[p] + 0.2 * rng.exponential())
        clock[p] += 1
    return vc, np.array(order)


@dataclass
class Run:
    P: int
    s: int
    vc: np.ndarray
    order: np.ndarray
    eta_t: np.ndarray
    x: np.ndarray
    views: np.ndarray
    u: np.ndarray
    g: np.ndarray
    losses: np.ndarray  # f_t(view) - f_t(x*)
    reference_losses: np.ndarray  # f_t(x_t) - f_t(x*)
    x_star: np.ndarray
    L: float


def sample_loss(kind: str, rows: np.ndarray, targets: np.ndarray):
    """loss(t, x), gradient(t, x) for one linear model; L = 1 as the rows have norm 1."""

    def residual(t, x):
        return rows[t] @ x - targets[t]

    if kind == "absolute":
        return lambda t, x: abs(residual(t, x)), lambda t, x: np.sign(residual(t, x)) * rows[t]
    width = 0.1

    def huber(t, x):
        r = abs(residual(t, x))
        return r - width / 2 if r > width else r * r / (2 * width)

    return huber, lambda t, x: np.clip(residual(t, x) / width, -1, 1) * rows[t]


def make_run(
    seed: int,
    P: int = 4,
    s: int = 3,
    clocks: int = 60,
    eager: bool = False,
    kind: str = "absolute",
    eta: float = 0.5,
) -> Run:
    """SGD on a noiseless linear model (x* = 0.3 is a minimiser of every f_t) under a made schedule."""
    rng = np.random.default_rng(seed)
    vc, order = make_schedule(P, s, clocks, rng, eager, spread=0.3)
    T, d = P * clocks, 3
    rows = rng.normal(size=(T, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    x_star = np.full(d, 0.3)
    loss, gradient = sample_loss(kind, rows, rows @ x_star)
    eta_t = eta / np.sqrt(np.arange(1, T + 1))
    u, g, views = np.zeros((T, d)), np.zeros((T, d)), np.zeros((T, d))
    index = np.arange(T).reshape(clocks, P)
    for t in order:
        c, p = divmod(int(t), P)
        seen = np.concatenate([index[: vc[c, p, q], q] for q in range(P)])
        views[t] = u[seen].sum(axis=0)
        g[t] = gradient(t, views[t])
        u[t] = -eta_t[t] * g[t]
    x = np.concatenate([np.zeros((1, d)), np.cumsum(u, axis=0)])
    losses = np.array([loss(t, views[t]) - loss(t, x_star) for t in range(T)])
    reference = np.array([loss(t, x[t]) - loss(t, x_star) for t in range(T)])
    return Run(P, s, vc, order, eta_t, x, views, u, g, losses, reference, x_star, 1.0)


@pytest.fixture(scope="session")
def schedule():
    """The function make_schedule."""
    return make_schedule


@pytest.fixture(scope="session")
def runs() -> dict[tuple[str, bool], list[Run]]:
    """Twelve runs each, by (loss, eager)."""
    return {
        (kind, eager): [make_run(seed, kind=kind, eager=eager) for seed in range(12)]
        for kind in ("absolute", "huber")
        for eager in (False, True)
    }
