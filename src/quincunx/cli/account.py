"""`quincunx account`: what a sum of mechanisms leaks, between certified bounds, in every standard it can state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from quincunx.cli.expression import SAMPLINGS, ExpressionError, Reading, read, terms
from quincunx.cli.output import AsJson, console, print_json, reports_errors
from quincunx.errors import ParameterError
from quincunx.numbers import above, below

if TYPE_CHECKING:
    from quincunx.loss import Loss

_ORDERS: Final = (2, 8, 32)
_NEIGHBOURS: Final = {
    frozenset({"AddRemove"}): (
        "Neighbours: one person added or removed, because Poisson sampling is stated for that. "
        "The sensitivities must be those of adding or removing one person."
    ),
    frozenset({"Replace"}): (
        "Neighbours: one person replaced by another, because sampling without replacement is stated for that. "
        "The sensitivities must be those of replacing one person."
    ),
    frozenset(): (
        "Neighbours: two datasets between which the true answers move by at most each term's sensitivity, 1 where it "
        "is not given. Whether a person is added, removed or replaced is what the sensitivities were computed for; "
        "it must be the same for all terms."
    ),
}


@dataclass(frozen=True, slots=True)
class _Row:
    key: str
    name: str
    symbol: str
    lower: float
    upper: float


@reports_errors
def account(
    expr: Annotated[
        str | None,
        typer.Argument(metavar="EXPR", help="Terms with counts: 100*gaussian(sigma=50) + laplace(scale=20)."),
    ] = None,
    delta: Annotated[str | None, typer.Option(help="The δ at which ε is asked, exact as typed.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="An ε at which δ is asked too.")] = None,
    list_terms: Annotated[bool, typer.Option("--list", help="Name the terms and their laws.")] = False,
    as_json: AsJson = False,
) -> None:
    """Account for a composition of mechanisms: certified lower and upper bounds in every standard it can state.

    The losses are fixed in advance: the mechanisms may be chosen adaptively, their parameters may not.
    """
    if list_terms:
        _list(as_json)
        return
    if expr is None or delta is None:
        what, where = ("an expression is missing", "EXPR") if expr is None else ("δ is missing", "--delta")
        hint = "quincunx account '100*gaussian(sigma=50) + laplace(scale=20)' --delta 1e-6"
        raise ParameterError(what, where=where, hint=hint)
    try:
        reading = read(expr)
    except ExpressionError as error:
        if not as_json:
            typer.echo(error.underlined(), err=True)
        raise
    rows = _rows(reading.loss, delta, epsilon)
    if as_json:
        print_json(_as_json(expr, reading, rows, delta, epsilon))
    else:
        _show(reading, rows)


def _rows(loss: Loss, delta: str, epsilon: str | None) -> list[_Row]:
    rows = [_Row("epsilon", f"approximate, δ = {delta}", "ε", *loss.epsilon_bounds(delta))]
    if epsilon is not None:
        rows.append(_Row("delta", f"approximate, ε = {epsilon}", "δ", *loss.delta_bounds(epsilon)))
    return [
        *rows,
        _Row("pure", "pure", "ε", *loss.pure_bounds()),
        _Row("zcdp", "zero-concentrated", "ρ", *loss.zcdp_bounds()),
        *(_Row(f"renyi_{order}", f"Rényi, α = {order}", "ε", *loss.renyi_bounds(order)) for order in _ORDERS),
        _Row("gdp", "Gaussian", "μ", *loss.gdp_bounds()),
        _Row("tv", "total variation", "TV", *loss.tv_bounds()),
    ]


def _show(reading: Reading, rows: list[_Row]) -> None:
    out = console()
    table = Table(box=None, pad_edge=False, show_header=True, header_style="")
    for column in ("standard", "", "at least", "at most"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(row.name, row.symbol, below(row.lower), above(row.upper))
    out.print(table)
    out.print()
    out.print(_NEIGHBOURS[reading.units], markup=False)
    for name in sorted(reading.kinds):
        out.print(f"{name}: {_words(name)}.", markup=False)
    out.print("∞: this standard has no finite bound here, or none is known.", markup=False)


def _as_json(expression: str, reading: Reading, rows: list[_Row], delta: str, epsilon: str | None) -> dict[str, object]:
    return {
        "expression": expression,
        "asked": {"delta": delta, **({} if epsilon is None else {"epsilon": epsilon})},
        "neighbours": _NEIGHBOURS[reading.units],
        "laws": {name: _words(name) for name in sorted(reading.kinds)},
        "bounds": {
            row.key: {
                "standard": row.name,
                "symbol": row.symbol,
                # JSON has no infinity: null where there is no finite bound.
                "lower": row.lower if math.isfinite(row.lower) else None,
                "upper": row.upper if math.isfinite(row.upper) else None,
            }
            for row in rows
        },
    }


def _words(name: str) -> str:
    return SAMPLINGS[name].words if name in SAMPLINGS else terms()[name].words


def _list(as_json: bool) -> None:
    forms = {name: f"{name}({', '.join(f'{each}=' for each in kind.parameters)})" for name, kind in terms().items()}
    forms |= {name: f"{name}(EXPR, q=)" for name in SAMPLINGS}
    if as_json:
        print_json([{"term": name, "form": form, "law": _words(name)} for name, form in forms.items()])
        return
    for name, form in forms.items():
        typer.echo(f"{form}\n    {_words(name)}")
