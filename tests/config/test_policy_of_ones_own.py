"""`ps.policy = "module:Class"`: a policy that nobody registered."""

from pathlib import Path

import pytest

from pskit.config import Config
from pskit.core.policies import ESSP, make_policy
from pskit.errors import InputError


class Tight(ESSP):
    """ESSP that never lets a copy be older than two clocks."""

    name = "tight"

    def need(self, clock: int) -> int:
        return clock - min(self.slack, 2)


NOT_A_POLICY = 3


def test_it_is_found_and_takes_the_keys_of_its_kind() -> None:
    cfg = Config(ps={"policy": f"{__name__}:Tight", "slack": 5, "push": "deltas"})
    policy = make_policy(cfg.ps)
    assert type(policy).__name__ == "Tight"
    assert (policy.need(7), policy.deltas) == (5, True)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{__name__}:NOT_A_POLICY", "not a subclass"),
        (f"{__name__}:Nope", "Nope"),
        ("no_such_module:Tight", "no_such_module"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"ps\.policy = .*no policy .*{reason}"):
        Config(ps={"policy": name})


@pytest.mark.parametrize("text", ["raise SystemExit(0)", "1 / 0", "def f(:"])
def test_a_module_that_fails_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "failing_policy.py").write_text(text)
    with pytest.raises(InputError, match=r"no policy 'failing_policy:Any': .* in 'failing_policy'"):
        Config(ps={"policy": "failing_policy:Any"})
