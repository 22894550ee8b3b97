"""Violations become small, stay violations, and are shown as sentences."""

from __future__ import annotations

import pytest

from quincunx.audit import Gap, Pair, Piece, Violation
from quincunx.audit.shrink.tables import shrink
from quincunx.errors import VerificationError
from quincunx.spec.people import People
from tests.audit.tables.bugs import BUGS

LONG = (
    "WITH w AS (SELECT * FROM visits WHERE flag) SELECT region AS k0, COUNT(*) AS m0, "
    "SUM(CLAMP(age + 1, 0, 9)) FILTER (WHERE age > 3) AS m1 FROM w WHERE age BETWEEN 1 AND 5 GROUP BY region "
    "HAVING COUNT(*) > 2 ORDER BY m0 DESC LIMIT 3"
)


def piece(owner: str, count: int) -> Piece:
    return Piece(owner=(owner,), rows=tuple((owner, str(i), "x") for i in range(count)))


def test_rows_people_and_columns_are_dropped() -> None:
    """The violation needs three rows of the changed person and the word SUM; everything else goes."""

    def test(sql: str, pairs: list[Pair]) -> list[bool]:
        return ["SUM" in sql and sum(len(each.rows) for each in pair.after) >= 3 for pair in pairs]

    pair = Pair(kind="x", common=tuple(piece(str(i), 5) for i in range(6)), before=(), after=(piece("9", 10_000),))
    sql, small = shrink(LONG, pair, {"": [0]}, test)  # type: ignore[arg-type]
    assert small.common == ()
    assert len(small.after[0].rows) == 3
    assert {row[1:] for row in small.after[0].rows} == {(None, None)}
    assert small.after[0].rows[0][0] == "9"
    assert len(sql) < len(LONG) / 2
    assert not [word for word in ("HAVING", "ORDER", "FILTER", "COUNT") if word in sql]


def test_a_replaced_person_keeps_a_counterpart() -> None:
    pair = Pair(
        kind="x",
        common=(),
        before=(piece("1", 4), piece("2", 4)),
        after=(piece("3", 4), piece("4", 4)),
    )
    sizes: list[tuple[int, int]] = []

    def test(_sql: str, pairs: list[Pair]) -> list[bool]:
        sizes.extend((len(each.before), len(each.after)) for each in pairs)
        return [True] * len(pairs)

    _, small = shrink("SELECT COUNT(*) FROM t", pair, {"": [0]}, test)  # type: ignore[arg-type]
    assert len(small.before) == len(small.after) == 1
    assert all(first == second >= 1 for first, second in sizes)
    assert [len(each.rows) for each in (*small.before, *small.after)] == [1, 1]


def test_what_cannot_be_smaller_stays() -> None:
    pair = Pair(kind="x", common=(), before=(), after=(piece("1", 1),))
    assert shrink("SELECT COUNT(*) FROM t", pair, {"": [0]}, lambda _sql, pairs: [False] * len(pairs)) == (
        "SELECT COUNT(*) FROM t",
        pair,
    )


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("add/remove for replace", 8),
        ("a lower saturation cap", 60),
        ("a person-week without its week", 30),
        ("votes in the wrong norm", 12),
    ],
)
def test_real_violations_become_small(name: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = next(each for each in BUGS if each.name == name)
    bug.patch(monkeypatch)
    found = bug.at.replay(bug.sql, norms=(bug.norm,), pairs=bug.pairs, giants=1, series=bug.name)
    small = found.violations[0]
    print(f"\n{small}")
    assert small.pair.size <= rows
    assert small.gap is not None
    assert not small.gap.holds
    assert small.gap.ratio > 1
    assert small.sql.count("AS ") <= 2
    assert len(found.violations) > 1 or rows == 60


def test_a_violation_is_raised_with_its_smallest_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(People, "reach2", lambda *_, **__: 1)
    bug = next(each for each in BUGS if each.name == "three people counted as one")
    found = bug.at.replay(bug.sql, norms=(1,), pairs=8, giants=0, series=bug.name)
    assert not found.holds
    with pytest.raises(VerificationError, match="broke a declared sensitivity") as raised:
        found.check()
    assert "distance²" in str(raised.value)
    assert "SELECT" in str(raised.value)
    assert raised.value.exit_code == 6


def test_a_violation_shows_few_rows() -> None:
    pair = Pair(kind="x", common=(), before=(piece("1", 30),), after=())
    shown = str(
        Violation(
            sql="SELECT COUNT(*) FROM t",
            norm=1,
            unit="add-remove person",
            limits="rows",
            part="engine",
            gap=None,
            columns={"": ("person", "age", "note")},
            pair=pair,
        )
    )
    assert "person = '1', age = '0', note = 'x'" in shown
    assert "before: and 20 more rows" in shown


def test_a_gap_has_a_ratio() -> None:
    assert Gap(part="votes", distance2=4, allowed2=1).ratio == 2.0  # type: ignore[arg-type]
    assert Gap(part="votes", distance2=0, allowed2=0).ratio == 0.0  # type: ignore[arg-type]
    assert Gap(part="votes", distance2=1, allowed2=0).ratio == float("inf")  # type: ignore[arg-type]
