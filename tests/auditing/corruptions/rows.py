"""Recorded updates of a sample of rows."""

from tests.auditing.corruptions.planting import Faults

ROWS = Faults()


@ROWS.fault("an update of a row is there twice", "ids of row updates")
def _(draft):
    draft.repeat("row_updates", 5)


@ROWS.fault("an update is of a row that there is not", "ids of row updates")
def _(draft):
    draft["row_updates"]["row"][5] = 7


@ROWS.fault("a row of two columns has a third", "ids of row updates")
def _(draft):
    lines = draft["row_updates"]
    lines["u"][lines["table"] == 0, 2] = 1.0


@ROWS.fault("an update of a row is larger than all of its shard's", "row updates within norms")
def _(draft):
    draft["row_updates"]["u"][5] *= 100


@ROWS.fault("an update of a row is left out", "row updates within norms")
def _(draft):
    draft.remove("row_updates", int(abs(draft["row_updates"]["u"]).max(axis=1).argmax()))


@ROWS.fault("an update of a row points the other way", "sampled rows add up")
def _(draft):
    draft["row_updates"]["u"][5] *= -1


@ROWS.fault("a row began as another number, within rounding", "sampled rows add up")
def _(draft):
    draft.tables["initial:sums"][3, 1] += 1e-6
