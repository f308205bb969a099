"""Evaluations of a run."""

from tests.auditing.corruptions.planting import Faults

METRICS = Faults()


@METRICS.fault("an evaluation is moved before the one before", "times of metrics")
def _(draft):
    draft["metrics"]["t"][3] = draft["metrics"]["t"][2] - 1


@METRICS.fault("an evaluation names an earlier clock than the one before", "times of metrics")
def _(draft):
    draft["metrics"]["clock"][3] = draft["metrics"]["clock"][2] - 1


@METRICS.fault("an evaluation claims a clock whose updates were not in", "times of metrics")
def _(draft):
    draft["metrics"]["clock"][2:5] += 1


@METRICS.fault("the first evaluation is not that of clock 0", "times of metrics")
def _(draft):
    draft.remove("metrics", 0)


@METRICS.fault("the first evaluation is after time 0", "times of metrics")
def _(draft):
    draft["metrics"]["t"][0] = 1


@METRICS.fault("an evaluation is after the end of the run", "times of metrics")
def _(draft):
    draft["metrics"]["t"][-1] += 1


@METRICS.fault("an evaluation names the clock of the one before", "clocks of metrics")
def _(draft):
    draft["metrics"]["clock"][3] -= 1


@METRICS.fault("an evaluation is a nanosecond after the rise of the clock", "clocks of metrics")
def _(draft):
    draft["metrics"]["t"][3] += 1


@METRICS.fault("evaluations are closer together than the config says", "clocks of metrics")
def _(draft):
    draft.manifest["config"]["run"]["eval_every"] = 2
