"""No password of a database's address is ever printed: the function, every error, and every way to type an address."""

from __future__ import annotations

import io
import pickle
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import quincunx as qx
from quincunx import errors
from quincunx.address import masked, masked_in_place
from quincunx.cli.app import app
from quincunx.finite import Mechanism
from quincunx.ledger import Ledger
from quincunx.release import Session
from quincunx.release.plan_file import read_plan
from quincunx.table.table import Table
from tests.release.world import PLAN, session, write_plan

CANARY = "hunter2canary"
ADDRESSES = [
    f"postgresql://office:{CANARY}@db.example.org:5432/census",
    f"postgresql://office:{CANARY}@db.example.org/census.csv",
    f"postgres://:{CANARY}@h/d.parquet",
    f"postgresql://office:a/b@c:{CANARY}@h/d",
    f"postgresql://office:{CANARY} with space@h/d",
    f"mysql+pymysql://office:{CANARY}@h/d?x=a@b",
    f"postgresql://h/d?user=office&password={CANARY}",
    f"host=h user=office password={CANARY} dbname=d",
    f"host=h password = '{CANARY} it\\'s' dbname=d",
    f"Driver=x;UID=office;PWD={{{CANARY} x}};",
    f"office:{CANARY}@db.example.org/census",
    f"./office:{CANARY}@db.example.org",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_password_is_hidden_however_it_is_wrapped(address: str) -> None:
    wrapped = [address, repr(address), f"where: {address}: what", f"{{'ledger': {address!r}}}", str(Path(address)),
               str(Path("/srv") / address), str(Path(address).absolute()), ascii(address)]  # fmt: skip
    for text in wrapped:
        assert CANARY not in masked(text), text
        assert masked(masked(text)) == masked(text)
        assert CANARY not in masked_in_place(text)
        assert len(masked_in_place(text)) == len(text)


@pytest.mark.parametrize("cut", range(25, 60))
def test_an_address_that_is_cut_short_shows_nothing(cut: int) -> None:
    address = f"postgresql://office:{CANARY}@db.example.org/census"
    shown = masked(address[:cut])
    assert CANARY[:4] not in shown


@pytest.mark.parametrize(
    "text",
    [
        "plan.toml:12: spec.unit",
        "http://localhost:8080/path",
        "https://example.org:443",
        "spend = 1/20, delta = 1e-9",
        'Write unit.AddRemove(key="person_id").',
        "/data/2024/visits.parquet",
        "C:/data/visits.parquet",
        "12:30:05",
    ],
)
def test_what_is_no_address_stays(text: str) -> None:
    assert masked(text) == text == masked_in_place(text)


@given(st.text(st.characters(exclude_characters="@\n\r", exclude_categories=("Cs",)), min_size=1, max_size=30))
def test_any_password_between_user_and_host(secret: str) -> None:
    shown = masked(f"postgresql://office:zq{secret}qz@host/db")
    assert f"zq{secret}qz" not in shown
    assert shown.endswith("@host/db")


def kinds() -> list[type[errors.QuincunxError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.QuincunxError)]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("part", ["what", "where", "got", "hint"])
def test_no_error_of_the_tree_holds_it(kind: type[errors.QuincunxError], part: str) -> None:
    error = kind(**({"what": "wrong"} | {part: f"see {ADDRESSES[0]}"}))
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert_clean(each)
        assert "***" in str(each)


@pytest.mark.parametrize("kind", [errors.QueryError, errors.RefusalError])
def test_the_place_in_a_question_stays_where_it_is(kind: type[Any]) -> None:
    sql = f"SELECT * FROM '{ADDRESSES[0]}' WHERE wrong"
    error = kind("no").at(sql, sql.index("wrong"), len(sql))
    assert_clean(error)
    assert error.sql[error.start : error.end] == "wrong"


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def assert_clean(error: BaseException) -> None:
    for each in chain(error):
        shown = [
            str(each),
            repr(each),
            repr(each.args),
            *(repr(value) for value in getattr(each, "__dict__", {}).values()),
        ]
        shown += [repr(getattr(each, name, "")) for name in ("filename", "filename2", "object", "reason", "details")]
        shown += ["".join(traceback.format_exception(each))]
        for text in shown:
            assert CANARY not in text, f"{type(each).__name__}: {text}"


def asked(ledger: str) -> None:
    with session(ledger=ledger) as opened:
        opened.sql("SELECT COUNT(*) AS n FROM visits", spend=1)


WAYS: dict[str, Callable[[str], object]] = {
    "Session(ledger=)": asked,
    "Session.open": Session.open,
    "read_plan": read_plan,
    "Ledger.open": Ledger.open,
    "Ledger.open, no creation": lambda address: Ledger.open(address, create=False),
    "Table": Table,
    "Table, a path": lambda address: Table(Path(address)),
    "finite.Mechanism.from_csv": Mechanism.from_csv,
    "Session(analyst=)": lambda address: session(analyst=address, ledger=address).sql("SELECT 1", spend=1),
    "keys": lambda address: session(tables={"t": Table({"x": [1]}, columns={"x": {"keys": address}})}),  # type: ignore[dict-item]
    "sql": lambda address: session().sql(f"SELECT COUNT(*) FROM '{address}'", spend=1),
    "tidy": lambda address: session().sql("SELECT COUNT(*) AS n FROM visits", spend=1, tidy=[address]),
    "dataset": lambda address: session(dataset=address, intensity=-1),
    "standard": lambda address: session(standard=address),
    "unit": lambda address: qx.unit.AddRemove(key=address, group=address),
    "spec": qx.Specification.from_json,
    "loss": qx.Loss.from_json,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_way_to_type_an_address_echoes_its_password(
    way: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said, caught = io.StringIO(), None
    with redirect_stdout(said), redirect_stderr(said):
        try:
            WAYS[way](address)
        except Exception as error:
            caught = error
    assert CANARY not in said.getvalue()
    if caught is not None:
        assert_clean(caught)
        if way in ("Session.open", "Table", "Ledger.open, no creation"):
            assert isinstance(caught, errors.QuincunxError)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("line", ['ledger     = "ledger.db"', 'source = "visits.parquet"', 'keys = "regions.region"'])
def test_plans_name_the_line_and_not_the_password(address: str, line: str, tmp_path: Path) -> None:
    name = line.partition(" ")[0]
    text = address.replace("\\", "\\\\").replace('"', '\\"')
    plan = write_plan(tmp_path, PLAN.replace(line, f'{name} = "{text}"'))
    said: errors.QuincunxError | None = None
    try:
        shown = [repr(read_plan(plan))]
        with Session.open(plan) as opened:
            shown.append(repr(opened))
            opened.check()
            opened.release(tmp_path / "out")
    except errors.QuincunxError as error:
        said, shown = error, []
    assert all(CANARY not in text for text in shown)
    if said is not None:
        assert_clean(said)
        assert "plan.toml:" in str(said) or name == "ledger"


COMMANDS = [
    ["ledger", "show", "@"],
    ["ledger", "show", "@", "--json"],
    ["ledger", "show", "@", "extra"],
    ["ledger", "verify", "@"],
    ["ledger", "export", "@"],
    ["check", "@"],
    ["release", "@", "--out", "x"],
    ["sql", "@", "SELECT 1"],
    ["explain", "@", "SELECT 1", "--json"],
    ["init", "@"],
    ["init", "x", "--source", "@"],
    ["swap", "@", "--out", "y.csv"],
    ["spec", "show", "@"],
    ["census", "--out", "@"],
    ["@"],
    ["account", "@"],
    ["account", "--@"],
    ["meaning", "--epsilon", "@"],
]


@pytest.mark.parametrize("address", ADDRESSES[:3] + ADDRESSES[6:8])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_never_print_it(
    command: list[str], address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [part.replace("@", address, 1) if "@" in part else part for part in command])
    assert CANARY not in result.output
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        assert_clean(result.exception)
