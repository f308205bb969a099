"""Claims about VAP: V-1 to V-3."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from figures.floors import extremes, floor, floors, ratio, sweep
from pskit.repro.claims.parts import AS_BEFORE, Part, Unfit, part, together
from pskit.repro.ensemble import Ensemble
from pskit.repro.statistics import Estimate


def bound_holds(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """V-1: the hypothesis of Theorem 1 at every start, and its bound after every computation of every run."""
    parts = []
    for app in tolerance["apps"]:
        same, who = runs.select(app=app), f"{app} loss"
        views = same.column("distance").size
        wrong = float(same.column("violations").sum())
        what = f"views with |view - x^_t|_inf > v_t, of {views}, {who}"
        parts.append(together(what, wrong, same, high=0.0, carries=app == tolerance["apps"][0]))
        largest = float(same.column("distance").max())
        parts.append(together(f"largest |view - x^_t|_inf / v_t, {who}", largest, same))
        for column, words, limit in (
            ("gradient", "largest |g|_inf / L_inf", 1.0),
            (
                "step_error",
                "largest |eta_t sqrt(t) / eta - 1|, t in the order of the starts",
                tolerance["step"],
            ),
        ):
            parts.append(together(f"{words}, {who}", float(same.column(column).max()), same, high=limit))
        for v0 in same.values("v0"):
            batch, where = same.select(v0=v0), f"{who}, v0 = {v0:g}"
            found = float(batch.column("over").max())
            carries = (app, v0) == (tolerance["apps"][0], min(same.values("v0")))
            parts.append(
                together(f"R / bound, largest of all t, {where}", found, batch, high=1.0, carries=carries)
            )
            printed = float(batch.column("over_printed").max())
            parts.append(together(f"R / bound as printed, largest of all t, {where}", printed, batch))
            parts.append(part(f"computations in flight, {where}", batch.column("in_flight").tolist()))
    return parts


def price(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """V-2: stalls against v0, computations in flight, and messages that the enforcement would need."""
    vap = runs.select(policy="vap", step=tolerance["step"], latency=tolerance["latency"], reversion=0.0)
    thresholds = vap.values("v0")
    narrow, wide = thresholds[0], thresholds[-1]
    share = {v0: vap.select(v0=v0).column("waiting") for v0 in thresholds}
    flight = {v0: vap.select(v0=v0).column("in_flight") for v0 in thresholds}
    sync = {v0: vap.select(v0=v0).column("sync_messages") for v0 in thresholds}
    limits: dict[float, dict[str, Any]] = {
        narrow: {"low": tolerance["stalled"], "carries": True},
        wide: {"high": tolerance["free"]},
    }
    parts = [
        part(f"waiting share, v0 = {v0:g}", share[v0].tolist(), **limits.get(v0, {})) for v0 in thresholds
    ]
    rises = np.max([share[b] - share[a] for a, b in pairwise(thresholds)], axis=0)
    what = "largest rise of the waiting share from one v0 to the next larger one"
    parts.append(part(what, rises.tolist(), high=tolerance["rise"]))
    limits = {narrow: {"high": tolerance["serial"]}}
    for v0 in thresholds:
        parts.append(part(f"computations in flight, v0 = {v0:g}", flight[v0].tolist(), **limits.get(v0, {})))
    margin = tolerance["traffic"]
    what = f"synchronisation messages per computation, v0 = {narrow:g} / {wide:g}"
    ratios = (sync[narrow] / sync[wide]).tolist()
    parts.append(part(what, ratios, low=1 - margin, high=1 + margin, carries=True))
    for column, words in (
        ("sync_messages", "synchronisation messages per computation"),
        ("sync_bytes", "synchronisation bytes per computation"),
        ("messages", "messages of the protocol itself per computation"),
        ("bytes", "bytes of the protocol itself per computation"),
    ):
        parts.append(part(f"{words}, v0 = {narrow:g}", vap.select(v0=narrow).column(column).tolist()))
    diverged = float(np.isinf(vap.column("floor")).sum())
    return [*parts, together("runs that diverged", diverged, vap, high=0.0)]


def floors_of(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """V-3: variance floors over a sweep of v0 and of s; at a longer latency, and at a larger step.

    Raises
    ------
    Unfit
        With too few seeds for an interval.
    """
    if len(runs.seeds) < tolerance["seeds"]:
        raise Unfit(f"this profile has {len(runs.seeds)} seeds; the intervals need {tolerance['seeds']}")
    near, far = (
        floors(runs.select(step=tolerance["step"], latency=tolerance[name], reversion=0.0))
        for name in ("latency", "long_latency")
    )
    parts: list[Part] = []
    for name, batch in near.named():
        found = Estimate(*floor(batch))
        again = any(found == other.estimate for other in parts if "ESSP" in other.what)
        note = AS_BEFORE if again else ""
        parts.append(Part(f"floor / that of a serial execution, {name}", found, note=note))
    (v_low, v_high), (s_low, s_high) = extremes(near.vap), extremes(near.essp)
    limit = {"low": tolerance["vap"], "carries": True}
    parts.append(Part("largest / smallest floor, VAP", Estimate(*ratio(v_high, v_low)), **limit))
    limit = {"high": tolerance["essp"], "carries": True}
    parts.append(Part("largest / smallest floor, ESSP", Estimate(*ratio(s_high, s_low)), **limit))
    parts.append(
        Part("ESSP's smallest floor / VAP's largest", Estimate(*ratio(s_low, v_high)), low=1.0, strict=True)
    )
    reverting = floors(runs.select(step=tolerance["step"], reversion=tolerance["reversion"]))
    (s_low, _), (_, highest) = extremes(reverting.essp), extremes(reverting.vap)
    what = "ESSP's smallest floor / VAP's largest, workers that stay together"
    parts.append(Part(what, Estimate(*ratio(s_low, highest))))
    where = "latency of one clock"
    (v_low, v_high), (s_low, s_high) = extremes(far.vap), extremes(far.essp)
    what = f"ESSP's smallest floor / VAP's largest, {where}"
    parts.append(Part(what, Estimate(*ratio(s_low, v_high)), high=1.0, strict=True))
    parts.append(Part(f"ESSP's largest floor / VAP's largest, {where}", Estimate(*ratio(s_high, v_high))))
    what = f"largest / smallest floor, ESSP, {where}"
    parts.append(Part(what, Estimate(*ratio(s_high, s_low)), low=tolerance["essp"], strict=True))
    parts.append(Part(f"largest / smallest floor, VAP, {where}", Estimate(*ratio(v_high, v_low))))
    return [
        *parts,
        *larger_step(runs.select(step=tolerance["large_step"]), tolerance),
        checked(runs, tolerance),
    ]


def larger_step(runs: Ensemble, tolerance: Mapping[str, Any]) -> list[Part]:
    """Who diverges at a larger step."""
    where, parts = f"step {tolerance['large_step']:g}", []
    for batch in sweep(runs.select(policy="essp"), "slack"):
        share = float(np.isinf(batch.column("floor")).mean())
        what = f"share of runs that diverge, {where}, ESSP s = {batch.values('slack')[0]}"
        parts.append(together(what, share, batch, low=1.0))
    for batch in sweep(runs.select(policy="vap"), "v0"):
        what = f"floor / that of a serial execution, {where}, VAP v0 = {batch.values('v0')[0]:g}"
        parts.append(Part(what, Estimate(*floor(batch)), high=tolerance["stable"]))
    return parts


def checked(runs: Ensemble, tolerance: Mapping[str, Any]) -> Part:
    """Whether the claimed L_inf held on every run under VAP."""
    vap = runs.select(policy="vap")
    largest = float(vap.column("gradient").max())
    return together(
        "largest |g|_inf / the L_inf that VAP reserved for", largest / tolerance["L_inf"], vap, high=1.0
    )
