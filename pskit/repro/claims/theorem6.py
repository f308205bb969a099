"""Claims about the variance of x_t: T6-1 to T6-4. An ensemble gives one number of all of its runs."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from figures.variances import factor, iid_error, noise, own_checkpoints
from pskit.analysis.variance import CHECKPOINTS, TERMS, checkpoints, late
from pskit.repro.claims.parts import Part, number, part, together
from pskit.repro.ensemble import Ensemble
from pskit.repro.statistics import Estimate

Floats = npt.NDArray[Any]
POLICIES = ("ssp", "essp")
SCALED = ("fresh_noise", "stale1", "stale2", "stale3")


def adds_up(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T6-1: the terms against the change of the variance, and what they are made of against the trace."""
    parts = []
    for app, policy in tolerance["ensembles"]:
        batch, name = runs.select(app=app, policy=policy), f"{app}, {policy.upper()}"
        for column, what in (
            ("closure", "terms against Var_{t+1} - Var_t"),
            ("closure_view", "the same of the views"),
            ("final_error", "x_T rebuilt from the updates, against the final table"),
            ("view_error", "views rebuilt from the updates that they contain, against those read"),
        ):
            worst, limit = float(np.abs(batch.column(column)).max()), tolerance["error"]
            carries = column == "closure" and app == "quadratic"
            parts.append(together(f"{what}, {name}", worst, batch, high=limit, carries=carries))
    return parts


def slopes(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T6-2: powers of the step in the terms, and what staleness adds to the noise at the floor."""
    parts = []
    for policy in POLICIES:
        same, who = runs.select(policy=policy), policy.upper()
        for regime in ("interpolating", "floor"):
            steps, table = same.traces[0].columns[f"{regime}_steps"], same.column(regime)
            first, second = (place_of(steps, step) for step in tolerance[f"{regime}_steps"])
            expected, margin = tolerance[regime], tolerance[f"{regime}_margin"]
            octaves = math.log2(steps[second] / steps[first])
            distance = slope(table[..., -1], first, second) / octaves if regime == "interpolating" else 0.0
            for name, power in zip(SCALED, expected, strict=True):
                raw = slope(table[..., TERMS.index(f"ref:{name}")], first, second) / octaves
                what = f"power of eta in {name}, {regime}, {who}"
                carries = (name, policy, regime) == ("stale1", "ssp", "interpolating")
                values = (raw - distance).tolist()
                limits = {"low": power - margin, "high": power + margin}
                parts.append(part(what, values, **limits, carries=carries))
        steps, table = same.traces[0].columns["floor_steps"], same.column("floor")
        low, high = tolerance["share"]
        for step in steps.tolist():
            binding = step in tolerance["share_steps"]
            at = table[:, place_of(steps, step)]
            shares = (at[:, TERMS.index("ref:stale1")] / at[:, TERMS.index("ref:fresh_noise")]).tolist()
            what, limits = (
                f"stale1 / fresh noise at the floor, step {step:g}, {who}",
                {"low": low, "high": high},
            )
            carries = binding and policy == "ssp" and step == max(tolerance["share_steps"])
            parts.append(part(what, shares, **(limits if binding else {}), carries=carries))
        iid = same.column("iid_floor")[:, -1] / table[:, -1, -1] - 1
        what = f"error of Var(x_t) at the floor if delays were iid, step {steps[-1]:g}, {who}"
        parts.append(part(what, iid.tolist()))
    return parts


def exact_curve(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T6-3: mean and variance against the exact recursion on the recorded schedule; the iid law beside it."""
    parts, first = [], runs.select(policy=POLICIES[0]).column("exact_var")
    for policy in POLICIES:
        batch, who = runs.select(policy=policy), policy.upper()
        limit = tolerance["z"]
        exact, iid = batch.column("exact_var"), batch.column("iid_var")
        at = checkpoints(len(exact))
        own = at if policy == POLICIES[0] else own_checkpoints(exact, first)
        for column, what in (("z_mean", "the mean, every coordinate"), ("z_var", "tr Cov")):
            worst = float(np.abs(batch.column(column)[own]).max(initial=0.0))
            name, carries = f"largest |z| of {what}, {who}", column == "z_var"
            limits = {"high": limit, "strict": True}
            parts.append(together(name, worst, batch, **limits, carries=carries, note=counted_at(own)))
        error = iid[at] / exact[at] - 1
        for name, value in (("worst", error[np.abs(error).argmax()]), ("last", error[-1])):
            parts.append(together(f"error of the iid law at the {name} checkpoint, {who}", value, batch))
        t, everywhere = iid_error({"exact_var": exact, "iid_var": iid})
        place = int(np.abs(everywhere).argmax())
        what, note = f"error of the iid law at the worst t of all, {who}", f"t = {t[place]}"
        parts.append(together(what, everywhere[place], batch, note=note))
        power = float(np.abs((iid - exact)[at] / batch.column("error_var")[at]).max())
        parts.append(together(f"the iid law's tr Cov, in standard errors of these runs, {who}", power, batch))
    return parts


def counted_at(own: Floats) -> str:
    """At how many checkpoints, where they are not all; empty if they are."""
    if len(own) == CHECKPOINTS:
        return ""
    return f"at {len(own)} of {CHECKPOINTS} checkpoints; at the others it is SSP's number"


def from_moments(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """T6-4: terms as gamma's moments predict them under A1 and A2, and exact ones, against those measured."""
    parts = []
    for policy in POLICIES:
        batch, who = runs.select(policy=policy), policy.upper()
        first = policy == "ssp"
        z, columns = batch.column("z_terms"), batch.traces[0].columns
        half, at = late(z.shape[1]), checkpoints(z.shape[1])
        if not first:
            at = own_checkpoints(batch.column("exact"), runs.select(policy=POLICIES[0]).column("exact"))
        spread = batch.column("var_delta")[half].mean()
        for column, words in (("predicted", "the read's own"), ("pooled", "one law for all reads")):
            ratio = float(batch.column(f"{column}_var_delta")[half].mean() / spread)
            margin = tolerance["var_delta"]
            limits = {"low": 1 - margin, "high": 1 + margin} if column == "predicted" else {}
            what = f"Var(delta) predicted / measured, moments: {words}, {who}"
            parts.append(together(what, ratio, batch, **limits, carries=first and bool(limits)))
        for name, binding in (("ref:stale1", True), ("view:cross", True), ("ref:stale3", False)):
            at_least = "at least, " if binding else ""
            what = f"{name} measured / predicted, {at_least}second half, {who}"
            carries = first and name == "ref:stale1"
            limits = {"low": tolerance["wrong_by"]} if binding else {}
            note = f"standard error of one read's term: {number(noise(columns, name))} of the term"
            parts.append(Part(what, Estimate(*factor(columns, name)), **limits, carries=carries, note=note))
        for name, scores in zip(TERMS, z, strict=True):
            worst = float(np.abs(scores[at]).max(initial=0.0))
            what = f"largest |z| of {name} against the exact recursion, {who}"
            limits = {"high": tolerance["z"], "strict": True}
            parts.append(together(what, worst, batch, **limits, note=counted_at(at)))
    return parts


def slope(values: Floats, first: int, second: int) -> Floats:
    """log2 of a ratio of columns, for each row."""
    return np.asarray(np.log2(np.abs(values[:, second] / values[:, first])))


def place_of(steps: Floats, step: float) -> int:
    """Index of a step."""
    return int(np.flatnonzero(steps == step)[0])
