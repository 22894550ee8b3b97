"""Canonical JSON: one text for one meaning; names that identify."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import DataError, ParameterError
from quincunx.ledger.canonical import canonical, digest, name, sentence

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text() | st.fractions(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_keys_are_sorted_and_rationals_are_texts() -> None:
    value = {"b": Fraction(1, 3), "a": [1, True, None, "é"], "c": (Fraction(2),)}
    assert canonical(value, "asked") == '{"a":[1,true,null,"\\u00e9"],"b":"1/3","c":["2"]}'


@given(PLAIN)
def test_the_text_is_ascii_json_that_reads_back_to_itself(value: object) -> None:
    text = canonical(value, "asked")
    assert text.isascii()
    assert canonical(json.loads(text), "asked") == text


@given(st.dictionaries(st.text(), PLAIN, max_size=5))
def test_the_order_of_writing_has_no_meaning(value: dict[str, object]) -> None:
    assert canonical(dict(reversed(value.items())), "asked") == canonical(value, "asked")


@pytest.mark.parametrize(
    "value", [0.5, float("nan"), b"bytes", {1: 2}, {None: 1}, {"a": object()}, {"a": {1, 2}}, [complex(1)]]
)
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(DataError, match="asked: "):
        canonical(value, "asked")


def test_deep_nesting_and_long_numbers_are_refused() -> None:
    deep: object = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(DataError, match="nested too deeply"):
        canonical(deep, "asked")
    with pytest.raises(ParameterError, match="too long"):
        canonical(10**5000, "asked")


@pytest.mark.parametrize("text", ["visits-2024", "Besuche, 2. Fassung", "é", "中", "a" * 200])
def test_ordinary_names_pass(text: str) -> None:
    assert name(text, "dataset") == text


@pytest.mark.parametrize(
    "text", ["", " visits", "visits ", "a\nb", "a\0b", "e\u0301", "\ud800", "a" * 201, "a\u200bb", None, 3, b"visits"]
)
def test_look_alikes_and_unprintable_names_are_refused(text: object) -> None:
    with pytest.raises(ParameterError, match="dataset: "):
        name(text, "dataset")


@pytest.mark.parametrize("text", ["", "  ", None, 3])
def test_a_reason_says_something(text: object) -> None:
    with pytest.raises(ParameterError, match="reason: expected a sentence"):
        sentence(text, "reason")
    assert sentence(" more people ", "reason") == "more people"


def test_a_digest_is_sha256() -> None:
    assert digest("") == digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
