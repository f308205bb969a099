"""From runs to bounds over their curve: regret of stale workers against what the theory allows."""

import matplotlib.pyplot as plt
import numpy as np

import pskit
import theory
from pskit.convex import ensemble

cfg = pskit.Config(
    app={"name": "absolute", "noise": 0.0, "dim": 5, "step": 0.5, "schedule": "inverse-sqrt-t"},
    ps={"policy": "essp", "slack": 3},
    cluster={"clients": 4, "placement": "separate"},
)
runs = ensemble({"essp": cfg}, seeds=range(8))["essp"]
gamma, t = runs.moments(), np.arange(1, len(runs.first) + 1)
curves = np.cumsum(runs.each(lambda run: run.f - run.f_star), axis=1) / t
centre = [float(theory.thm5_center(0.5, 1.0, runs.F2, n, gamma.mu_weighted, exact=True)) for n in t]
plt.loglog(t, curves.T, color="grey", lw=0.5)
plt.loglog(t, centre, label=f"Theorem 5, centre at the measured gamma, mean {gamma.mu:.2f}")
plt.loglog(t[-1], np.median(runs.levels()["C0"]), "o", label="certificate C0 (median)")
plt.xlabel("reads t")
plt.ylabel("mean regret R/t, loss per read")
plt.ylim(bottom=curves[:, -1].min() / 20)  # room for the legend
plt.legend(loc="lower left", title="grey: R/t of 8 runs, ESSP, P = 4, s = 3")
plt.savefig("bounds.png")
