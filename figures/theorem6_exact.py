"""T6-3: tr Cov(x_t) of an ensemble on the exact curve of its recorded schedule, and the iid law beside it."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from figures.kit import DASHES, LOOKS, Runs, Sheet
from figures.variances import iid_error, own_checkpoints
from pskit.analysis.variance import checkpoints

LIMIT = 4
IID = "#AA4499"


def draw(runs: Runs, sheet: Sheet) -> None:
    """A column per policy: the curve, z-scores, the error of the iid law."""
    grid = sheet.axes(3, 2, 5.0, sharex=True, sharey="row", height_ratios=(2, 1.1, 1))
    own = own_of_essp(runs)
    for column, policy in zip(grid.T, ("ssp", "essp"), strict=True):
        (batch,) = runs.select(policy=policy)
        look = LOOKS[policy]
        at = checkpoints(len(batch.columns["exact_var"]))
        curve(column[0], batch.columns, at, sheet, policy, len(batch.seeds))
        scores(column[1], batch.columns, at, at if policy == "ssp" else own, sheet, policy)
        error(column[2], batch.columns, at, sheet, policy)
        column[0].set_title(f"{look.name}, s = {batch.config['ps']['slack']}")
        column[2].set_xlabel("t (reads)")
    for axes, label in zip(grid[:, 0], ("tr Cov(x_t)", "z-score", "iid / exact − 1"), strict=True):
        axes.set_ylabel(label)


def remarks(runs: Runs) -> str:
    """Number of runs, the checkpoints that count once, and the error of the iid law."""
    said = []
    for policy in ("ssp", "essp"):
        (batch,) = runs.select(policy=policy)
        columns = batch.columns
        at = checkpoints(len(columns["exact_var"]))
        wrong = columns["iid_var"][at] / columns["exact_var"][at] - 1
        worst, last = wrong[np.abs(wrong).argmax()], wrong[-1]
        t, everywhere = iid_error(columns)
        place = int(np.abs(everywhere).argmax())
        said.append(
            f"{LOOKS[policy].name} {worst:+.1%} at the worst checkpoint (dots), {last:+.1%} at the last, "
            f"{everywhere[place]:+.1%} at the worst t of all, {t[place]}"
        )
    common = [str(t) for t in at if t not in own_of_essp(runs)]
    once = f"At t = {', '.join(common)} nothing differs yet between the policies: open, and counted once. "
    return f"{len(batch.seeds)} runs. {once if common else ''}Error of the iid law: {'; '.join(said)}."


def own_of_essp(runs: Runs) -> Any:
    """Checkpoints at which ESSP's ensemble is not SSP's, which has the same noise."""
    essp, ssp = (runs.select(policy=policy).column("exact_var") for policy in ("essp", "ssp"))
    return own_checkpoints(essp, ssp)


def curve(axes: Axes, columns: dict[str, Any], at: Any, sheet: Sheet, policy: str, runs: int) -> None:
    """Observed on exact, and the iid law."""
    look, exact, t = LOOKS[policy], columns["exact_var"], np.arange(len(columns["exact_var"]))
    z, spread = columns["z_var"], columns["error_var"]
    observed = exact + z * spread
    axes.plot(t, exact, color="#222222", linewidth=1, label="exact, recorded schedule")
    axes.plot(t, columns["iid_var"], color=IID, linestyle=DASHES, linewidth=1.2, label="iid law of delays")
    axes.errorbar(
        at,
        observed[at],
        2 * spread[at],
        fmt=look.marker,
        color=look.colour,
        markersize=3,
        elinewidth=1,
        capsize=1.5,
        label=f"observed, {runs} runs",
        zorder=4,
    )
    sheet.record(look.name, "exact", t.tolist(), exact.tolist())
    sheet.record(look.name, "iid law", t.tolist(), columns["iid_var"].tolist())
    ends = (observed - 2 * spread)[at], (observed + 2 * spread)[at]
    sheet.record(look.name, "observed", at.tolist(), observed[at].tolist(), *(end.tolist() for end in ends))
    axes.set_ylim(0, None)
    axes.legend(loc="upper right")


def scores(axes: Axes, columns: dict[str, Any], at: Any, own: Any, sheet: Sheet, policy: str) -> None:
    """All z-scores, open where they are not ``own``, and the limit of the claim."""
    look, mean = LOOKS[policy], columns["z_mean"][at]
    for i, score in enumerate(mean.T):
        label = "mean, each coordinate" if i == 0 else None
        axes.plot(at, score, ".", color="#999999", markersize=3, label=label)
        sheet.record(look.name, f"z of the mean, coordinate {i + 1}", at.tolist(), score.tolist())
    style: dict[str, Any] = {"marker": look.marker, "linestyle": "", "color": look.colour, "markersize": 3.5}
    axes.plot(own, columns["z_var"][own], **style, label="tr Cov")
    common = np.setdiff1d(at, own)
    axes.plot(common, columns["z_var"][common], **style, markerfacecolor="white")
    sheet.record(look.name, "z of tr Cov", at.tolist(), columns["z_var"][at].tolist())
    for limit in (-LIMIT, LIMIT):
        axes.axhline(limit, color="#222222", linestyle=DASHES, linewidth=0.8)
    axes.set_ylim(-LIMIT - 1.4, LIMIT + 1.4)
    axes.set_yticks([-4, -2, 0, 2, 4])
    axes.legend(loc="upper right", ncols=2, bbox_to_anchor=(1, 1.12))


def error(axes: Axes, columns: dict[str, Any], at: Any, sheet: Sheet, policy: str) -> None:
    """How wrong the iid law is, and the checkpoints on it."""
    t, wrong = iid_error(columns)
    axes.plot(t, wrong, color=IID, linewidth=1)
    here = np.isin(t, at)
    axes.plot(t[here], wrong[here], ".", color=IID, markersize=4)
    axes.axhline(0, color="#222222", linewidth=0.7)
    axes.yaxis.set_major_formatter("{x:.0%}")
    sheet.record(LOOKS[policy].name, "iid / exact - 1", t.tolist(), wrong.tolist())
