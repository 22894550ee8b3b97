"""The tables of the file, in each format. A file keeps the format that it was made with, save that 1 becomes 2."""

from __future__ import annotations

from typing import Final

# "QXLD": what `file` and SQLite's own tools may read.
APPLICATION: Final = 0x51584C44
_RECORDS: Final = (
    "CREATE TABLE records (seq INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, "
    "previous TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE questions (key TEXT PRIMARY KEY, dataset TEXT NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE charges (question TEXT NOT NULL, analyst TEXT NOT NULL, PRIMARY KEY (question, analyst)) "
    "WITHOUT ROWID",
    "CREATE TABLE answers (question TEXT PRIMARY KEY, seq INTEGER NOT NULL, content BLOB NOT NULL)",
)
_OVERWRITTEN: Final = (
    "CREATE TABLE datasets (name TEXT PRIMARY KEY, registration TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE totals (dataset TEXT NOT NULL, budget TEXT NOT NULL, holder TEXT NOT NULL, spent TEXT NOT NULL, "
    "delta TEXT NOT NULL, PRIMARY KEY (dataset, budget, holder)) WITHOUT ROWID",
)
_WITHHELD: Final = "CREATE TABLE withheld (question TEXT PRIMARY KEY, halt INTEGER NOT NULL) WITHOUT ROWID"
# What format 2 adds. reopened: the record that reopened the dataset; allowed: the one that opened the version again.
HALTING: Final = (
    "CREATE TABLE halts (seq INTEGER PRIMARY KEY, dataset TEXT NOT NULL, version TEXT NOT NULL, reopened INTEGER, "
    "allowed INTEGER)",
    _WITHHELD,
)
# Rows are only added: no right to change one is needed, and what changed one is seen.
_ADDED: Final = (
    "CREATE TABLE datasets (name TEXT NOT NULL, seq INTEGER NOT NULL, registration TEXT NOT NULL, "
    "PRIMARY KEY (name, seq)) WITHOUT ROWID",
    "CREATE TABLE totals (dataset TEXT NOT NULL, budget TEXT NOT NULL, holder TEXT NOT NULL, seq INTEGER NOT NULL, "
    "spent TEXT NOT NULL, delta TEXT NOT NULL, PRIMARY KEY (dataset, budget, holder, seq)) WITHOUT ROWID",
    "CREATE TABLE halts (seq INTEGER PRIMARY KEY, dataset TEXT NOT NULL, version TEXT NOT NULL)",
    "CREATE TABLE reopenings (seq INTEGER PRIMARY KEY, dataset TEXT NOT NULL, closed INTEGER NOT NULL)",
    _WITHHELD,
)
TABLES: Final = {
    1: (*_RECORDS, *_OVERWRITTEN),
    2: (*_RECORDS, *_OVERWRITTEN, *HALTING),
    3: (*_RECORDS, *_ADDED),
    4: (*_RECORDS, *_ADDED),
}
