"""Links that lose, repeat and reorder."""

from pskit.core.channel import Receiver, Sender
from tests.explore.mutants.systems import LOSSY, LOSSY_OPLOGS
from tests.explore.mutation import Edit, Mutant

CHANNELS = [
    Mutant(
        "no reorder buffer",
        "the receiver hands messages on in order",
        (
            Edit(
                Receiver,
                "on_segment",
                "ready = []",
                "if segment.seq >= self.expected:\n"
                "        self.early.clear()\n"
                "        self.expected = segment.seq + 1\n"
                "        return [segment.message], Ack(self.expected)\n"
                "    ready = []",
            ),
        ),
        LOSSY_OPLOGS,
    ),
    Mutant(
        "repeated segments are handed on again",
        "each message is handed on once",
        (
            Edit(
                Receiver,
                "on_segment",
                "ready = []",
                "ready = [] if segment.seq >= self.expected else [segment.message]",
            ),
        ),
        LOSSY,
    ),
    Mutant(
        "an acknowledgement of one segment, not of all below",
        "acknowledgements are cumulative",
        (
            Edit(
                Receiver,
                "on_segment",
                "return ready, Ack(self.expected)",
                "return ready, Ack(segment.seq + 1)",
            ),
        ),
        LOSSY_OPLOGS,
    ),
    Mutant(
        "no second retransmission",
        "while anything is unacknowledged a timer is set",
        (
            Edit(
                Sender,
                "on_timer",
                "return [Segment(oldest, self.unacked[oldest]), self._timer()]",
                "return [Segment(oldest, self.unacked[oldest])]",
            ),
        ),
        LOSSY,
    ),
    Mutant(
        "any acknowledgement stops the timer",
        "an acknowledgement that shows progress sets the timer anew",
        (Edit(Sender, "on_ack", "if self.unacked:", "if False:"),),
        LOSSY,
    ),
    Mutant(
        "the newest segment is sent again",
        "when the timer goes off the oldest segment is sent again",
        (Edit(Sender, "on_timer", "next(iter(self.unacked))", "max(self.unacked)"),),
        LOSSY_OPLOGS,
        ends=False,
    ),
]
