"""Plan files: what is read, and that every mistake is said with its file and line."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from quincunx.errors import BudgetError, InputError, ParameterError, QueryError
from quincunx.numbers import Log, rational
from quincunx.release.plan_file import read_plan
from quincunx.release.toml import placed, read_toml
from quincunx.spec.standard import ZCDP, Approximate, Pure
from quincunx.spec.unit import AddRemove, Replace
from tests.release.world import WITH_ANALYST as PLAN


def written(folder: Path, text: str = PLAN) -> Path:
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    return plan


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_plan_is_read_whole(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path))
    assert (plan.dataset, plan.version, plan.confidence) == ("visits-2024", "1", Fraction(95, 100))
    assert plan.ledger == str(tmp_path / "ledger.db")
    assert plan.unit == AddRemove(key="person_id")
    assert plan.standard == ZCDP(Fraction(1, 10**6))
    assert plan.intensity == 100
    assert plan.invariants == {}
    assert plan.budgets == {"plan": 50, "analysts": {"alice": 10}}
    table = plan.tables["visits"]
    assert (table.source, table.public, table.limits) == (
        tmp_path / "visits.parquet",
        False,
        {"rows": 10, "groups": 3},
    )
    assert table.columns["cost"] == {"bounds": [0, 100], "step": "0.01"}
    assert plan.tables["regions"].public
    names = [(entry.name, entry.spend, entry.share, entry.within, entry.delta) for entry in plan.releases]
    assert names == [
        ("by_region", 2, None, None, 0),
        ("total", None, None, {"n": 25}, 0),
        ("by_town", None, 1, None, Fraction(1, 10**7)),
    ]
    assert plan.releases[0].tidy == ("non-negative", "integer")


def test_numbers_mean_the_decimals_that_were_typed(tmp_path: Path) -> None:
    text = PLAN.replace("spend = 2", "spend = 0.1").replace("confidence = 0.95", "confidence = 0.1")
    plan = read_plan(written(tmp_path, text.replace('"100"', '"ln(3)"', 1)))
    assert plan.releases[0].spend == Fraction(1, 10)
    assert plan.confidence == Fraction(1, 10)
    assert plan.intensity == Log(3)


@pytest.mark.parametrize(
    ("before", "after", "standard"),
    [
        ('kind = "zcdp", delta = "1e-6"', 'kind = "zcdp"', ZCDP()),
        ('kind = "zcdp", delta = "1e-6"', 'kind = "pure"', Pure()),
        ('kind = "zcdp", delta = "1e-6"', 'kind = "approximate", delta = 1e-9', Approximate(Fraction(1, 10**9))),
    ],
)
def test_standards(tmp_path: Path, before: str, after: str, standard: object) -> None:
    assert read_plan(written(tmp_path, PLAN.replace(before, after))).standard == standard


def test_units(tmp_path: Path) -> None:
    per = 'kind = "replace", key = "person_id", group = 3, per = { column = "day", period = "day" }'
    plan = read_plan(written(tmp_path, PLAN.replace('kind = "add-remove", key = "person_id"', per)))
    assert plan.unit == Replace(key="person_id", per={"column": "day", "period": "day"}, group=3)


def test_the_ledger_in_memory_is_typed_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    text = PLAN.replace('"ledger.db"', '":memory:"')
    plan = tmp_path / "plan.toml"
    plan.write_bytes(text.replace("\n", "\r\n").encode())
    assert read_plan(plan).ledger == ":memory:"
    plan.write_bytes(text.replace("spend = 2", "spend = 0").replace("\n", "\r\n").encode())
    with pytest.raises(ParameterError) as caught:
        read_plan(plan)
    assert f"plan.toml:{line_of(text, 'spend = 2')}:" in caught.value.where


# (what is replaced, by what, the text on whose line the mistake is, part of the message)
MISTAKES = [
    ('dataset    = "visits-2024"', "dataset = 3", "dataset = 3", "expected a text"),
    ('dataset    = "visits-2024"', 'dataset = ""', 'dataset = ""', "must not be empty"),
    ('dataset    = "visits-2024"\n', "", "", "dataset is missing"),
    ('version    = "1"', "version = 1", "version = 1", "expected a text"),
    ('version    = "1"\n', "", "", "version is missing"),
    ('ledger     = "ledger.db"\n', "", "", "ledger is missing"),
    ('kind = "duckdb"', 'kind = "sparc"', "engine", "unknown engine"),
    ("engine     = ", "enginee = ", "enginee", "Did you mean engine?"),
    ("confidence = 0.95", "confidence = 1", "confidence", "between 0 and 1"),
    ("confidence = 0.95", "confidence = 1.5", "confidence", "probability"),
    ("confidence = 0.95", "confidence = true", "confidence", "expected a number"),
    ("confidence = 0.95", "confidence = nan", "confidence", "finite"),
    ('kind = "add-remove", key', 'kind = "add", key', "unit ", "unknown unit"),
    ('kind = "add-remove", key', "key", "unit ", "unknown unit"),
    ('key = "person_id"', 'kee = "person_id"', "unit ", "unknown key"),
    ('key = "person_id"', "key = 3", "unit ", "name of a column"),
    ('key = "person_id"', 'per = { column = "day", period = "day" }', "unit ", "needs a key"),
    ('key = "person_id"', 'key = "p", per = { column = "d", period = "decade" }', "unit ", "unknown period"),
    ('key = "person_id"', 'key = "p", group = 0', "unit ", "1 or greater"),
    ('kind = "zcdp", delta = "1e-6"', 'kind = "pure", delta = "1e-6"', "standard", "pure privacy has no δ"),
    ('kind = "zcdp", delta = "1e-6"', 'kind = "approximate"', "standard", "delta is missing"),
    ('kind = "zcdp", delta = "1e-6"', 'kind = "kl"', "standard", "unknown standard"),
    ('delta = "1e-6"', "delta = 1", "standard", "below 1"),
    ('intensity  = "100"', 'intensity = "much"', "intensity", "expected a finite number"),
    ('intensity  = "100"\n', "", "[spec]", "intensity is missing"),
    ("invariants = []", 'invariants = "none"', "invariants", "expected a list"),
    ('plan    = "50"', 'plan = "-1"', 'plan = "-1"', "0 or greater"),
    ("analyst = { alice", "analysts = { alice", "analysts", "Did you mean analyst?"),
    ('source = "visits.parquet"\n', "", "[tables.visits]", "source is missing"),
    ("limits = { rows = 10", "limits = { row = 10", "limits", "Did you mean rows?"),
    ("limits = { rows = 10", 'limits = { rows = "10"', "limits", "expected a whole number"),
    ("age    = { bounds", "age    = { bound", "age ", "Did you mean bounds?"),
    ("public  = true", 'public = "yes"', 'public = "yes"', "expected true or false"),
    ('name  = "by_region"\n', "", "[[release]]", "name is missing"),
    ('name  = "by_region"', 'name = "a/b"', 'name = "a/b"', "name of a file"),
    ('name  = "by_region"', 'name = ".."', 'name = ".."', "name of a file"),
    ('name  = "by_region"', 'name = "NUL"', 'name = "NUL"', "name of a file"),
    ('name  = "by_region"', 'name = "TOTAL"', 'name  = "total"', "two releases have this name"),
    ("spend = 2\n", "", "[[release]]", "exactly one of spend"),
    ("spend = 2\n", "spend = 2\nshare = 1\n", "[[release]]", "spend and share"),
    ("spend = 2\n", "spend = 0\n", "spend = 0", "greater than 0"),
    ("spend = 2\n", 'spend = "two"\n', 'spend = "two"', "expected a finite number"),
    ('"integer"]', '"integers"]', "tidy", "Did you mean integer?"),
    ('"integer"]', "3]", "tidy", "expected a text"),
    ("within = { n = 25 }", "within = { n = -1 }", "within", "greater than 0"),
    ('delta = "1e-7"', 'delta = "2"', 'delta = "2"', "below 1"),
    ("share = 1", "share = [1]", "share", "expected a number"),
    ("[[release]]", "[releases]", "[releases]", ""),
]


@pytest.mark.parametrize(("before", "after", "line", "message"), MISTAKES, ids=[each[1][:30] for each in MISTAKES])
def test_every_mistake_has_its_line(tmp_path: Path, before: str, after: str, line: str, message: str) -> None:
    text = PLAN.replace(before, after, 1)
    assert text != PLAN
    with pytest.raises(InputError) as caught:
        read_plan(written(tmp_path, text))
    expected = line_of(text, line) if line else 1
    assert caught.value.where.startswith(f"{tmp_path / 'plan.toml'}:{expected}"), str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = \n", 2), ("[a\n", 1), ('x = "abc\n', 1), ("a = 1\na = 2\n", 2)]
)
def test_text_that_is_not_toml(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(ParameterError, match="not valid TOML") as caught:
        read_plan(written(tmp_path, text))
    assert caught.value.where.endswith(f"plan.toml:{line}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot be read"):
        read_plan(tmp_path / "missing.toml")
    (tmp_path / "latin.toml").write_bytes(b"a = '\xff'\n")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_plan(tmp_path / "latin.toml")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_plan(tmp_path)
    deep = tmp_path / "deep.toml"
    deep.write_text("a = " + "[" * 5000 + "]" * 5000, encoding="utf-8")
    with pytest.raises(ParameterError):
        read_plan(deep)


def test_a_node_without_a_line_of_its_own_has_that_of_the_key_above(tmp_path: Path) -> None:
    root = read_toml(written(tmp_path, "a = 1\n\n[b]\nc = [0.5]\n"))
    node = root.child("b").child("c").child(0)
    assert node.value == Decimal("0.5")
    assert node.number(rational) == Fraction(1, 2)
    assert node.place.endswith("plan.toml:4: b.c[0]")
    lost = type(node)(file="f", index=node.index, path=("b", "c", 9, "x"), value=None)
    assert lost.line == 4


def test_a_moved_error_keeps_its_kind_and_its_attributes() -> None:
    error = BudgetError("no", where="here", got="1", hint="Less.", symbol="ρ", requested=Fraction(2))
    moved = placed(error, "plan.toml:3")
    assert type(moved) is BudgetError
    assert isinstance(moved, BudgetError)
    assert (moved.where, moved.requested, moved.symbol) == ("plan.toml:3: here", Fraction(2), "ρ")
    assert str(moved) == "plan.toml:3: here: no; got 1. Less."
    query = QueryError("no such column").at("SELECT x", 7, 8)
    again = placed(query, "plan.toml:3")
    assert isinstance(again, QueryError)
    assert again.excerpt == query.excerpt != ""


def test_a_mark_of_the_encoding_in_front_is_no_mistake(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_bytes(b"\xef\xbb\xbf" + PLAN.replace("\n", "\r\n").encode())
    assert read_plan(plan).releases == read_plan(written(tmp_path)).releases


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("x = 2\nintensity = 1/8\n", 'Quote the fraction: "1/8".'),
        ("x = 2\nx = { a = 1, b = 0.5 / 3 }\n", 'Quote the fraction: "0.5/3".'),
        ("x = 2\ny = [ 1/8 ]", 'Quote the fraction: "1/8".'),
        ('x = 2\ny = "1/8\n', ""),
        ("x = 2\ny = 2024/05/06\n", ""),
    ],
)
def test_a_fraction_without_quotes_is_told_to_be_quoted(tmp_path: Path, text: str, hint: str) -> None:
    with pytest.raises(ParameterError, match="not valid TOML") as caught:
        read_plan(written(tmp_path, text))
    assert caught.value.hint == hint
    assert caught.value.where.endswith("plan.toml:2")
