"""How an answer looks in a terminal, a notebook and JSON."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest
from rich.console import Console

from quincunx.errors import ParameterError
from quincunx.release import Answer, show
from quincunx.release.column import Column
from tests.release.world import session


@pytest.fixture(scope="module")
def answer() -> Answer:
    with session() as asked:
        return asked.sql("SELECT region, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY region", spend="0.5")


def nasty(answer: Answer) -> Answer:
    """Keys that would break a terminal or a page."""
    names = ("<script>alert(1)</script>", "[red]x[/red]", "\x1b[31mred", "a&b")
    key = replace(answer.columns[0], values=names)
    return replace(answer, columns=(key, *answer.columns[1:]), notes=("<b>note</b>",))


def test_the_footer_says_cost_noise_protection_and_head(answer: Answer) -> None:
    text = str(answer)
    for part in (
        "spent ρ = 0.5; remaining ρ = 99.5, δ = 1e-6 for visits",
        "noise: n: discrete Gaussian noise, σ = ",
        "noise: a (sum): ",
        "noise: a (count): ",
        "protects: One person, with all their rows,",
        "sampling error is",
        "Rows without person_id are left out.",
        f"ledger head {answer.head}",
    ):
        assert part in text
    assert text.splitlines()[0].split() == [
        "region",
        "n",
        "95",
        "%,",
        "bounded",
        "count",
        "a",
        "95",
        "%,",
        "bounded",
        "mean",
    ]
    assert text.splitlines()[1].startswith("north")


def test_a_plain_interpreter_shows_the_table(answer: Answer) -> None:
    assert repr(answer) == str(answer)
    assert repr(answer).splitlines()[0].split()[0] == answer.keys[0]


def test_html_is_escaped(answer: Answer) -> None:
    html = nasty(answer)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a&amp;b" in html
    assert "<b>note" not in html
    assert html.count("<tr>") == 5


def test_a_terminal_gets_no_markup_and_no_control_characters(answer: Answer) -> None:
    text = str(nasty(answer))
    assert "\x1b" not in text
    assert "[red]x[/red]" in text
    assert "\\x1b[31mred" in text


def test_rich_prints_it_at_eighty_columns(answer: Answer) -> None:
    console = Console(width=80, record=True, file=open("/dev/null", "w", encoding="utf-8"), highlight=False)  # noqa: SIM115
    console.print(answer)
    shown = console.export_text()
    assert "north" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    console.file.close()


def test_long_and_empty_tables(answer: Answer) -> None:
    many = replace(answer, columns=tuple(column.picked([0] * 60) for column in answer.columns))
    assert "… 10 more rows" in str(many)
    assert "… 10 more rows" in many._repr_html_()
    none = replace(answer, columns=tuple(column.picked([]) for column in answer.columns))
    assert "no rows" in str(none)
    assert len(none) == 0
    assert none.rows == []


def test_intervals_are_shown_rounded_outwards(answer: Answer) -> None:
    columns = (
        Column(name="x", type="float", role="value", values=(5.0,)),
        Column(name="x_low", type="float", role="low", values=(1.26,)),
        Column(name="x_high", type="float", role="high", values=(8.71,)),
        Column(name="x_se", type="float", role="se", values=(3.3,)),
    )
    texts = [cells for _, _, cells in show.cells(replace(answer, columns=columns))]
    assert texts == [["5.0"], ["1.2 to 8.8"]]
    whole = (replace(columns[0], type="integer", values=(5,)), *columns[1:])
    assert [cells for _, _, cells in show.cells(replace(answer, columns=whole))] == [["5"], ["1 to 9"]]
    ends = [replace(each, type="integer", values=(2**62 + 1,)) for each in columns[1:3]]
    large = [cells for _, _, cells in show.cells(replace(answer, columns=(whole[0], *ends, columns[3])))]
    assert large[1] == ["4,611,686,018,427,387,905 to 4,611,686,018,427,387,905"]
    missing = (whole[0], *(replace(column, values=(None,)) for column in columns[1:]))
    assert [cells for _, _, cells in show.cells(replace(answer, columns=missing))] == [["5"], ["–"]]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("text", None, "–"),
        ("boolean", True, "true"),
        ("date", date(2024, 2, 29), "2024-02-29"),
        ("integer", 1234567, "1234567"),
        ("text", "ü", "ü"),
    ],
)
def test_cells(answer: Answer, kind: str, value: object, text: str) -> None:
    column = Column(name="k", type=kind, role="key", values=(value,))
    assert [cells for _, _, cells in show.cells(replace(answer, columns=(column,)))] == [[text]]


def test_a_number_that_is_a_key_is_shown_as_it_is_written(answer: Answer) -> None:
    """2024 is a year; a count of 2,024 is a number."""
    years = Column(name="year", type="integer", role="key", values=(2024, None, 1_000_000, -1999))
    (_, numeric, texts), *_ = show.cells(replace(answer, columns=(years, *answer.columns[1:])))
    assert numeric
    assert texts == ["2024", "–", "1000000", "-1999"]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((49.0, 50.0), ["49", "50"]),
        ((0.25, 3.5, None), ["0.25", "3.50", "–"]),
        ((1 / 3,), ["0.333333"]),
        ((1234.5, float("inf")), ["1,234.5", "inf"]),
    ],
)
def test_a_number_without_a_standard_error_has_its_own_digits(
    answer: Answer, values: tuple[float, ...], texts: list[str]
) -> None:
    column = Column(name="m", type="float", role="value", values=values)
    ((_, _, found),) = show.cells(replace(answer, columns=(column,)))
    assert found == texts


def test_json_holds_everything_with_exact_amounts(answer: Answer) -> None:
    data = json.loads(answer.to_json())
    assert data["rows"][0].keys() == {"region", "n", "n_low", "n_high", "n_se", "a", "a_low", "a_high", "a_se"}
    assert (data["spent"], data["remaining"], data["delta"]) == ("0.5", "99.5", "0")
    assert data["head"] == answer.head
    assert data["confidence"] == "0.95"
    assert data["specification"]["unit"]["key"] == "person_id"
    assert data["loss"]["version"] == "quincunx/loss/1"
    assert [column["role"] for column in data["columns"]][:3] == ["key", "value", "low"]


def test_columns_values_and_the_one_number(answer: Answer) -> None:
    assert answer["n"] == tuple(row["n"] for row in answer.rows)
    with pytest.raises(ParameterError, match="no such column"):
        answer["nobody"]
    with pytest.raises(ParameterError, match="not one number"):
        _ = answer.value
    with session() as asked:
        single = asked.sql("SELECT COUNT(*) AS n FROM visits", spend=1)
    assert single.value == single["n"][0]
    with pytest.raises(FrozenInstanceError):
        single.spent = Fraction(0)  # type: ignore[misc]


def test_arrow_streams_can_be_read_twice(answer: Answer) -> None:
    assert pa.table(answer).num_rows == pa.table(answer).num_rows == len(answer)
    assert answer.to_arrow().column_names == [column.name for column in answer.columns]
    assert answer.to_pandas().shape == (4, 9)
    assert answer.to_polars().shape == (4, 9)
