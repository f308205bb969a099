"""All reachable states of small systems made of the real core.

    verdict = explore(System(policy="essp", clients=2, shards=2, clocks=2, slack=1))
    verdict.states, verdict.violation

Machines are called once for each state and input, between frozen states; the search runs over numbers.
"""

from pskit.explore.search import MOST_STATES, Progress, Verdict, explore
from pskit.explore.story import Step, Story, replay, save, tell
from pskit.explore.system import System

__all__ = [
    "MOST_STATES",
    "Progress",
    "Step",
    "Story",
    "System",
    "Verdict",
    "explore",
    "replay",
    "save",
    "tell",
]
