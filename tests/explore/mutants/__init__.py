"""Bugs to plant, each with the rule of the protocol that it breaks."""

from tests.explore.mutants.channels import CHANNELS
from tests.explore.mutants.clocks import CLOCKS, LEAVING
from tests.explore.mutants.condition import CONDITION
from tests.explore.mutants.policies import BSP_AND_ASP
from tests.explore.mutants.pushes import PUSHES
from tests.explore.mutants.requests import EVICTIONS, REQUESTS
from tests.explore.mutants.views import VIEWS

MUTANTS = [
    *REQUESTS,
    *EVICTIONS,
    *CONDITION,
    *VIEWS,
    *PUSHES,
    *CLOCKS,
    *LEAVING,
    *BSP_AND_ASP,
    *CHANNELS,
]
