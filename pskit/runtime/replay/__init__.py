"""A recorded live run again, in virtual time: the simulation, with the times and the order of the record."""

from pskit.runtime.replay.compare import first_difference, first_different_table
from pskit.runtime.replay.record import Differs, Record
from pskit.runtime.replay.replay import Replay

__all__ = ["Differs", "Record", "Replay", "first_difference", "first_different_table"]
