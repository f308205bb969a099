"""Views and gradients of a convex run."""

import numpy as np

from tests.auditing.corruptions.planting import Faults

VIEWS = Faults()


@VIEWS.fault("a view's line names no worker of the run", "ids of views and gradients", "absolute")
def _(draft):
    draft["views"]["worker"][3] = 99


@VIEWS.fault("a gradient's line names a clock before the first", "ids of views and gradients", "absolute")
def _(draft):
    draft["gradients"]["clock"][0] = -1


@VIEWS.fault("a gradient is twice as long", "gradients are the updates", "absolute")
def _(draft):
    draft["gradients"]["g"][5] *= 2


@VIEWS.fault("a step size is smaller", "gradients are the updates", "absolute")
def _(draft):
    draft["gradients"]["eta"][5] /= 2


@VIEWS.fault("a gradient is left out", "gradients are the updates", "absolute")
def _(draft):
    draft.remove("gradients", 4)


@VIEWS.fault("gradients point the other way", "views decode", "absolute")
def _(draft):
    for i, j in ((2, 3), (4, 5)):
        draft["gradients"]["g"][[i, j]] *= -1


@VIEWS.fault("one number of a view is off by its last bit", "views decode", "absolute")
def _(draft):
    x = draft["views"]["x"]
    x[7, 1] = np.nextafter(x[7, 1], np.inf)


@VIEWS.fault("a view lacks the newest update of its version", "views decode", "absolute")
def _(draft):
    x, g = draft["views"]["x"], draft["gradients"]
    x[-1] += g["eta"][0] * g["g"][0]


@VIEWS.fault("a view is of another time than the read", "views decode", "absolute")
def _(draft):
    draft["views"]["t"][6] += 1
