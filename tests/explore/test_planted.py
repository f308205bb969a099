"""Every planted bug is found."""

import pytest

from pskit.core.policies import Policy
from pskit.explore import tell
from tests.explore import planted
from tests.explore.mutants import MUTANTS
from tests.explore.mutants.systems import SSP
from tests.explore.mutation import Edit, Mutant, systems_of


def test_there_are_many():
    assert len(MUTANTS) >= 25
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)


def test_all_are_found(capsys):
    rows = list(planted.table())
    with capsys.disabled():
        print()
        for line in planted.lines(rows):
            print(line)
    missed = [row.mutant.name for row in rows if row.verdict.violation is None]
    assert not missed
    assert sum(row.walk is not None for row in rows) > 50
    assert sum(row.trace is not None for row in rows) > 25


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_the_way_to_it_can_be_told(mutant):
    with mutant.planted():
        verdict = planted.explore(mutant.system)
        story = tell(mutant.system, verdict.path, verdict.violation)
    assert story.violation == verdict.violation
    assert story.path == verdict.path


def test_without_a_bug_nothing_is_found_there():
    systems = systems_of(MUTANTS)
    assert len(systems) > 20
    assert {planted.explore(system).violation for system in systems} == {None}


def test_an_edit_that_does_not_fit_is_an_error():
    mutant = Mutant("none", "", (Edit(Policy, "need", "clock + 7", "clock"),), SSP)
    with pytest.raises(LookupError, match="has 'clock \\+ 7' 0 times"), mutant.planted():
        pass
