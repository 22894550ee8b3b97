"""Which line of a TOML text each key stands on."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.release.toml_lines import line_index

SAMPLE = (
    '''a = 1 # x = 3
"b.c" = """multi
line "" quote \\""" x"""
# a comment with [brackets] and "quotes

[spec]
unit = { kind = "x", per = { column = "v", p = 'y' } }
d.e = [1,
  2, # a comment ]
  { q = 3 }, [4, "],"]]
'it'''
    + "'"
    + """ = 5
[ tables . visits ]
when = 1979-05-27 07:32:00
[tables.visits.columns]
r = { keys = "r.r" } # after

[[release]]
name = "a"
[[release]]
name = \'\'\'b\'\'\'
tidy = ["x", "y"]
[release.sub]
z = +1e3
[[release.deep]]
u = 1
[[release.deep]]
u = 2
"""
)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every path of a decoded document."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += paths(item, (*path, key))
    return found


def test_every_key_has_its_line() -> None:
    index = line_index(SAMPLE)
    assert set(index) == set(paths(tomllib.loads(SAMPLE)))
    expected = {
        (): 1,
        ("a",): 1,
        ("b.c",): 2,
        ("spec",): 6,
        ("spec", "unit", "per", "p"): 7,
        ("spec", "d", "e", 0): 8,
        ("spec", "d", "e", 1): 9,
        ("spec", "d", "e", 2, "q"): 10,
        ("spec", "d", "e", 3, 1): 10,
        ("spec", "it"): 11,
        ("tables", "visits"): 12,
        ("tables", "visits", "when"): 13,
        ("tables", "visits", "columns", "r", "keys"): 15,
        ("release", 0): 17,
        ("release", 0, "name"): 18,
        ("release", 1, "name"): 20,
        ("release", 1, "tidy", 1): 21,
        ("release", 1, "sub", "z"): 23,
        ("release", 1, "deep", 0, "u"): 25,
        ("release", 1, "deep", 1, "u"): 27,
    }
    assert {path: index[path] for path in expected} == expected


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "   "])
def test_an_empty_document_has_a_first_line(text: str) -> None:
    assert line_index(text) == {(): 1}


@pytest.mark.parametrize(
    "text",
    [
        'x = """"quoted""""\ny = 1\n',
        "x = '''''quoted'''''\ny = 1\n",
        'x = "a\\\\"\ny = 1\n',
        'x = "a\\"#]"\ny = 1\n',
        "x = [[], [[1]], {}]\ny = 1\n",
        "x = [\n 1,\n 2,\n]\ny = 1",
        "x.'y z'.\"w\" = 1\ny = 1",
        "x = 1979-05-27T07:32:00Z # z\ny = 1",
    ],
)
def test_strings_brackets_and_comments_do_not_confuse_it(text: str) -> None:
    index = line_index(text)
    assert set(index) == set(paths(tomllib.loads(text)))
    assert index[("y",)] == text.rstrip("\n").count("\n") + 1


def scalars() -> st.SearchStrategy[str]:
    texts = st.text(st.sampled_from("ab#[]{},='\" ."), max_size=6)
    basic = texts.map(lambda text: '"' + text.replace('"', '\\"') + '"')
    literal = texts.filter(lambda text: "'" not in text).map(lambda text: f"'{text}'")
    return st.one_of(basic, literal, st.integers(-5, 5).map(str), st.sampled_from(["true", "1.5", "2024-01-01"]))


def values() -> st.SearchStrategy[str]:
    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        arrays = st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
        breaks = st.lists(inner, min_size=1, max_size=3).map(lambda items: "[ # c ]\n" + ",\n".join(items) + "\n]")
        names = st.lists(inner, max_size=3)
        inline = names.map(lambda items: "{ " + ", ".join(f"k{i} = {v}" for i, v in enumerate(items)) + " }")
        return st.one_of(arrays, breaks, inline.filter(lambda text: "\n" not in text))

    return st.recursive(scalars(), larger, max_leaves=6)


@given(st.lists(st.tuples(st.sampled_from(["pair", "table", "array", "note"]), values()), max_size=8))
def test_it_finds_exactly_the_keys_that_tomllib_finds(parts: list[tuple[str, str]]) -> None:
    lines: list[str] = []
    for number, (kind, value) in enumerate(parts):
        if kind == "pair":
            lines.append(f"key{number} . 'sub' = {value}")
        elif kind == "table":
            lines += [f"[table{number}]", f"x = {value} # note"]
        elif kind == "array":
            lines += ["[[many]]", f"y = {value}"]
        else:
            lines.append("# [[not]] a = 'header'")
    text = "\n".join(lines)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    index = line_index(text)
    assert set(index) == set(paths(data))
    written = text.split("\n")
    for path, line in index.items():
        # The last key of a path is on its line.
        names = [part for part in path if isinstance(part, str)]
        if names and isinstance(path[-1], str):
            assert names[-1] in written[line - 1]
