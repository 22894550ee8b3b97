"""`quincunx init`: a sample to try, or a plan for a file of one's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from quincunx.address import masked
from quincunx.cli.output import AsJson, console, print_json, reports_errors
from quincunx.errors import QuincunxError
from quincunx.numbers import exact_text, positive, positive_integer

if TYPE_CHECKING:
    from quincunx.sample import Answers, Asked

T = TypeVar("T")


@reports_errors
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    data: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Parquet or CSV: write a plan for it, with blanks to fill."),
    ] = None,
    people: Annotated[int, typer.Option(help="How many people the sample has.")] = 12_000,
    as_json: AsJson = False,
) -> None:
    """Write a sample of people who do not exist with a plan to publish statistics about them.

    With --from, write a plan for that file, or folder of Parquet files, instead: column names and types come from its
    metadata, those of a CSV file are proposed by the columns' names, and no row is read. On a terminal it asks for what
    only you can say; elsewhere the plan has blanks for it.
    """
    from quincunx.sample import blank, plan_for, write_sample

    asked: Asked | None = None
    if data is None:
        files = write_sample(folder, people)
    else:
        files, asked = plan_for(folder, data, _ask if not as_json and on_terminal() else blank)
    if as_json:
        found = {"files": [masked(str(file)) for file in files]}
        print_json(found if asked is None else found | {"asked": asked.lines()})
        return
    out, plan, published = console(), masked(str(folder / "plan.toml")), masked(str(folder / "published"))

    def say(text: str) -> None:
        out.print(masked(text), markup=False, soft_wrap=True)

    for file in files:
        say(f"wrote {file}")
    if asked is None:
        say(f"\nNext:\n  quincunx check {plan}\n  quincunx release {plan} --out {published}")
        return
    say("\nOnly you can say, and the plan has blanks for it:")
    for line in asked.lines():
        say(f"  {line}")
    say(f"\nFill in the blanks, then:\n  quincunx check {plan}")


def on_terminal() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(asked: Asked) -> Answers:
    """The three things that every plan needs; Enter leaves a blank."""
    from quincunx.sample import Answers

    def column(text: str) -> str:
        if text and text not in asked.columns:
            raise typer.BadParameter(f"no such column; there are {', '.join(asked.columns[:12])}")
        return text

    def amount(text: str) -> str:
        return text and exact_text(_read(positive, text))

    def rows(text: str) -> str:
        return text and str(_read(positive_integer, int(text) if text.isascii() and text.isdigit() else text))

    typer.echo("Only you can say (Enter leaves a blank in the plan):", err=True)
    guess = asked.owners[0] if len(asked.owners) == 1 else ""
    questions: tuple[tuple[str, str, Callable[[str], str]], ...] = (
        ("Which column says whose a row is?", guess, column),
        ("How much may ever be told, as ρ (1/2 is common, less protects better)?", "", amount),
        ("How many rows of one person may count in a question?", "", rows),
    )
    told = [
        typer.prompt(f"  {words}", default=guessed, show_default=bool(guessed), value_proc=read, err=True)
        for words, guessed, read in questions
    ]
    return Answers(key=told[0], intensity=told[1], rows=told[2])


def _read(read: Callable[[object, str], T], text: object) -> T:
    try:
        return read(text, "answer")
    except QuincunxError as error:
        raise typer.BadParameter(error.what) from None
