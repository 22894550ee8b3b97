"""Records and heads."""

import hashlib
import json

import pytest

from quincunx.errors import ParameterError, UnavailableError
from quincunx.ledger import Record
from quincunx.ledger.record import GENESIS, KINDS, SINCE, chained, decoded, head_text, read_head

BODY = '{"cost":"1/2","dataset":"visits","delta":"0","note":"by hand","when":null}'


def test_the_hash_is_sha256_of_the_written_parts() -> None:
    text = json.dumps([1, "2026-05-01T12:00:00.000Z", "external", BODY, GENESIS], separators=(",", ":"))
    assert (
        chained(1, "2026-05-01T12:00:00.000Z", "external", BODY, GENESIS) == hashlib.sha256(text.encode()).hexdigest()
    )
    assert hashlib.sha256(b"quincunx/ledger/1").hexdigest() == GENESIS


def test_every_part_changes_the_hash() -> None:
    base = (1, "t", "external", BODY, GENESIS)
    for i, other in enumerate((2, "u", "answer", BODY + " ", "0" * 64)):
        assert chained(*base) != chained(*(other if i == j else part for j, part in enumerate(base)))  # type: ignore[arg-type]


def test_a_row_becomes_a_record_and_a_line() -> None:
    record = decoded((7, "t", "external", BODY, "a" * 64, "b" * 64))
    assert isinstance(record, Record)
    assert record.body["note"] == "by hand"
    assert json.loads(record.to_json()) == {
        "seq": 7, "time": "t", "kind": "external", "body": json.loads(BODY), "previous": "a" * 64, "hash": "b" * 64,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("refund", BODY),
        ("external", "{}"),
        ("external", "[]"),
        ("external", "{"),
        ("external", BODY.replace("note", "nota")),
        ("external", BODY[:-1] + ',"more":1}'),
        ("answer", BODY),
        (None, BODY),
        ("external", None),
    ],
)
def test_what_is_not_known_is_refused(kind: object, body: object) -> None:
    with pytest.raises(UnavailableError, match="record 7 cannot be read"):
        decoded((7, "t", kind, body, "a", "b"))


def test_the_kinds_are_for_ever() -> None:
    assert set(KINDS) - set(SINCE) == {"registration", "amendment", "reservation", "answer", "replay", "external"}
    assert SINCE == {"halted": 2, "reopened": 2, "moved": 4}
    assert set(SINCE) <= set(KINDS)


def test_a_head_reads_back() -> None:
    text = head_text(17, "3f" * 32)
    assert text == "17:" + "3f" * 16
    assert read_head(f" {text}\n") == (17, "3f" * 16)
    assert read_head("0:" + GENESIS) == (0, GENESIS)


@pytest.mark.parametrize("text", ["", "17", "17:", "17:3fa9", ":" + "3f" * 16, "017:" + "3f" * 16, "-1:" + "3f" * 16,
                                  "17:" + "3F" * 16, "17:" + "3f" * 33, "17:" + "zz" * 16, None, 17])  # fmt: skip
def test_what_is_no_head_is_refused(text: object) -> None:
    with pytest.raises(ParameterError, match="not a ledger's head"):
        read_head(text)
