from collections.abc import Callable
from pathlib import Path

import pytest

from pskit.data import load_ratings, text
from pskit.errors import InputError

Write = Callable[[str | bytes], Path]
ROWS = "1,10,3.5\n2,10,4\n1,30,0.5\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "ratings.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        ROWS.rstrip("\n"),
        ROWS.replace("\n", "\r\n"),
        "\ufeff" + ROWS,
        "\n \n" + ROWS.replace("\n", "\n\n"),
        ROWS.replace(",", " "),
        "  " + ROWS.replace(",", " \t ").replace("\n", "\n   ").replace("\t", " "),
        ROWS.replace(",", "\t").replace("\n", "\t881250949\n"),
        ROWS.replace(",", "::").replace("\n", "::978300760\n"),
        "userId,movieId,rating,timestamp\n" + ROWS.replace("\n", ",1112486027\n"),
        "\nuserId,movieId,rating\r\n" + ROWS,
        "rating:float\tuser_id:token\titem_id:token\n3.5\t1\t10\n4\t2\t10\n.5\t1\t30\n",
    ],
)
def test_every_format_gives_the_same_ratings(write: Write, content: str) -> None:
    ratings = load_ratings(write(content))
    assert ratings.user_ids[ratings.user].tolist() == [1, 2, 1]
    assert ratings.item_ids[ratings.item].tolist() == [10, 10, 30]
    assert ratings.value.tolist() == [3.5, 4, 0.5]
    assert ratings.source == "ratings.txt"


def test_a_path_may_be_a_string(write: Write) -> None:
    assert len(load_ratings(str(write(ROWS)))) == 3


@pytest.mark.parametrize("block", [12, 13, 17, 1000])
def test_blocks_do_not_matter(write: Write, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    content = "user,item,value\n\n" + "".join(f"{n % 7},{n},{n / 4}\n" for n in range(100)) + "7,100,x"
    monkeypatch.setattr(text, "BLOCK", block)
    with pytest.raises(InputError, match="line 103: the rating 'x' is not a decimal number"):
        load_ratings(write(content))
    ratings = load_ratings(write(content.removesuffix("x") + "9.5"))
    assert ratings.value.tolist() == [n / 4 for n in range(100)] + [9.5]
    assert ratings.item.tolist() == list(range(101))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,2,3\n1,3,4\n1,2", "line 3: 2 fields, expected 3"),
        ("1,2,3\n\nx,3,4\n", "line 3: the user id 'x' is not a whole number"),
        ("userId,movieId,rating\n1,2,3\n-1,3,4\n", "line 3: the user id '-1' is not a whole number"),
        ("1 2 3\n1 99999999999 3\n", "line 2: the item id '99999999999' is out of range"),
        ("1,2,3\n1,3,NaN\n", "line 2: the rating 'NaN' is not a finite number"),
        ("1::2::inf::5\n", "line 1: the rating 'inf' is not a finite number"),
        ("1,2,3\n1,3,4\n\n1,2,5\n", "line 4: user 1 rated item 2 already in line 1"),
        ("\nuser,item,value\n\n1,2,3\n1,2,3\n1,2,4\n", "line 5: user 1 rated item 2 already in line 4"),
        ("name,age\n1,2\n", "line 1: not a header"),
        ("\n\n1;2;3\n", "line 3: 1 field where user, item and rating"),
        ("", "has no ratings"),
        ("\n \n\t\n", "has no ratings"),
        ("userId,movieId,rating,timestamp\n", "has no ratings"),
        (b"\x1f\x8b\x08\x00", "is compressed .gzip.; unpack it first"),
        (b"PK\x03\x04rest", "is compressed .zip."),
        (b"1,2,\xff\n", "line 1: the rating 'ÿ' is not a decimal number"),
        (b"\x00\x00\x00", "line 1: 1 field"),
    ],
)
def test_bad_content_is_named_by_file_line_and_reason(
    write: Write, content: str | bytes, message: str
) -> None:
    path = write(content)
    with pytest.raises(InputError, match=message) as caught:
        load_ratings(path)
    assert str(path) in str(caught.value)


def test_a_line_without_end_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "BLOCK", 10)
    with pytest.raises(InputError, match="a line of over 10 bytes"):
        load_ratings(write("1" * 30))


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        load_ratings(tmp_path)


def test_an_unreadable_file_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(ROWS)
    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        load_ratings(path)
