"""Finite mechanisms in CSV and JSON: exact round trips, and every malformed file refused with its line."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
import tables

from quincunx.errors import MatrixError
from quincunx.finite import Mechanism
from quincunx.numbers import Ball

F = Fraction
HEADER = "input,output,probability\n"


def test_round_trips_of_random_worlds(tmp_path: Path) -> None:
    rng = random.Random("round trips")
    for _ in range(30):
        m = tables.mechanism(rng)
        assert Mechanism.from_json(m.to_json()) == m
        assert Mechanism.from_json(json.loads(m.to_json())) == m
        assert Mechanism.from_csv(m.to_csv()) == m
        assert Mechanism.from_csv(m.to_csv()).inputs == m.inputs
        path = tmp_path / "world.csv"
        path.write_text(m.to_csv(), encoding="utf-8")
        assert Mechanism.from_csv(path) == m
        assert Mechanism.from_csv(str(path)) == m


def test_awkward_labels_survive() -> None:
    labels = ["a,b", 'say "x"', "two\nlines", "né", " spaced ", "0"]
    m = Mechanism({x: {y: F(1, len(labels)) for y in labels} for x in labels})
    assert Mechanism.from_csv(m.to_csv()) == m
    assert Mechanism.from_json(m.to_json()) == m


def test_decimals_in_json_mean_their_digits() -> None:
    m = Mechanism.from_json('{"x": {"a": 0.1, "b": 0.9}, "y": {"a": 1, "b": 0}}')
    assert m.law("x") == (F(1, 10), F(9, 10))
    long = Mechanism.from_json('{"x": {"a": 0.10000000000000000000000001, "b": 0.89999999999999999999999999}}')
    assert long.law("x")[0] == F("0.10000000000000000000000001")


def test_csv_is_long_form() -> None:
    text = Mechanism({"x": {"a": "3/4", "b": 0.25}}).to_csv()
    assert text == HEADER + "x,a,3/4\nx,b,1/4\n"
    m = Mechanism.from_csv("\ufeff" + HEADER + "x,a,0.75\r\ny,a,1\nx,b,1/4\n")
    assert m.law("x") == (F(3, 4), F(1, 4))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n", "header"),
        ("input,output\nx,a\n", "header"),
        ("a,b,c\n", "header"),
        (HEADER, "at least one input"),
        (HEADER + "x,a,1\nx,a,1\n", "line 3: the entry appears twice"),
        (HEADER + "x,a,1/2\nx,b,1/2\ny,a,1\nx,a,0\n", "line 5: the entry appears twice"),
        (HEADER + "x,a\n", "line 2"),
        (HEADER + "x,a,1,2\n", "line 2"),
        (HEADER + "\nx,a,1\n", "line 2"),
        (HEADER + "x,a,1\n\n", "line 3"),
        (HEADER + ",a,1\n", "line 2"),
        (HEADER + "x, ,1\n", "line 2"),
        (HEADER + "x,a,\n", "line 2"),
        (HEADER + "x,a,nan\n", "finite"),
        (HEADER + "x,a,inf\n", "finite"),
        (HEADER + "x,a,-1\nx,b,2\n", "from 0 to 1"),
        (HEADER + "x,a,1/2\n", "sum to 1"),
        (HEADER + "x,a,one\n", "finite"),
    ],
)
def test_malformed_csv(text: str, said: str) -> None:
    with pytest.raises(MatrixError, match=said):
        Mechanism.from_csv(text)


def test_a_quote_left_open_is_refused() -> None:
    with pytest.raises(MatrixError, match="CSV"):
        Mechanism.from_csv(HEADER + 'x,"a,1\n')


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="cannot read"):
        Mechanism.from_csv(tmp_path / "missing.csv")
    with pytest.raises(MatrixError, match="cannot read"):
        Mechanism.from_csv("no line break")
    with pytest.raises(MatrixError, match="cannot read"):
        Mechanism.from_csv(tmp_path)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MatrixError, match="cannot read"):
        Mechanism.from_csv(tmp_path / "binary.csv")
    with pytest.raises(MatrixError, match="text or a path"):
        Mechanism.from_csv(3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "expected"),
        ("3", "expected"),
        ('{"x": 1}', "expected"),
        ("{}", "at least one input"),
        ('{"x": {}}', "at least one output"),
        ('{"x": {"a": "1/2", "a": "1/2"}}', "twice; got 'a'"),
        ('{"x": {"a": 1}, "x": {"a": 1}}', "twice; got 'x'"),
        ('{"x": {"a": NaN}}', "finite"),
        ('{"x": {"a": Infinity}}', "finite"),
        ('{"x": {"a": null}}', "number"),
        ('{"x": {"a": true}}', "number"),
        ('{"x": {"a": 0.5}}', "sum to 1"),
        ('{"x": {"a": -1, "b": 2}}', "from 0 to 1"),
    ],
)
def test_malformed_json(text: str, said: str) -> None:
    with pytest.raises(MatrixError, match=said):
        Mechanism.from_json(text)


def test_only_exact_worlds_with_text_labels_are_stored() -> None:
    soft = Mechanism({"x": {"a": Ball(0.5), "b": Ball(0.5)}})
    numbered = tables.response()
    tupled = Mechanism({"x": {("a", 1): 1}})
    for write in (Mechanism.to_json, Mechanism.to_csv):
        with pytest.raises(MatrixError, match="exact worlds"):
            write(soft)
        with pytest.raises(MatrixError, match="text labels"):
            write(numbered)
        with pytest.raises(MatrixError, match="text labels"):
            write(tupled)
    assert Mechanism.from_json(tupled.map(str).to_json()).outputs == ("('a', 1)",)
