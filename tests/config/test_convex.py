"""The keys of [app] of the convex applications."""

import pytest

from pskit.config import Config, load_config
from pskit.errors import InputError


def test_synthetic_is_the_data_of_a_convex_application():
    assert Config(app={"name": "huber"}).app.data == "synthetic"
    assert Config(app={"name": "huber", "data": "mine.csv"}).app.data == "mine.csv"
    assert Config(app={"name": "mf"}).app.data == "ml-small"


@pytest.mark.parametrize("name", ["quadratic", "absolute", "huber", "logistic"])
def test_a_config_comes_back_from_its_text(name, tmp_path):
    cfg = Config(app={"name": name, "noise_seed": 4, "distance": 0.2, "schedule": "inverse-sqrt-t"})
    assert Config(**cfg.to_dict()) == cfg
    file = tmp_path / "a.toml"
    file.write_text(cfg.to_toml())
    assert load_config(file) == cfg


def test_curvatures_say_how_many_unknowns_there_are():
    app = Config(app={"name": "quadratic", "curvature": [1, 0.5, 0.25]}).app
    assert (app.dim, app.curvature) == (3, (1.0, 0.5, 0.25))
    with pytest.raises(InputError, match="3 curvatures for dim = 4 unknowns"):
        Config(app={"name": "quadratic", "curvature": [1, 0.5, 0.25], "dim": 4})
    with pytest.raises(InputError, match="curvature"):
        Config(app={"name": "quadratic", "curvature": [1, 0.0]})


@pytest.mark.parametrize(
    ("app", "message"),
    [
        ({"name": "absolute", "threshold": 1.0}, 'it belongs to "huber"'),
        ({"name": "quadratic", "samples": 5}, 'the application "quadratic" has no key "samples"'),
        ({"name": "huber", "threshold": 0.0}, "residual at which the Huber loss turns linear, above 0"),
        ({"name": "huber", "noise_seed": -1}, "seed of samples and gradient noise"),
        ({"name": "huber", "samples": 0}, "the number of synthetic samples, 1 or more"),
        ({"name": "huber", "distance": 0.0}, "the distance from the start"),
        ({"name": "huber", "schedule": "inverse"}, "Allowed: constant, inverse-sqrt, inverse-sqrt-t"),
    ],
)
def test_bad_keys(app, message):
    with pytest.raises(InputError, match=message):
        Config(app=app)


def test_another_application_drops_the_keys_that_it_does_not_have(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text('[app]\nname = "huber"\nthreshold = 0.5\ndim = 4\n')
    app = load_config(file, overrides=["app.name=absolute"]).app
    assert (app.name, app.dim) == ("absolute", 4)
