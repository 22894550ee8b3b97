"""`quincunx audit self`: audit every mechanism and operator of Quincunx, and show that the audit can fail."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from quincunx.address import masked
from quincunx.cli.output import AsJson, console, made, print_json, reports_errors
from quincunx.cli.progress import working
from quincunx.errors import ParameterError, QuincunxError, VerificationError, cause
from quincunx.numbers import below

if TYPE_CHECKING:
    from quincunx.audit import self_audit

_SCALES = ((10**6, "M"), (10**3, "k"))


@reports_errors
def audit_self(
    quick: Annotated[
        bool, typer.Option("--quick", help="A hundred thousand draws: about a minute of processor time.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Ten million draws: about half an hour on two cores.")] = False,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Also write audit.html and audit.json there.")] = None,
    only: Annotated[str, typer.Option(metavar="NAME", help="Only what has this text in its name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Audit every mechanism and operator of Quincunx. Exit code 0: no claim refuted, 6: one was, 1: a control was not.

    Each claim is tried on neighbouring datasets with fresh secure noise, a million draws on each side unless told
    otherwise; all verdicts hold together with confidence 1 − 1e-6. Mechanisms that are broken on purpose are tried in
    the same way and must be refuted. "Not refuted" is no proof.
    """
    from quincunx.audit import self_audit

    if quick and full:
        hint = "Choose one; without either a million draws are made."
        raise ParameterError("these two exclude each other", where="--quick, --full", got="both", hint=hint)
    folder = None if out is None else made(out)
    samples = self_audit.QUICK if quick else self_audit.FULL if full else self_audit.DEFAULT
    with working("starting", quiet=as_json) as stage:
        report = self_audit.run(
            samples=samples,
            only=only,
            processes=min(2, os.cpu_count() or 1),
            progress=lambda done, total, name: stage(f"{done} of {total} done, last {name}"),
        )
    if as_json:
        print_json(report.to_dict())
    else:
        _show(report, console())
    if folder is not None:
        for path in _written(report, folder):
            typer.echo(f"wrote {masked(str(path))}", err=True)
    if report.missed:
        typer.echo(f"error: {report.finding}", err=True)
        raise typer.Exit(QuincunxError.exit_code)
    if report.refuted:
        raise typer.Exit(VerificationError.exit_code)


def _show(report: self_audit.SelfReport, out: Console) -> None:
    for room in dict.fromkeys(outcome.room for outcome in report.claims):
        _heading(out, room[:1].upper() + room[1:])
        out.print(_claims(outcome for outcome in report.claims if outcome.room == room))
    own = [each for each in report.replays if not each.control]
    if own:
        _heading(out, "Neighbour replay")
        out.print(_replays(own))
    broken = [each for each in report.replays if each.control]
    if report.controls or broken:
        _heading(out, "What this audit catches: broken on purpose, to be refuted")
    if report.controls:
        out.print(_claims(report.controls))
    if broken:
        out.print(_replays(broken))
    out.print()
    out.print(report.finding, markup=False)
    out.print(
        f"Confidence 1 − {float(report.risk):g} for all {report.tried} claims together; {report.seconds:,.0f} s. "
        "Not refuted is not proved.",
        markup=False,
    )


def _heading(out: Console, text: str) -> None:
    out.print()
    out.print(text, markup=False, style="bold")


def _claims(outcomes: Iterable[self_audit.Outcome]) -> Table:
    table = _table("mechanism", "claim", "bound", "of claim", "draws", "verdict")
    for each in outcomes:
        share = "∞" if each.tightness == float("inf") else f"{int(1000 * each.tightness) / 10:.1f} %"
        bound = below(each.bound, 4)
        table.add_row(each.name, each.claim, bound, share, _short(each.samples), each.verdict)
    return table


def _replays(replays: Iterable[self_audit.Replayed]) -> Table:
    table = _table("replay", "cases", "of declared", "verdict")
    for each in replays:
        table.add_row(each.name, f"{each.cases:,}", f"{each.largest:.4g}", each.verdict)
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="")
    for heading in headings:
        words = heading in ("mechanism", "replay", "claim", "verdict")
        table.add_column(
            heading, justify="left" if words else "right", no_wrap=heading not in ("mechanism", "replay", "claim")
        )
    return table


def _short(count: int) -> str:
    scale, letter = next(((scale, letter) for scale, letter in _SCALES if count >= scale), (1, ""))
    return f"{count / scale:.4g}{letter}"


def _written(report: self_audit.SelfReport, folder: Path) -> list[Path]:
    from quincunx.audit import self_audit

    texts = {
        "audit.html": self_audit.page(report),
        "audit.json": json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n",
    }
    try:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        hint = "Check that the folder may be written to."
        raise ParameterError("cannot write the report", where="--out", got=cause(error), hint=hint) from None
    return [folder / name for name in texts]
