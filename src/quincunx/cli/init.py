"""`quincunx init`: a sample to try, or a plan for a file of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quincunx.address import masked
from quincunx.cli.output import AsJson, console, print_json, reports_errors


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
    metadata, those of a CSV file are proposed by the columns' names, and no row is read.
    """
    from quincunx.sample import plan_for, write_sample

    files, asked = (write_sample(folder, people), None) if data is None else plan_for(folder, data)
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
