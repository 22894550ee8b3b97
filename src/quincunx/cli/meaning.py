"""`quincunx meaning`: what a guarantee means for a belief about one person, in numbers, words and pictures."""

from __future__ import annotations

import sys
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from quincunx.address import masked
from quincunx.cli.expression import ExpressionError, read
from quincunx.cli.output import AsJson, console, made, print_json, reports_errors
from quincunx.errors import ParameterError, PrivacyError, cause

if TYPE_CHECKING:
    from rich.console import Console

    from quincunx.loss import Loss
    from quincunx.meaning import Meaning
    from quincunx.spec import Specification

_EXAMPLE: Final = "quincunx meaning --epsilon 1 --prior 0.1 --unit replace"
# Which neighbours a sampling in an expression demands, as --unit names them.
_DEMANDED: Final = {"AddRemove": "add-remove", "Replace": "replace"}


class UnitName(StrEnum):
    """What one step of the guarantee is."""

    REPLACE = "replace"
    ADD_REMOVE = "add-remove"


class About(StrEnum):
    """What the belief is about."""

    RECORD = "record"
    PRESENCE = "presence"


@reports_errors
def meaning(
    prior: Annotated[str, typer.Option(help="What someone believes before, from 0 to 1, exact as typed.")],
    epsilon: Annotated[str | None, typer.Option(help="ε: pure alone, or with --delta.")] = None,
    delta: Annotated[str | None, typer.Option(help="δ of an (ε, δ) guarantee, with --epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(help="ρ of zero-concentrated privacy.")] = None,
    mu: Annotated[str | None, typer.Option(help="μ of Gaussian privacy.")] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="EXPR", help="Mechanisms with counts, as for quincunx account.")
    ] = None,
    spec: Annotated[
        str | None, typer.Option(metavar="FILE", help="A specification as JSON; - reads standard input.")
    ] = None,
    unit: Annotated[UnitName | None, typer.Option(help="What one step is; needed unless --spec states it.")] = None,
    about: Annotated[
        About, typer.Option(help="What is believed: record, anything about a person, or presence.")
    ] = About.RECORD,
    group: Annotated[str, typer.Option(help="How many people the belief is about, together.")] = "1",
    outside: Annotated[
        str | None, typer.Option(help="The probability with which bounds on beliefs may fail; needed unless pure.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for the pictures (SVG); made if it is missing.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a guarantee means: how far a belief can move, what the best attack can do, and for groups.

    Give exactly one guarantee: --epsilon (perhaps with --delta), --rho, --mu, --loss or --spec. Nothing is read but
    the specification, and nothing is released.
    """
    from quincunx.meaning import explain

    chosen = _chosen({"--epsilon": epsilon, "--rho": rho, "--mu": mu, "--loss": loss, "--spec": spec}, delta)
    if spec is not None and unit is not None:
        hint = "Leave --unit out; the specification's own counts."
        raise ParameterError("a specification states its own unit", where="--unit", got=unit.value, hint=hint)
    if spec is None and unit is None:
        what = "a number says nothing without its unit"
        raise ParameterError(what, where="--unit", hint=f"Say replace or add-remove: {_EXAMPLE}.")
    subject: Loss | Specification
    try:
        if spec is not None:
            subject = _stored(spec)
        elif loss is not None:
            subject = _expression(loss, unit)
        else:
            subject = _stated(chosen, str(epsilon or rho or mu), delta, unit)
        named = unit.value if loss is not None and unit is not None else None
        found = explain(prior, subject, unit=named, about=about.value, people=group, outside=outside)
    except ExpressionError as error:
        if not as_json:
            typer.echo(error.underlined(), err=True)
        raise
    except ParameterError as error:
        raise _as_option(error) from None
    except PrivacyError as error:
        if 'outside="' in error.hint:
            hint = "Say with which probability they may fail: --outside 0.001."
            raise PrivacyError(error.what, where="--outside", got=error.got, hint=hint) from None
        raise
    drawn = _write(found, out) if out is not None else []
    if as_json:
        print_json({**found.to_dict(), "pictures": [masked(str(path)) for path in drawn]})
        return
    _show(console(), found)
    for path in drawn:
        typer.echo(f"wrote {masked(str(path))}", err=True)


def _chosen(guarantees: dict[str, str | None], delta: str | None) -> str:
    given = [name for name, value in guarantees.items() if value is not None]
    if len(given) != 1:
        what = "no guarantee is given" if not given else "exactly one guarantee can be explained at a time"
        hint = f"Give one of {', '.join(guarantees)}: {_EXAMPLE}."
        raise ParameterError(what, where="meaning", got=", ".join(given), hint=hint)
    if delta is not None and given != ["--epsilon"]:
        hint = "δ belongs to --epsilon; a loss or a specification has its own."
        raise ParameterError("has no meaning here", where="--delta", got=f"with {given[0]}", hint=hint)
    return given[0]


def _stored(file: str) -> Specification:
    from quincunx.errors import SpecificationError
    from quincunx.spec import Specification

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError("the file cannot be read", where=file, got=cause(error)) from None
    return Specification.from_json(text)


def _expression(text: str, unit: UnitName | None) -> Loss:
    reading = read(text)
    demanded = {_DEMANDED[name] for name in reading.units}
    if unit is not None and demanded and unit.value not in demanded:
        hint = f"Its sampling is stated for {demanded.pop()} neighbours."
        raise ParameterError("does not fit the expression", where="--unit", got=unit.value, hint=hint)
    return reading.loss


def _stated(option: str, value: str, delta: str | None, unit: UnitName | None) -> Specification:
    from quincunx.numbers import non_negative
    from quincunx.spec import AddRemove, Replace, Specification, domain, scope, standard

    standards = {"--rho": standard.ZCDP, "--mu": standard.GaussianDP, "--epsilon": standard.Pure}
    kind = standards[option]() if delta is None else standard.Approximate(delta)  # type: ignore[arg-type]
    return Specification(
        # What a number means for a belief is the same for every table of people.
        domain=domain.Histogram(cells=1),
        scope=scope.Everything(),
        unit=Replace() if unit == UnitName.REPLACE else AddRemove(),
        standard=kind,
        intensity=non_negative(value, option),
    )


def _as_option(error: ParameterError) -> ParameterError:
    """The same error, told with the option that was typed."""
    names = {"prior": "--prior", "outside": "--outside", "people": "--group", "delta": "--delta"}
    where = names.get(error.where, error.where)
    return ParameterError(error.what, where=where, got=error.got, hint=error.hint)


def _write(found: Meaning, folder: Path) -> list[Path]:
    return [chart.write(made(folder) / f"{name}.svg") for name, chart in found.charts().items()]


def _show(out: Console, found: Meaning) -> None:
    from quincunx.meaning import chance, times

    out.print(found.sentence, markup=False)
    out.print()
    posterior, attack = found.posterior, found.attack
    rows = [
        ("belief before", chance(found.prior)),
        ("belief after", f"{_percent(posterior.low, up=False)} to {_percent(posterior.high, up=True)}"),
        ("odds move by at most", f"× {times(found.odds.factor)}"),
        (
            f"best attack, {chance(attack.false_alarms)} false alarms",
            f"detects at most {_percent(attack.power, up=True)}",
        ),
        ("advantage over guessing", f"at most {_percent(attack.advantage, up=True)}"),
        ("false alarms plus misses", f"at least {_percent(attack.errors, up=False)}"),
    ]
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column()
    for row in rows:
        table.add_row(*row)
    out.print(table)
    out.print()
    several = Table(box=None, pad_edge=False, header_style="")
    for heading in ("people together", "belief at most", "odds by at most", "attack detects"):
        several.add_column(heading, justify="right")
    for each in found.groups:
        several.add_row(
            f"{each.people:,}",
            _percent(each.high, up=True),
            f"× {times(each.factor)}",
            _percent(each.power, up=True),
        )
    out.print(several)
    for each in found.groups:
        if each.why:
            out.print(f"For {each.people:,} people: {each.why}.", markup=False)
    if found.vacuous_from is not None:
        who = "one person" if found.vacuous_from == 1 else f"{found.vacuous_from:,} people"
        out.print(f"From {who} on, the belief may reach 95 %.", markup=False)
    out.print()
    out.print("Conditions", markup=False)
    for condition in found.conditions:
        out.print(f"- {condition}", markup=False)


def _percent(value: float, *, up: bool) -> str:
    from quincunx.meaning import percent

    return percent(Fraction(value), up=up)
