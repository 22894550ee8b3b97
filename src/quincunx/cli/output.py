"""How commands speak: data on stdout, talk on stderr, one error shape, the exit codes of the error tree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Final, NoReturn, ParamSpec

import typer
from rich.console import Console

from quincunx.errors import ParameterError, QuincunxError, cause

P = ParamSpec("P")
# What a shell says of a command that was ended by Ctrl-C: 128 and the signal's number.
INTERRUPTED: Final = 130

# What hints say in Python → how a command says it.
_SPOKEN: Final = (
    (re.compile(r'within=\{"(\w+)": ([^}]*)\}'), r"--within \1=\2"),
    (re.compile(r'\b(spend|delta|analyst)="([^"]*)"'), r"--\1 \2"),
    (re.compile(r"\bLeave (spend|delta|within|analyst) out\b"), r"Leave --\1 out"),
    (re.compile(r"\bgive a spend\b"), "give --spend"),
    (re.compile(r"(, )?\banswer\.frame\b"), r"\1as --csv prints it"),
    (re.compile(r'\banswer\.then\(("[^"]*")\)'), r"--then \1"),
    (re.compile(r'unit\.Replace\(key="…"\)'), 'unit = "replace" in the plan'),
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value for programs.")]


def console(*, stderr: bool = False) -> Console:
    """A console of the window's width; colour only on a terminal that wants it."""
    return Console(stderr=stderr, highlight=False, soft_wrap=False)


def print_json(value: object) -> None:
    """One JSON value on stdout."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def made(folder: str | Path) -> Path:
    """The folder to write to, made if it is missing: before anything is computed for it."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "Name a folder that exists or can be made."
        got = cause(error)
        raise ParameterError("this is no folder to write to", where="--out", got=got, hint=hint) from None
    return Path(folder)


def spoken(hint: str) -> str:
    """A hint as it is typed on the command line: delta="1e-9" is --delta 1e-9, answer.frame is what --csv prints."""
    for pattern, typed in _SPOKEN:
        hint = pattern.sub(typed, hint)
    return hint


def fail(error: QuincunxError, *, as_json: bool) -> NoReturn:
    """Say what is wrong, on stderr, and leave with the error's exit code."""
    if as_json:
        parts = {"what": error.what, "where": error.where, "got": error.got, "hint": spoken(error.hint)}
        said = {key: value for key, value in parts.items() if value}
        shown = {"error": type(error).__name__, **said, **error.details}
        typer.echo(json.dumps(shown, ensure_ascii=False), err=True)
    else:
        where = f"{error.where}: " if error.where else ""
        typer.echo(f"error: {where}{error.what}" + (f"; got {error.got}" if error.got else ""), err=True)
        if error.hint:
            typer.echo(f"hint: {spoken(error.hint)}", err=True)
    raise typer.Exit(error.exit_code)


def reports_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn every error of the library into one message and its exit code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except QuincunxError as error:
            fail(error, as_json=bool(kwargs.get("as_json", False)))
        except KeyboardInterrupt:
            typer.echo("interrupted: what was paid for stays paid, and asking it again costs nothing", err=True)
            raise typer.Exit(INTERRUPTED) from None

    return run
