"""One tree of errors: what, where, got, hint; exit codes; pickling across processes."""

import inspect
import pickle

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
        "SpecificationError": 2,
        "PrivacyError": 4,
        "BudgetError": 3,
        "MisuseError": 4,
        "VerificationError": 6,
    }
    assert issubclass(errors.InputError, ValueError)
    for kind in CLASSES:
        assert kind.__name__ in (errors.__doc__ or "")
        assert kind.__doc__
