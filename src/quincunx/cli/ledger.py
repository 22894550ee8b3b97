"""`quincunx ledger`: look into a ledger, check it, add, amend, reopen; make one in a database, and move one there."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quincunx.address import masked
from quincunx.cli.output import AsJson, console, print_json, reports_errors
from quincunx.errors import cause
from quincunx.numbers import stated

if TYPE_CHECKING:
    from quincunx.ledger import Account, Balance, Budgets, Ledger, Record, Registration
    from quincunx.numbers import Number
    from quincunx.spec import Specification

app = typer.Typer(
    help="Show, verify, export, add to and amend a ledger, and reopen a halted dataset; make one in a database.",
    no_args_is_help=True,
)

# kind of record → what it says, from its body and the symbol of the dataset's budget
_WORDS: Final[dict[str, Callable[[dict[str, Any], str], str]]] = {
    "registration": lambda body, _: _total(body),
    "amendment": lambda body, _: f"{_total(body)}: {body['reason']}",
    "reservation": lambda body, symbol: _spend(body, symbol) + (f", {body['analyst']}" if body["analyst"] else ""),
    "answer": lambda body, _: f"to {body['question'][:8]}, {_count(body['size'], 'byte')}",
    "replay": lambda body, symbol: f"{_spend(body, symbol)}, {body['analyst']} alone",
    "external": lambda body, symbol: f"{_stated(symbol, body['cost'])}: {body['note']}",
    "halted": lambda body, _: f"an engine failed on the rows of version {body['version']}",
    "reopened": lambda body, _: body["reason"] or f"by version {body['version']}",
    "moved": lambda body, _: f"to {body['address']}",
}

File = Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger's file, or its address: postgresql://….")]
Address = Annotated[str, typer.Argument(help="postgresql://role@host/database, without a password; ?schema=….")]
Dataset = Annotated[str, typer.Argument(help="The registered name of the dataset.")]


@app.command("show")
@reports_errors
def show(
    ledger: File,
    last: Annotated[int, typer.Option(help="How many of the last records to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show what is registered, spent and left, by dataset, plan and analyst, and the last records."""
    with _opened(ledger) as opened:
        accounts = [opened.account(name) for name in opened.datasets]
        records, head = opened.records(last=last), opened.head
    if as_json:
        print_json({"head": head, "datasets": [_json(each) for each in accounts], "records": _lines(records)})
    else:
        _show(ledger, accounts, records, head)


@app.command("verify")
@reports_errors
def verify(
    ledger: File,
    head: Annotated[
        str | None, typer.Option(help="A head that was printed earlier: finds a ledger that was rolled back.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Work everything out again from the records, and say where the ledger differs; exit code 6 if it does."""
    with _opened(ledger) as opened:
        found = opened.verify(head)
    records = int(found.split(":")[0])
    if as_json:
        print_json({"verified": True, "records": records, "head": found, "against": head})
    else:
        typer.echo(f"verified: {_count(records, 'record')}, head {found}")
        if head is None:
            hint = (
                "Pass --head with one that was printed earlier: without it a ledger that was rolled back is not found."
            )
            typer.echo(f"hint: {hint}", err=True)


@app.command("export")
@reports_errors
def export(ledger: File, as_json: AsJson = False) -> None:
    """Print every record, one JSON object on a line; answers appear by their digests."""
    with _opened(ledger) as opened:
        lines = list(opened.export())
    if as_json:
        print_json([json.loads(line) for line in lines])
    else:
        for line in lines:
            typer.echo(line)


@app.command("add")
@reports_errors
def add(
    ledger: File,
    dataset: Dataset,
    cost: Annotated[str, typer.Option(help="What was spent, in the dataset's parameter (ε or ρ), exact as typed.")],
    note: Annotated[str, typer.Option(help="What it was spent on, and with which tool.")],
    delta: Annotated[str, typer.Option(help="What was spent of δ.")] = "0",
    when: Annotated[str | None, typer.Option(help="The day or time it happened: 2024-05-01.")] = None,
    as_json: AsJson = False,
) -> None:
    """Record what was spent on a dataset with other tools."""
    with _opened(ledger) as opened:
        account = opened.add(dataset, cost=cost, delta=delta, note=note, when=when)
        head = opened.head
    _report(account, head, "added", as_json)


@app.command("amend")
@reports_errors
def amend(
    ledger: File,
    dataset: Dataset,
    reason: Annotated[str, typer.Option(help="Why; it is recorded.")],
    intensity: Annotated[str | None, typer.Option(help="The new total, in the dataset's parameter.")] = None,
    delta: Annotated[str | None, typer.Option(help="The new total of δ.")] = None,
    specification: Annotated[str | None, typer.Option(help="A whole new specification, as a JSON file.")] = None,
    plan: Annotated[str | None, typer.Option(help="The new limit of each plan; none lifts it.")] = None,
    analyst: Annotated[
        list[str] | None, typer.Option(metavar="NAME=LIMIT", help="An analyst's new limit; none lifts it. Repeatable.")
    ] = None,
    smallest_spend: Annotated[
        str | None, typer.Option(help="The least that one question may spend; none for 1e-6 of the total.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a dataset's total or budgets. What is left out stays as it is."""
    with _opened(ledger) as opened:
        old = opened.account(dataset).registration
        changed = _specification(old, specification, intensity, delta)
        budgets = _budgets(old, plan, analyst or [], smallest_spend)
        opened.amend(dataset, reason=reason, specification=changed, budgets=budgets)
        account, head = opened.account(dataset), opened.head
    _report(account, head, "amended", as_json)


@app.command("reopen")
@reports_errors
def reopen(
    ledger: File,
    dataset: Dataset,
    reason: Annotated[str, typer.Option(help="Why it can be asked again; it is recorded.")],
    as_json: AsJson = False,
) -> None:
    """Let a halted dataset answer again. What was open at the halt stays paid and unanswered; openings are counted."""
    with _opened(ledger) as opened:
        account, head = opened.reopen(dataset, reason=reason), opened.head
    _report(account, head, "reopened", as_json)


@app.command("create")
@reports_errors
def create(
    address: Address,
    teller: Annotated[list[str] | None, typer.Option(help="A role that may spend. Repeatable.")] = None,
    auditor: Annotated[list[str] | None, typer.Option(help="A role that may read. Repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make an empty ledger in a PostgreSQL database, as the role that owns it and does not spend."""
    from quincunx.ledger.postgres import create as make

    made = make(address, tellers=teller or [], auditors=auditor or [])
    if as_json:
        print_json({"made": made, "tellers": teller or [], "auditors": auditor or []})
    else:
        typer.echo(
            f"made: {made}, for {_count(len(teller or []), 'teller')} and {_count(len(auditor or []), 'auditor')}"
        )


@app.command("migrate")
@reports_errors
def migrate(address: Address, as_json: AsJson = False) -> None:
    """Bring a ledger in a database to the newest format, as its owner."""
    from quincunx.ledger.postgres import migrate as bring

    before, now = bring(address)
    if as_json:
        print_json({"before": before, "now": now})
    else:
        typer.echo(f"format {now}" + (": nothing to do" if before == now else f", before {before}"))


@app.command("copy")
@reports_errors
def copy(
    ledger: File,
    address: Annotated[str, typer.Argument(help="An empty ledger in a database, as a teller: postgresql://….")],
    as_json: AsJson = False,
) -> None:
    """Close a ledger for ever and go on with all of it in a database. Interrupted, it is repeated in the same words."""
    with _opened(ledger) as opened:
        head = opened.move(address)
    if as_json:
        print_json({"moved": masked(address), "head": head})
    else:
        typer.echo(f"moved: {masked(ledger)} is closed, and goes on at {masked(address)}, head {head}")


def _opened(path: str) -> Ledger:
    from quincunx.errors import ParameterError
    from quincunx.ledger import Ledger

    if path == ":memory:":
        hint = "A ledger in memory ends with its process; name a file."
        raise ParameterError("there is nothing to look at", where="LEDGER", got=path, hint=hint)
    return Ledger.open(path, create=False)


def _specification(
    old: Registration, file: str | None, intensity: str | None, delta: str | None
) -> Specification | None:
    from quincunx.errors import ParameterError, SpecificationError
    from quincunx.spec import Specification

    if file is None and intensity is None and delta is None:
        return None
    new = old.specification
    if file is not None:
        try:
            new = Specification.from_json(Path(file).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise SpecificationError("the file cannot be read", where=file, got=cause(error)) from None
    if delta is not None:
        if "delta" not in new.standard.parameters:
            got = type(new.standard).__name__
            raise ParameterError("this standard has no δ", where="--delta", got=got, hint="Leave it out.")
        changed: Any = dataclasses.replace(new.standard, delta=delta)  # type: ignore[type-var]
        new = dataclasses.replace(new, standard=changed)
    return new if intensity is None else dataclasses.replace(new, intensity=intensity)  # type: ignore[arg-type]


def _budgets(old: Registration, plan: str | None, analysts: list[str], smallest: str | None) -> Budgets | None:
    from quincunx.errors import ParameterError

    if plan is None and not analysts and smallest is None:
        return None
    limits: dict[str, Number] = dict(old.analysts)
    for entry in analysts:
        name, sign, limit = entry.rpartition("=")
        if not sign:
            hint = "Write --analyst alice=1/10."
            raise ParameterError("expected a name and a limit", where="--analyst", got=repr(entry[:40]), hint=hint)
        limits[name] = limit
    kept = {name: limit for name, limit in limits.items() if limit != "none"}
    return {
        "plan": old.plan if plan is None else None if plan == "none" else plan,
        "analysts": kept,
        "smallest_spend": old.smallest_spend if smallest is None else None if smallest == "none" else smallest,
    }


def _report(account: Account, head: str, done: str, as_json: bool) -> None:
    if as_json:
        print_json({**_json(account), "head": head})
        return
    total, symbol = account.total, account.registration.symbol
    typer.echo(f"{done}: {stated(symbol, total.spent)} spent, {_text(total.remaining)} remaining; head {head}")


def _show(path: str, accounts: list[Account], records: tuple[Record, ...], head: str) -> None:
    out = console()
    counts = f"{_count(len(accounts), 'dataset')}, {_count(int(head.split(':')[0]), 'record')}"
    out.print(f"{masked(path)}: {counts}", markup=False)
    out.print(f"head {head}", markup=False)
    if not accounts:
        out.print("Nothing is registered yet.", markup=False)
    for account in accounts:
        out.print()
        _show_account(account)
    if records:
        out.print()
        table = Table(box=None, pad_edge=False, show_header=True, header_style="")
        table.add_column("record", justify="right", no_wrap=True)
        for column in ("time (UTC)", "kind"):
            table.add_column(column, no_wrap=True)
        table.add_column("what", overflow="fold")
        symbols = {account.registration.dataset: account.registration.symbol for account in accounts}
        for record in records:
            table.add_row(str(record.seq), record.time[:16].replace("T", " "), record.kind, _what(record, symbols))
        out.print(table)


def _show_account(account: Account) -> None:
    from quincunx.ledger.halting import told

    out, registration = console(), account.registration
    specification = registration.specification
    out.print(registration.dataset, markup=False, style="bold")
    # The first sentence says what is protected; the others how rows are told apart.
    unit = specification.unit.words().split(". ")[0].rstrip(".")
    words = f"{specification.stated[0][1]} in all. Protected: {unit[0].lower()}{unit[1:]}."
    out.print(Padding(Text(words), (0, 0, 0, 2)))
    table = Table(box=None, pad_edge=False, show_header=True, header_style="")
    table.add_column("")
    for column in ("", "spent", "remaining", "of"):
        table.add_column(column, no_wrap=True)
    rows = [("  dataset", registration.symbol, account.total), ("", "δ", account.delta)]
    rows = rows if account.delta.budget else rows[:1]
    rows += [(f"  plan {name}", registration.symbol, balance) for name, balance in account.plans]
    rows += [(f"  analyst {name}", registration.symbol, balance) for name, balance in account.analysts]
    for name, symbol, balance in rows:
        table.add_row(Text(name), symbol, *(_text(each) for each in (balance.spent, balance.remaining, balance.budget)))
    out.print(table)
    withheld = sum(halt.withheld for halt in account.halts)
    waiting = account.questions - account.answers - withheld
    rest = f", {waiting} paid for and not yet answered" if waiting else ""
    rest += f", {withheld} withheld" if withheld else ""
    out.print(f"  {_count(account.questions, 'question')}, {_count(account.answers, 'answer')}{rest}", markup=False)
    for words in told(account.halts):
        out.print(Padding(Text(words), (0, 0, 0, 2)))


def _what(record: Record, symbols: dict[str, str]) -> Text:
    # That a ledger moved is about no dataset.
    dataset = record.body.get("dataset", "")
    words = _WORDS[record.kind](record.body, symbols.get(dataset, ""))
    return Text(f"{dataset}: {words}" if dataset else words)


def _total(body: dict[str, Any]) -> str:
    from quincunx.spec import STANDARDS as KINDS

    given = body["specification"]
    return f"{_stated(KINDS[given['standard']['kind']].symbol, given['intensity'])} in all"


def _spend(body: dict[str, Any], symbol: str) -> str:
    return f"{_stated(symbol, body['cost'])} for {body['question'][:8]}"


def _stated(symbol: str, recorded: str) -> str:
    from quincunx.numbers import number, stated

    return stated(symbol, number(recorded))


def _json(account: Account) -> dict[str, object]:
    registration = account.registration
    return {
        "dataset": registration.dataset,
        "specification": registration.specification.to_dict(),
        "symbol": registration.symbol,
        "total": _balance(account.total),
        "delta": _balance(account.delta),
        "plans": {name: _balance(balance) for name, balance in account.plans},
        "analysts": {name: _balance(balance) for name, balance in account.analysts},
        "questions": account.questions,
        "answers": account.answers,
        "halted": account.halted,
        "halts": [dataclasses.asdict(halt) for halt in account.halts],
    }


def _balance(balance: Balance) -> dict[str, str | None]:
    parts = {"spent": balance.spent, "remaining": balance.remaining, "budget": balance.budget}
    return {name: None if value is None else str(value) for name, value in parts.items()}


def _lines(records: tuple[Record, ...]) -> list[object]:
    return [json.loads(record.to_json()) for record in records]


def _text(value: Fraction | None) -> str:
    from quincunx.numbers import amount

    return "no limit" if value is None else amount(value)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
