"""`quincunx audit`: attack a mechanism with samples, and say what it certainly leaks."""

from __future__ import annotations

import difflib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quincunx.cli.audit_self import audit_self
from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.progress import working
from quincunx.errors import InputError, ParameterError, VerificationError, cause, kind_of
from quincunx.numbers import above, below

if TYPE_CHECKING:
    from quincunx.audit import Finding, Report

app = typer.Typer(help="Hold a mechanism to its claim.", no_args_is_help=True)


@app.command("run")
@reports_errors
def run(
    target: Annotated[str, typer.Argument(metavar="MODULE:CALLABLE", help="A function from a dataset to an output.")],
    claim: Annotated[
        str, typer.Option(help='What is claimed: "epsilon=1", "epsilon=1, delta=1e-6", "rho=0.5", "mu=1".')
    ],
    neighbours: Annotated[
        str, typer.Option(help='Two neighbouring inputs as JSON, "[0, 1]", or a file with a list of such pairs.')
    ],
    samples: Annotated[str, typer.Option(help="How many outputs of each input.")] = "100000",
    confidence: Annotated[str, typer.Option(help='That a refutation is right: "1 - 1e-6" or 0.95.')] = "1 - 1e-6",
    many: Annotated[
        bool, typer.Option("--many", help="The callable takes (dataset, size) and returns an array of outputs.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Test a claim about any Python function at neighbouring inputs. Exit code 0: not refuted, 6: refuted.

    "Not refuted" is no proof: other inputs, other events or more samples may still refute the claim.
    """
    from quincunx.audit import Claim, Sampler, run

    stated, pairs = Claim.parse(claim), _pairs(neighbours)
    sampler = Sampler(function=_imported(target), vectorised=many, name=target)
    with working(f"drawing 2 × {samples} outputs for each of {len(pairs)} pairs", quiet=as_json):
        report = run(sampler, pairs, stated, samples=samples, confidence=confidence)
    if as_json:
        print_json(report.to_json())
    else:
        _tell(report)
    if report.refuted:
        raise typer.Exit(VerificationError.exit_code)


app.command("self")(audit_self)


def _tell(report: Report) -> None:
    worst = report.worst
    parameter = worst.claim.parameter
    typer.echo(f"claim: {worst.claim.text}")
    typer.echo(f"verdict: {report.verdict}")
    typer.echo(f"bound: {parameter} ≥ {below(worst.bound)}, {100 * worst.tightness:.3g} % of the claim")
    typer.echo(_evidence(worst))
    pairs = "1 pair" if len(report.findings) == 1 else f"{len(report.findings)} pairs"
    typer.echo(
        f"samples: {worst.samples:,} of each input, {worst.tested:,} of them for the test; {pairs}; "
        f"{sum(finding.seconds for finding in report.findings):.1f} s"
    )
    typer.echo(f"confidence: 1 − {above(float(1 - report.confidence))}")
    if not report.refuted:
        typer.echo("Not refuted is not proved: other inputs, events or more samples may still refute it.", err=True)


def _evidence(finding: Finding) -> str:
    return (
        f"event: {finding.event}\n"
        f"  at {finding.inputs[0]}: probability at least {below(finding.p_low)}\n"
        f"  at {finding.inputs[1]}: probability at most {above(finding.q_high)}"
    )


def _pairs(text: str) -> list[Any]:
    where = "--neighbours"
    hint = 'Write a JSON pair, "[0, 1]", or the name of a file that holds a list of pairs: [[0, 1], [1, 2]].'
    typed = text.lstrip().startswith("[")
    try:
        given = json.loads(text if typed else Path(text).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        got = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise ParameterError("this is not JSON", where=where if typed else text, got=got, hint=hint) from None
    except (OSError, UnicodeDecodeError) as error:
        got = cause(error)
        raise ParameterError("the file of pairs cannot be read", where=text[:80], got=got, hint=hint) from None
    pairs = [given] if typed else given
    for i, pair in enumerate(pairs if isinstance(pairs, list) else [pairs]):
        if not isinstance(pair, list) or len(pair) != 2:
            got = f"{len(pair)} inputs" if isinstance(pair, list) else type(pair).__name__
            raise ParameterError(
                "expected a pair of inputs", where=where if typed else f"{text}, pair {i + 1}", got=got, hint=hint
            )
    if not pairs:
        raise ParameterError("there is no pair", where=text, hint=hint)
    return list(pairs)


def _imported(target: str) -> Any:
    module, colon, path = target.partition(":")
    hint = "Write MODULE:CALLABLE, such as mymodule:release; the module may be in the current folder."
    if not colon or not module or not path:
        raise ParameterError("expected a module and a callable", where="MODULE:CALLABLE", got=repr(target), hint=hint)
    # A script's folder is on the path, not the folder in which it is run.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    name = module.removesuffix(".py").removeprefix("./").replace("/", ".")
    try:
        found: Any = importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        what = (
            "there is no such module" if name.startswith(missing) else f"the module needs {missing}, which is missing"
        )
        raise ParameterError(what, where=target, got=repr(missing), hint=hint) from None
    except Exception as error:
        raise InputError(
            "the module raised while it was imported", where=name, got=f"{type(error).__name__}: {error}"[:200]
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, _callables(found), 1)
            hint = f"Did you mean {near[0]}?" if near else f"{name} has no such name."
            raise ParameterError("there is no such callable", where=target, got=repr(part), hint=hint)
        found = getattr(found, part)
    if not callable(found):
        raise ParameterError("this is not callable", where=target, got=kind_of(found), hint=hint)
    return found


def _callables(found: object) -> list[str]:
    names = (name for name in dir(found) if not name.startswith("_"))
    return [name for name in names if callable(getattr(found, name, None))]
