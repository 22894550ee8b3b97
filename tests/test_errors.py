"""One tree of errors: what, where, got, hint; exit codes; pickling across processes."""

import inspect
import json
import pickle
import re
from pathlib import Path

import pytest

from quincunx import errors

CLASSES = [value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, errors.QuincunxError)]


@pytest.mark.parametrize("kind", CLASSES)
def test_messages_are_sentences_with_parts(kind: type[errors.QuincunxError]) -> None:
    error = kind("must be positive", where="scale", got="-1", hint="Try 1.")
    assert str(error) == "scale: must be positive; got -1. Try 1."
    assert (error.what, error.where, error.got, error.hint) == ("must be positive", "scale", "-1", "Try 1.")
    assert str(kind("alone")) == "alone"


@pytest.mark.parametrize("kind", CLASSES)
def test_errors_survive_pickling(kind: type[errors.QuincunxError]) -> None:
    error = kind("what", where="where", got="got", hint="hint")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)


def test_the_tree_and_its_exit_codes() -> None:
    codes = {kind.__name__: kind.exit_code for kind in CLASSES}
    assert codes == {
        "QuincunxError": 1,
        "InputError": 2,
        "ParameterError": 2,
        "DataError": 2,
        "MatrixError": 2,
        "WorldError": 2,
        "QueryError": 2,
        "SpecificationError": 2,
        "PrivacyError": 4,
        "BudgetError": 3,
        "RegistrationError": 4,
        "MisuseError": 4,
        "RefusalError": 4,
        "UnavailableError": 5,
        "HaltedError": 5,
        "VerificationError": 6,
    }
    assert issubclass(errors.InputError, ValueError)
    for kind in CLASSES:
        assert kind.__name__ in (errors.__doc__ or "")
        assert kind.__doc__


@pytest.mark.parametrize("kind", [errors.QueryError, errors.RefusalError])
class TestPlaces:
    def test_the_line_is_shown_with_the_place_underlined(self, kind: type[errors.QueryError]) -> None:
        sql = "SELECT MIN(age)\nFROM visits\nWHERE true"
        error = kind("no minimum", hint="Ask for AVG.").at(sql, 7, 15)
        assert str(error) == "no minimum. Ask for AVG.\n  SELECT MIN(age)\n         ^^^^^^^^"
        assert kind("which").at(sql, 21, 27).excerpt == "  FROM visits\n       ^^^^^^"

    def test_a_place_over_several_lines_is_underlined_on_its_first(self, kind: type[errors.QueryError]) -> None:
        assert kind("x").at("SELECT a\nFROM b", 7, 15).excerpt == "  SELECT a\n         ^"

    def test_a_long_line_is_shown_around_the_place(self, kind: type[errors.QueryError]) -> None:
        assert kind("x").at("a" * 50 + "b" * 70, 50, 120).excerpt.endswith("^" * 70)
        shown, mark = kind("x").at("a" * 1000 + "b" * 100 + "c" * 1000, 1000, 1100).excerpt.split("\n")
        assert shown == "  " + "a" * 60 + "b" * 60
        assert mark == " " * 62 + "^" * 60

    def test_characters_that_do_not_print_are_blanks(self, kind: type[errors.QueryError]) -> None:
        assert kind("x").at("\ta\x07b", 1, 2).excerpt == "   a b\n   ^"

    def test_an_empty_place_at_the_end_has_one_mark(self, kind: type[errors.QueryError]) -> None:
        assert kind("x").at("SELECT", 6, 6).excerpt == "  SELECT\n        ^"

    def test_without_a_place_nothing_is_shown(self, kind: type[errors.QueryError]) -> None:
        assert kind("x").excerpt == ""
        assert str(kind("x")) == "x"

    def test_the_place_survives_pickling(self, kind: type[errors.QueryError]) -> None:
        error = kind("x", hint="y").at("SELECT 1", 7, 8)
        again = pickle.loads(pickle.dumps(error))
        assert (again.sql, again.start, again.end, str(again)) == ("SELECT 1", 7, 8, str(error))


def test_causes_are_words_and_hold_no_value() -> None:
    class IOException(Exception): ...  # noqa: N818

    for error, words in (
        (FileNotFoundError(2, "x", "canary"), "no such file or folder"),
        (PermissionError(13, "x", "canary"), "no permission"),
        (IsADirectoryError(21, "x", "canary"), "a folder"),
        (UnicodeDecodeError("utf-8", b"canary", 0, 1, "canary"), "bytes that are no UTF-8"),
        (OSError(28, "canary"), "no space left on device"),
        (json.JSONDecodeError("canary", "canary", 0), "a text that is no JSON"),
        (IOException("canary"), "a file that cannot be opened"),
        (KeyError("canary"), "KeyError"),
    ):
        assert errors.cause(error) == words


def test_what_was_given_is_its_kind_or_that_it_is_empty() -> None:
    given = ("", " \n", "x", None, 3, [], {})
    assert [errors.kind_of(each) for each in given] == [
        "an empty text", "an empty text", "a text", "nothing", "int", "a list", "a mapping",
    ]  # fmt: skip


def test_no_message_shows_the_class_of_an_error_that_has_words() -> None:
    source = Path(errors.__file__).parent
    found = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"got(=| = )type\(error\)", path.read_text(encoding="utf-8"))
    ]
    assert found == []
