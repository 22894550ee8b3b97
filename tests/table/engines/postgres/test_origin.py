"""What is found of a table before any row is read: its columns, what it is, and what its reader could do."""

from __future__ import annotations

from pathlib import Path

import pytest

from quincunx.errors import DataError, InputError, ParameterError, UnavailableError
from quincunx.table.engines.postgres.connection import SETTINGS, connect
from quincunx.table.engines.postgres.source import Postgres
from quincunx.table.table import Table
from tests.postgres import Server, fresh
from tests.table.engines.postgres.places import filled, read

pytestmark = pytest.mark.ci
STORED = {
    "small": ("smallint", "SMALLINT"),
    "int": ("integer", "INTEGER"),
    "big": ("bigint", "BIGINT"),
    "real": ("real", "FLOAT"),
    "double": ("double precision", "DOUBLE"),
    "exact": ("numeric(12,3)", "DECIMAL(12,3)"),
    "whole": ("numeric(38,0)", "DECIMAL(38,0)"),
    "text": ("text", "VARCHAR"),
    "varchar": ("varchar(20)", "VARCHAR"),
    "char": ("char(8)", "VARCHAR"),
    "uuid": ("uuid", "UUID"),
    "date": ("date", "DATE"),
    "moment": ("timestamp", "TIMESTAMP"),
    "zoned": ("timestamptz", "TIMESTAMP WITH TIME ZONE"),
    "flag": ("boolean", "BOOLEAN"),
    "mood": ("public.mood", "VARCHAR"),
    "cents": ("public.cents", "DECIMAL(9,2)"),
}
UNSEEN = {"free": "numeric", "wide": "numeric(50,2)", "odd": "numeric(3,-2)", "doc": "jsonb", "list": "integer[]"}


@pytest.fixture(scope="module")
def typed(reading: Server) -> str:
    """A table of every type."""
    reading.run(
        "CREATE TYPE public.mood AS ENUM ('sad', 'glad')",
        "CREATE DOMAIN public.money AS numeric(9,2)",
        "CREATE DOMAIN public.cents AS public.money CHECK (VALUE >= 0)",
        "GRANT USAGE ON TYPE public.mood, public.cents TO owner",
    )
    return filled(reading, {**{name: kind for name, (kind, _) in STORED.items()}, **UNSEEN}, [])


def test_every_type_is_found_or_said_to_be_unseen(reading: Server, typed: str) -> None:
    table = Table(read(reading, typed))
    assert dict(table.origin.fields) == {name: kind for name, (_, kind) in STORED.items()}
    assert table.notes == (
        "Column doc is of type jsonb, which questions cannot use.",
        "Column list is of type integer[], which questions cannot use.",
        *(
            f"Column {name} is of type numeric without a width, which questions can use where a step is declared."
            for name in ("free", "wide", "odd")
        ),
    )
    assert not table.origin.once
    assert table.kind == "postgres"


def test_a_number_without_a_width_is_seen_with_its_step(reading: Server, typed: str) -> None:
    table = Table(read(reading, typed), columns={"free": {"step": "0.25"}, "wide": {"type": "integer"}})
    fields = dict(table.origin.fields)
    assert (fields["free"], fields["wide"]) == ("DECIMAL(38,2)", "NUMERIC")
    with pytest.raises(DataError, match="'odd' is of type numeric without a width"):
        Table(read(reading, typed), columns={"odd": {"bounds": (0, 1)}})


def test_views_and_what_stands_on_other_servers_are_read_once(reading: Server) -> None:
    name = filled(reading, {"k": "bigint"}, [(1,)])
    view, parts, part, made = (fresh(each) for each in "vpqm")
    reading.run(
        f"CREATE VIEW public.{view} AS SELECT * FROM {name}",
        f"CREATE MATERIALIZED VIEW public.{made} AS SELECT * FROM {name}",
        f"CREATE TABLE public.{parts} (k bigint) PARTITION BY RANGE (k)",
        f"CREATE TABLE public.{part} PARTITION OF public.{parts} FOR VALUES FROM (0) TO (9)",
        f"GRANT SELECT ON public.{view}, public.{parts}, public.{made} TO reader",
    )
    found = {each: Table(read(reading, f"public.{each}")).origin.once for each in (view, parts, made)}
    assert found == {view: True, parts: False, made: False}
    reading.run(
        "CREATE EXTENSION IF NOT EXISTS file_fdw",
        "DO $$ BEGIN CREATE SERVER files FOREIGN DATA WRAPPER file_fdw; EXCEPTION WHEN duplicate_object THEN END $$",
        f"CREATE FOREIGN TABLE public.{part}_far PARTITION OF public.{parts} FOR VALUES FROM (9) TO (99) "
        "SERVER files OPTIONS (filename '/dev/null')",
        f"GRANT SELECT ON public.{part}_far TO reader",
    )
    assert Table(read(reading, f"public.{parts}")).origin.once
    assert Table(read(reading, f"public.{part}_far")).origin.once


def test_who_could_change_rows_does_not_read_them(reading: Server) -> None:
    name = filled(reading, {"k": "bigint", "x": "bigint"}, [])
    role = fresh("r")
    reading.run(f"CREATE ROLE {role} LOGIN", f"GRANT USAGE ON SCHEMA public TO {role}")
    reading.run(f"GRANT SELECT ON {name} TO writer, {role}", f"GRANT INSERT ON {name} TO writer")
    with pytest.raises(UnavailableError, match="a superuser reads no private table"):
        Table(read(reading, name, "admin"))
    with pytest.raises(UnavailableError, match="the owner of a table"):
        Table(read(reading, name, "owner"))
    with pytest.raises(UnavailableError, match="this role could change the table"):
        Table(read(reading, name, "writer"))
    Table(read(reading, name, role))
    # By another role that it could take on, by one column, and by the role of all writers.
    for grant, revoke in (
        (f"GRANT writer TO {role}", f"REVOKE writer FROM {role}"),
        (f"GRANT UPDATE (x) ON {name} TO {role}", f"REVOKE UPDATE (x) ON {name} FROM {role}"),
        (f"GRANT pg_write_all_data TO {role}", f"REVOKE pg_write_all_data FROM {role}"),
    ):
        reading.run(grant)
        with pytest.raises(UnavailableError, match="this role could change the table"):
            Table(read(reading, name, role))
        reading.run(revoke)
    reading.run(f"GRANT owner TO {role}")
    with pytest.raises(UnavailableError, match="the owner of a table"):
        Table(read(reading, name, role))


# What stands where rows are read from, {below}, of which {name} is read → what a role could do there, what is said.
BELOW = {
    "a partition": (
        "CREATE TABLE {name} (k bigint) PARTITION BY RANGE (k); "
        "CREATE TABLE {below} PARTITION OF {name} FOR VALUES FROM (0) TO (9)"
    ),
    "a partition of a partition": (
        "CREATE TABLE {name} (k bigint) PARTITION BY RANGE (k); "
        "CREATE TABLE {below}_m PARTITION OF {name} FOR VALUES FROM (0) TO (9) PARTITION BY RANGE (k); "
        "CREATE TABLE {below} PARTITION OF {below}_m FOR VALUES FROM (0) TO (9)"
    ),
    "an heir": "CREATE TABLE {name} (k bigint); CREATE TABLE {below} () INHERITS ({name})",
    "the table of a view": "CREATE TABLE {below} (k bigint); CREATE VIEW {name} AS SELECT * FROM {below}",
    "the table of a view of a view": (
        "CREATE TABLE {below} (k bigint); CREATE VIEW {name}_m AS SELECT k FROM {below}; "
        "CREATE VIEW {name} AS SELECT k FROM {name}_m WHERE k IN (SELECT k FROM {name}_m)"
    ),
    "the table of a materialised view": (
        "CREATE TABLE {below} (k bigint); CREATE MATERIALIZED VIEW {name} AS SELECT * FROM {below}"
    ),
}


@pytest.mark.parametrize("stands", BELOW)
def test_who_could_change_what_rows_are_read_from_does_not_read_them(reading: Server, stands: str) -> None:
    name, below, role = (f"public.{fresh(each)}" for each in "nbr")
    role = role.partition(".")[2]
    reading.run(
        BELOW[stands].format(name=name, below=below),
        f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA public TO {role}; GRANT SELECT ON {name} TO {role}",
    )
    Table(read(reading, name, role))
    reading.run(f"GRANT DELETE ON {below} TO {role}")
    with pytest.raises(UnavailableError, match="this role could change the table"):
        Table(read(reading, name, role))
    reading.run(f"REVOKE DELETE ON {below} FROM {role}")
    if stands == "the table of a view":
        reading.run(f"ALTER TABLE {below} OWNER TO {role}")
        with pytest.raises(UnavailableError, match="the owner of a table"):
            Table(read(reading, name, role))


def test_who_could_become_a_writer_does_not_read(reading: Server) -> None:
    """A role that may make roles takes those of others; one that writes the server's files becomes a superuser."""
    name, role, schema = filled(reading, {"k": "bigint"}, []), fresh("r"), fresh("s")
    reading.run(
        f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA public TO {role}; GRANT SELECT ON {name} TO {role}",
        f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.t (k bigint)",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {schema}.t TO {role}",
    )
    Table(read(reading, name, role))
    Table(read(reading, f"{schema}.t", role))
    for grant, revoke in (
        (f"ALTER ROLE {role} CREATEROLE", f"ALTER ROLE {role} NOCREATEROLE"),
        (f"GRANT pg_execute_server_program TO {role}", f"REVOKE pg_execute_server_program FROM {role}"),
        (f"GRANT pg_write_server_files TO {role}", f"REVOKE pg_write_server_files FROM {role}"),
    ):
        reading.run(grant)
        with pytest.raises(UnavailableError, match="could make itself one that writes"):
            Table(read(reading, name, role))
        reading.run(revoke)
    # The owner of a schema can drop its tables, and make others under their names.
    reading.run(f"ALTER SCHEMA {schema} OWNER TO {role}")
    with pytest.raises(UnavailableError, match="the owner of a table"):
        Table(read(reading, f"{schema}.t", role))


def test_a_role_that_a_session_begins_with_does_not_hide_who_reads(reading: Server) -> None:
    name, role = filled(reading, {"k": "bigint"}, []), fresh("r")
    reading.run(
        f"CREATE ROLE {role} LOGIN SUPERUSER; GRANT reader TO {role}; ALTER ROLE {role} SET role = reader",
    )
    with pytest.raises(UnavailableError, match="a superuser reads no private table"):
        Table(read(reading, name, role))


def test_rows_that_are_kept_in_another_way_are_read_once(reading: Server) -> None:
    name = fresh("t")
    reading.run(
        "DO $$ BEGIN CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler; "
        "EXCEPTION WHEN duplicate_object THEN END $$",
        f"CREATE TABLE public.{name} (k bigint) USING other; GRANT SELECT ON public.{name} TO reader",
    )
    assert Table(read(reading, f"public.{name}")).origin.once


def test_who_sees_not_all_rows_or_columns_is_told(reading: Server) -> None:
    name = filled(reading, {"k": "bigint", "secret": "bigint"}, [])
    reading.run(f"REVOKE SELECT ON {name} FROM reader")
    with pytest.raises(UnavailableError, match="this role may not read the table"):
        Table(read(reading, name))
    reading.run(f"GRANT SELECT (k) ON {name} TO reader")
    assert Table(read(reading, name)).notes == ("Column secret is not granted to this role.",)
    reading.run(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
    with pytest.raises(UnavailableError, match="row security hides rows"):
        Table(read(reading, name))
    reading.run(f"CREATE SCHEMA IF NOT EXISTS closed; CREATE TABLE closed.{fresh('t')} (k bigint)")


def test_what_is_no_table_is_refused(reading: Server) -> None:
    sequence = fresh("s")
    reading.run(f"CREATE SEQUENCE public.{sequence}", f"GRANT SELECT ON public.{sequence} TO reader")
    with pytest.raises(DataError, match="there is no such table"):
        Table(read(reading, "public.nobody_made_this"))
    with pytest.raises(DataError, match="only tables and views are read"):
        Table(read(reading, f"public.{sequence}"))
    with pytest.raises(UnavailableError, match=r"cannot be reached.*Look at the address"):
        Table(Postgres(reading.address("reader", "nowhere"), table="t"))


def test_a_public_table_is_a_file_or_a_frame(reading: Server) -> None:
    name = filled(reading, {"k": "bigint"}, [(1,)])
    with pytest.raises(DataError, match="a public table is a file or a frame"):
        Table(read(reading, name), public=True).schema("t", {})
    with pytest.raises(DataError, match="only CSV files have encoding"):
        Table(read(reading, name), encoding="latin-1")


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("visits", ("public", "visits")),
        ("Clinic.Visits", ("clinic", "visits")),
        ('"Clinic"."a ""b"""', ("Clinic", 'a "b"')),
        ("süd.t$1", ("süd", "t$1")),
    ],
)
def test_names_are_read_as_sql_reads_them(table: str, name: tuple[str, str]) -> None:
    assert Postgres("service=clinic", table=table).name == name


@pytest.mark.parametrize(
    ("address", "table", "says"),
    [
        ("postgresql://reader:hunter2@db/clinic", "t", "an address with a password is not taken"),
        ("postgresql://reader@db/clinic?password=hunter2", "t", "an address with a password is not taken"),
        ("postgresql://reader@db/clinic?options=-c%20row_security%3Don", "t", "set by Quincunx"),
        ("host=db dbname=clinic", "t", "no address of a database"),
        ("service=", "t", "no address of a database"),
        ("mysql://reader@db/clinic", "t", "no address of a database"),
        ("service=clinic", "", "cannot be a table's name"),
        ("service=clinic", "a.b.c", "cannot be a table's name"),
        ("service=clinic", "t; DROP TABLE t", "cannot be a table's name"),
        ("service=clinic", '"t', "cannot be a table's name"),
        ("service=clinic", 3, "expected a text"),
    ],
)
def test_a_bad_address_or_name_is_refused(address: str, table: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        Postgres(address, table=table)
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value, DataError | ParameterError)


def test_an_address_is_shown_without_who(reading: Server) -> None:
    assert read(reading, "t").shown == f"postgresql://127.0.0.1:{reading.port}/postgres"
    assert Postgres("service=clinic", table="t").shown == "service=clinic"


def test_settings_are_ours_whatever_the_role_and_the_service_say(
    reading: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role, folder = fresh("r"), tmp_path / "services"
    reading.run(f"CREATE ROLE {role} LOGIN; GRANT reader TO {role}")
    own = {
        "row_security": "on",
        "timezone": "'Pacific/Apia'",
        "search_path": "public",
        "extra_float_digits": "-3",
        "statement_timeout": "1",
        "idle_session_timeout": "1",
        "default_transaction_isolation": "serializable",
        "role": "reader",
        "datestyle": "'German'",
    }
    reading.run(*(f"ALTER ROLE {role} SET {name} = {value}" for name, value in own.items()))
    folder.write_text(f"[clinic]\nhost=127.0.0.1\nport={reading.port}\ndbname=postgres\nuser={role}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(folder))
    monkeypatch.setenv("PGOPTIONS", "-c row_security=on")
    with connect(Postgres("service=clinic", table="t")) as connection:
        for name, wanted in SETTINGS.items():
            assert connection.execute(f"SHOW {name}".encode()).fetchone() == (wanted,)
    # Something between that drops what a connection asks for at its start is found.
    with monkeypatch.context() as patch:
        patch.setitem(SETTINGS, "jit", "no")
        with pytest.raises(UnavailableError, match="a setting is not the one that was asked for; got jit"):
            connect(Postgres("service=clinic", table="t"))
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    with pytest.raises(UnavailableError, match="a password stands in the environment") as caught:
        connect(Postgres("service=clinic", table="t"))
    assert "hunter2" not in str(caught.value)


def test_a_database_that_does_not_hold_utf8_is_refused(reading: Server) -> None:
    name = fresh("latin")
    reading.run(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(UnavailableError, match="does not hold UTF-8; got LATIN1"):
        Table(Postgres(reading.address("reader", name), table="t"))


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(UnavailableError, match="the database cannot be reached"):
        Table(Postgres("postgresql://reader@127.0.0.1:1/postgres", table="t"))
