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
        typer.Option("--from", metavar="FILE", help="A Parquet or CSV file: write a plan for it, with blanks to fill."),
    ] = None,
    people: Annotated[int, typer.Option(help="How many people the sample has.")] = 12_000,
    as_json: AsJson = False,
) -> None:
    """Write a sample of people who do not exist with a plan to publish statistics about them.

    With --from, write a plan for that file instead: column names and types come from its metadata, and no row is read.
    """
    from quincunx.sample import write_plan_for, write_sample

    files = write_sample(folder, people) if data is None else write_plan_for(folder, data)
    if as_json:
        print_json({"files": [masked(str(file)) for file in files]})
        return
    out, plan, published = console(), masked(str(folder / "plan.toml")), masked(str(folder / "published"))
    for file in files:
        out.print(f"wrote {masked(str(file))}", markup=False, soft_wrap=True)
    if data is None:
        out.print(
            f"\nNext:\n  quincunx check {plan}\n  quincunx release {plan} --out {published}",
            markup=False,
            soft_wrap=True,
        )
    else:
        out.print(f"\nFill in the blanks, then:\n  quincunx check {plan}", markup=False, soft_wrap=True)
