"""Records that no live run can have made are refused; those of another run are told apart."""

import numpy as np
import pytest
from typer.testing import CliRunner

import pskit
from pskit import cli
from pskit.trace.store import open_run, write_run
from tests.runtime.live.runs import config


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("record") / "live"
    pskit.run(config("ssp", ps={"shards": 2}, run={"record": True}), out=folder)
    return folder


def rewritten(folder, out, change):
    """A copy of a run, with correct hashes, of which ``change(columns)`` changed something."""
    run = open_run(folder)
    columns = {name: {key: values.copy() for key, values in run[name].items()} for name in run}
    change(columns)
    config_toml = (folder / "config.toml").read_text()
    manifest = {key: value for key, value in run.manifest.items() if key != "files"}
    write_run(out, config_toml=config_toml, manifest=manifest, columns=columns, tables=dict(run.tables))
    return out


def command(*arguments):
    result = CliRunner().invoke(cli.app, ["replay", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_command(folder, tmp_path):
    code, text = command(folder, "--out", tmp_path / "sim")
    assert code == 0
    assert f"{folder}: the replay agrees: " in text
    assert pskit.audit(tmp_path / "sim").ok
    again, _ = command(tmp_path / "sim")  # what was replayed has its record still
    assert again == 0


def test_a_changed_file_is_refused(folder, tmp_path):
    copy = rewritten(folder, tmp_path / "copy", lambda columns: None)
    with (copy / "moments.npz").open("ab") as file:
        file.write(b"\0")
    code, text = command(copy)
    assert code == 2
    assert "moments.npz was changed" in " ".join(text.split())


def test_runs_without_a_record_are_refused(tmp_path):
    for name, cfg, message in (
        ("sim", config("ssp", runtime="sim", clocks=2), "made in virtual time"),
        ("live", config("ssp", clocks=2), "run.record = true"),
    ):
        pskit.run(cfg, out=tmp_path / name)
        with pytest.raises(pskit.InputError, match=message):
            pskit.replay(tmp_path / name)


def of_kind(columns, what):
    return np.flatnonzero(columns["moments"]["what"] == what)


def same_moment(columns):
    at = of_kind(columns, 1)[:2]
    columns["moments"]["t"][at] = columns["moments"]["t"][at].max()


def early(columns):
    columns["moments"]["t"][of_kind(columns, 1)[0]] -= 10**15


def no_beginning(columns):
    columns["moments"]["what"][of_kind(columns, 0)[0]] = 1


def unknown_worker(columns):
    columns["moments"]["who"][of_kind(columns, 1)[0]] = 99


def unknown_kind(columns):
    columns["moments"]["what"][0] = 77


def sent_by_nobody(columns):
    columns["messages"]["t_send"][5] += 1


def before_it_was_sent(columns):
    columns["messages"]["t_deliver"][5] = columns["messages"]["t_send"][5] - 1


def after_the_end(columns):
    columns["moments"]["t"][of_kind(columns, 3)[0]] = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (same_moment, "at the same moment"),
        (early, "over before its end"),
        (no_beginning, "not every process began once"),
        (unknown_worker, "a worker that there is not"),
        (unknown_kind, "an unknown kind of moment"),
        (sent_by_nobody, "its sender did nothing"),
        (before_it_was_sent, "before it was sent"),
        (after_the_end, "after its end"),
    ],
)
def test_an_impossible_record_is_refused(folder, tmp_path, change, message):
    with pytest.raises(pskit.InputError, match=message):
        pskit.replay(rewritten(folder, tmp_path / "odd", change))


def another_version(columns):
    columns["reads"]["version"][-1] += 1


def another_order(columns):
    applied = columns["updates"]
    first, second = np.flatnonzero(applied["shard"] == 0)[:2]
    for key in ("worker", "clock", "seq"):
        applied[key][[first, second]] = applied[key][[second, first]]


def another_message(columns):
    columns["messages"]["bytes"][-1] += 1


@pytest.mark.parametrize(
    ("change", "where"),
    [(another_version, "reads:"), (another_order, "updates:"), (another_message, "the replay sends")],
)
def test_a_difference_ends_with_1_and_says_where(folder, tmp_path, change, where):
    odd = rewritten(folder, tmp_path / "odd", change)
    code, text = command(odd, "--out", tmp_path / "sim")
    assert code == 1
    assert "the replay differs from the run" in text
    assert where in text
    assert not (tmp_path / "sim").exists()


def test_another_config_is_refused(folder, tmp_path):
    copy = rewritten(folder, tmp_path / "copy", lambda columns: None)
    manifest = (copy / "manifest.json").read_text()
    assert '"slack": 2' in manifest
    (copy / "manifest.json").write_text(manifest.replace('"slack": 2', '"slack": 3', 1))
    code, text = command(copy)
    assert code == 2
    assert "is not that of the run" in " ".join(text.split())
