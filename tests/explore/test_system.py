import json

import pytest

from pskit.errors import InputError
from pskit.explore import System


def test_slack_follows_the_policy_unless_it_is_given():
    assert System("essp").slack == 1
    assert System("bsp").slack == 0
    assert System("ssp", slack=3).make_policy().need(3) == 0


def test_layout():
    system = System(clients=2, threads=2, shards=3, rows=2)
    assert (system.workers, list(system.members(1))) == (4, [2, 3])
    assert (system.layout.n_rows, system.layout.tables[0].cols) == (6, 4)


def test_json_and_back():
    system = System("ssp", slack=2, scripts={1: "G0 L"}, evictions=True)
    assert System.from_dict(json.loads(json.dumps(system.to_dict()))) == system


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policy": "esp"}, r"no policy 'esp'; known are .*essp"),
        ({"policy": "bsp", "slack": 1}, "'bsp' takes no slack"),
        ({"policy": "ssp", "deltas": True}, "'ssp' pushes nothing"),
        ({"clients": 0}, "clients must be at least 1, not 0"),
        ({"shards": 0}, "shards must be at least 1"),
        ({"slack": -1}, "slack must be at least 0, not -1"),
        ({"capacity": -1}, "capacity must be at least 0"),
        ({"scripts": {2: "L"}}, r"scripts of workers \[2\]: the workers are 0 to 1"),
        ({"scripts": {0: "G9 L"}}, "rows from 0 to 1"),
    ],
)
def test_wrong_systems(given, message):
    with pytest.raises(InputError, match=message):
        System(**given)
