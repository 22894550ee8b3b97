"""What the commands on plan files share: their options, the open session, and the underlined place in a question."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from quincunx.cli.progress import Stage, working
from quincunx.errors import ParameterError, QuincunxError

if TYPE_CHECKING:
    from quincunx.release import Session

PlanPath = Annotated[str, typer.Argument(metavar="PLAN", help="The plan file.")]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="The question; - reads standard input.")]
Spend = Annotated[str | None, typer.Option(help="What to spend, in the standard's parameter, exact as typed.")]
Delta = Annotated[str | None, typer.Option(help="The δ of a question whose keys are unknown.")]
Within = Annotated[
    list[str] | None, typer.Option(help="Instead of a spend, a half-width to reach: n=25. May be repeated.")
]
Interval = Annotated[
    bool,
    typer.Option("--interval/--no-interval", help="Whether a part of the spend pays for intervals of quantiles."),
]
Weights = Annotated[
    list[str] | None,
    typer.Option("--weight", help="How much of the spend an output gets beside the others: n=3. May be repeated."),
]
Assume = Annotated[
    list[str] | None, typer.Option(help="With --within for means and the like: the rows of a group, rows=1000.")
]
Limit = Annotated[
    list[str] | None,
    typer.Option("--limits", help="How much of one person may count here: rows=30, or auto. May be repeated."),
]
Analyst = Annotated[str | None, typer.Option(help="Who asks; charged to this analyst's budget too.")]


# What an option of pairs names, for hints.
_NAMED = {"within": "the output's name and its half-width", "limits": "rows, groups or per_group"}


@contextmanager
def opened(path: str, analyst: str | None, then: str, *, as_json: bool) -> Iterator[tuple[Session, Stage]]:
    """The session of a plan, and how to name the next stage of the work; then: the first one.

    Nothing is printed inside. The place of a mistake in a question is underlined on standard error.
    """
    from quincunx.release import Session

    try:
        with working("opening the tables", quiet=as_json) as stage, Session.open(path, analyst=analyst) as session:
            stage(then)
            yield session, stage
    except QuincunxError as error:
        excerpt = getattr(error, "excerpt", "")
        if excerpt and not as_json:
            typer.echo(excerpt, err=True)
        raise


def question(text: str) -> str:
    """The question as typed, or from standard input."""
    return sys.stdin.read() if text == "-" else text


def limits_of(given: Sequence[str] | None) -> dict[str, str] | Literal["auto"] | None:
    """`rows=30` as a mapping; `auto` alone where the question chooses for itself."""
    return "auto" if given == ["auto"] else half_widths(given, "limits")


def half_widths(pairs: Sequence[str] | None, option: str = "within") -> dict[str, str] | None:
    """`n=25` as a mapping from a name to a number: a half-width, a weight or a limit; None where there is none."""
    if not pairs:
        return None
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, width = pair.rpartition("=")
        if not equals or not name or not width:
            what = _NAMED.get(option, "the output's name and its weight")
            hint = f"Write --{option} {'rows=25' if option == 'limits' else 'n=25'}: {what}."
            raise ParameterError("expected a name and a number", where=f"--{option}", got=repr(pair), hint=hint)
        found[name] = width
    return found
