"""What stands at the place of a planned run: kept, replaced or taken away."""

import json
import os
import sys

import pytest

from pskit.errors import InputError
from pskit.repro import places
from pskit.repro.places import MANIFEST, make_room

KIND = "kind of folder"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "runs" / "mf-ssp"


def folder_with(place, text):
    place.mkdir(parents=True)
    (place / MANIFEST).write_text(text)


def test_a_place_that_is_free_stays_free(place):
    make_room(place, KIND)
    assert list(place.parent.iterdir()) == []


def test_a_folder_of_the_kind_stays(place):
    folder_with(place, json.dumps({"format": KIND, "code": "of yesterday"}))
    make_room(place, KIND)
    assert (place / MANIFEST).exists()


@pytest.mark.parametrize(
    "text", ["{", "", "\x00\xff", "[]", "3", '{"format": "another"}', '{"format": ["kind"]}', "[" * 10**5]
)
def test_a_folder_that_does_not_tell_goes(place, text):
    folder_with(place, text)
    (place / "deeper" / "still").mkdir(parents=True)
    make_room(place, KIND)
    assert list(place.parent.iterdir()) == []


def test_a_manifest_that_is_a_folder_goes(place):
    (place / MANIFEST).mkdir(parents=True)
    make_room(place, KIND)
    assert not place.exists()


def test_a_file_goes(place):
    place.parent.mkdir()
    place.write_text("a file")
    make_room(place, KIND)
    assert not place.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("target", ["elsewhere", "nowhere", "mf-ssp"])
def test_a_link_goes_and_what_it_leads_to_stays(place, tmp_path, target):
    folder_with(tmp_path / "runs" / "elsewhere", json.dumps({"format": KIND}))
    place.symlink_to(target)  # one to a folder, one to nothing, one to itself
    make_room(place, KIND)
    assert not os.path.lexists(place)
    assert (tmp_path / "runs" / "elsewhere" / MANIFEST).exists()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights as POSIX has them")
def test_a_folder_without_rights_goes(place):
    folder_with(place, "{")
    (place / "inner").mkdir()
    (place / "inner" / "file").write_text("x")
    (place / "inner").chmod(0)
    place.chmod(0)
    make_room(place, KIND)
    assert not place.exists()


def test_what_cannot_be_written_is_said(place, tmp_path, monkeypatch):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(InputError, match=r"mf-ssp: no run can be written there \(File exists\)"):
        make_room(place, KIND)
    (tmp_path / "runs").unlink()

    def refuse(dir):
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr(places.tempfile, "TemporaryFile", refuse)
    with pytest.raises(InputError, match=r"no run can be written there \(Permission denied\)"):
        make_room(place, KIND)
