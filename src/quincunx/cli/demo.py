"""`quincunx demo`: from a folder of files to published tables, on people who do not exist."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from quincunx.cli import chart
from quincunx.cli.output import AsJson, console, print_json, reports_errors
from quincunx.cli.progress import Stage, working
from quincunx.errors import BudgetError, VerificationError

if TYPE_CHECKING:
    from quincunx.release import Answer, Check, Session

_REGIONS = """SELECT region, COUNT(*) AS visits, COUNT(DISTINCT person_id) AS people, AVG(age) AS mean_age
FROM visits GROUP BY region"""
_NEXT = "SELECT SUM(cost) AS c FROM visits"
_TOO_MUCH = "1/4"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """All that one run found. holding: how many intervals of people_by_county hold the true count."""

    check: Check
    answers: dict[str, Answer]
    again: Answer
    refusal: BudgetError
    head: str
    holding: int


@reports_errors
def demo(
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the files in this new folder, to go on from there."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the sample end to end: check, release, ask again, ask for too much, verify the ledger.

    The people are generated, the noise is real: every run gives other answers.
    """
    from quincunx.release import Session
    from quincunx.sample import write_sample

    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quincunx-"))) / "sample"
        with working("making people who do not exist", quiet=as_json) as stage:
            write_sample(folder)
            session = stack.enter_context(Session.open(folder / "plan.toml"))
            found = _run(session, folder, stage)
        if as_json:
            print_json(_as_json(found))
        else:
            _show(console(), session, found, keep)


def _run(session: Session, folder: Path, stage: Stage) -> _Shown:
    from quincunx.ledger import Ledger

    checked = session.check()
    done = session.release(folder / "published", progress=stage)
    again = session.sql(_REGIONS, spend="0.06")
    refusal = _refused(session)
    with Ledger.open(folder / "ledger.db") as ledger:
        head = ledger.verify(done.head)
    return _Shown(
        check=checked,
        answers=done.answers,
        again=again,
        refusal=refusal,
        head=head,
        holding=_holding(done.answers["people_by_county"], folder),
    )


def _refused(session: Session) -> BudgetError:
    try:
        session.sql(_NEXT, spend=_TOO_MUCH)
    except BudgetError as error:
        return error
    raise VerificationError("more than the budget was spent", where="demo")


def _holding(answer: Answer, folder: Path) -> int:
    """How many intervals hold the true count; it may be known because these people do not exist."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        asked = "SELECT county, sex, COUNT(*) FROM read_parquet(?) GROUP BY county, sex"
        rows = connection.execute(asked, [str(folder / "persons.parquet")]).fetchall()
    true = {(county, sex): count for county, sex, count in rows}
    return sum(row["people_low"] <= true[row["county"], row["sex"]] <= row["people_high"] for row in answer.rows)


def _as_json(found: _Shown) -> dict[str, Any]:
    refusal = found.refusal
    amounts = {name: getattr(refusal, name) for name in ("requested", "spent", "remaining", "affordable")}
    return {
        "check": found.check.to_dict(),
        "releases": {name: answer.to_dict() for name, answer in found.answers.items()},
        "again": found.again.to_dict(),
        "refused": {"what": refusal.what, "symbol": refusal.symbol, **{n: str(v) for n, v in amounts.items()}},
        "intervals_that_hold": found.holding,
        "head": found.head,
    }


def _show(out: Console, session: Session, found: _Shown, keep: Path | None) -> None:
    from quincunx.numbers import stated

    answers, symbol = found.answers, found.again.symbol
    _head(out, "A hospital's visits: 12,000 people who do not exist")
    _say(out, f"Protected: {_lowered(session.specification.unit.words())}")
    _say(out, f"{_total(session)} is all that may ever be spent on them. The plan, before any row is read:")
    _table(out, ("release", "cost", "error (95 %)"), [_planned(*each) for each in found.check.releases])

    _head(out, "People by county and sex", answers["people_by_county"], symbol)
    _bars(out, answers["people_by_county"], ("county", "sex"), "people", 1)
    _say(out, chart.LEGEND)
    _say(
        out,
        f"These people are generated, so this once we may look: {found.holding} of the "
        f"{len(answers['people_by_county'])} intervals hold the true count. Each does with probability 95 % or more.",
    )

    _head(out, "Cost by department, in thousands", answers["cost_by_department"], symbol)
    _bars(out, answers["cost_by_department"], ("department",), "cost", 1000)
    _say(
        out,
        "No list of departments was given, and which exist is a secret too. These were found privately, "
        "because many people were there; that is what δ pays for.",
    )

    _head(out, "Visits by region", answers["visits_by_region"], symbol)
    names = ("visits", "people", "mean_age")
    rows = [(row["region"], *(_plus_minus(row, name) for name in names)) for row in found.again.rows]
    _table(out, ("region", "visits", "people", "mean age"), rows)
    _say(out, f"{found.again.biases[0]} The intervals are about the weighted numbers; the release says so too.")

    _head(out, "The same question again")
    _say(out, f"{found.again.notes[0]} A fresh draw would be a second look; the same one tells nothing new.")

    _head(out, "A question that costs too much")
    _command(out, f"sql plan.toml '{_NEXT}' --spend {_TOO_MUCH}")
    _say(out, f"{found.refusal.what}. {found.refusal.hint}")

    _head(out, "The ledger")
    left = stated(symbol, found.again.remaining, found.again.remaining_delta)
    _say(out, f"spent {stated(symbol, session.spent)}; remaining {left}")
    _say(out, f"verified: head {found.head}")
    _say(out, "Whoever keeps the head can tell later whether the ledger was rolled back.")

    _head(out, "Your turn")
    if keep is None:
        _command(out, "init trial")
    _command(out, f"sql {(keep or Path('trial')) / 'plan.toml'} '{_NEXT}' --spend 0.02")
    _command(out, "meaning --epsilon 1 --prior 1/10 --unit replace")
    _command(out, "attack run linkage")
    _command(out, "audit self --quick")


def _planned(name: str, explained: Any) -> tuple[str, str, str]:
    from quincunx.numbers import stated

    errors = ", ".join(f"{each.name} ± {_above(each.half_width):,}" for each in explained.errors if not each.assumed)
    return name, stated(explained.cost.symbol, explained.cost.charged, explained.cost.charged_delta), errors


def _total(session: Session) -> str:
    return session.specification.stated[0][1].replace("1/1000000000", "1e-9")


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:]


def _plus_minus(row: dict[str, Any], name: str) -> str:
    """`9,987 ± 97`: the half-width is that of the longer side as shown, rounded up."""
    shown = round(row[name], 2)
    half = max(row[f"{name}_high"] - shown, shown - row[f"{name}_low"])
    return f"{shown:,} ± {_above(half):,}" if half >= 10 else f"{shown:,.2f} ± {math.ceil(100 * half) / 100:,.2f}"


def _above(half_width: float) -> int:
    """Rounded up, so that what is read still covers."""
    return math.ceil(half_width)


def _bars(out: Console, answer: Answer, keys: Sequence[str], name: str, unit: int) -> None:
    bars = [
        chart.Bar(
            ", ".join(row[key] for key in keys), *(float(row[n]) / unit for n in (name, f"{name}_low", f"{name}_high"))
        )
        for row in answer.rows
    ]
    for line in chart.draw(bars, out.width):
        out.print(line, markup=False, no_wrap=True)


def _head(out: Console, title: str, answer: Answer | None = None, symbol: str = "") -> None:
    from quincunx.numbers import stated

    out.print()
    spent = "" if answer is None else f" ({stated(symbol, answer.spent, answer.delta)})"
    out.rule(f"[bold]{title}[/bold]{spent}", align="left")


def _say(out: Console, text: str) -> None:
    out.print(text, markup=False)


def _command(out: Console, line: str) -> None:
    # Wrapped by the terminal alone, so that it can be copied.
    out.print(f"quincunx {line}", markup=False, soft_wrap=True)


def _table(out: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="")
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*row)
    out.print(table)
