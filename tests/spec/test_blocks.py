"""The five blocks as one value: what is stated stays with the value that states it, whoever asks."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction

import pytest

from quincunx.errors import SpecificationError
from quincunx.spec import Specification
from quincunx.spec.blocks import Blocks
from quincunx.spec.domain import Finite
from quincunx.spec.scope import Everything
from quincunx.spec.standard import ZCDP, Approximate, Pure, Renyi
from quincunx.spec.unit import AddRemove, Replace

WORLD = Finite.multisets("ab", range(3))


def stated(standard=None, intensity="1/2") -> Specification:
    return Specification(
        domain=WORLD, scope=Everything(), unit=AddRemove(), standard=standard or Pure(), intensity=intensity
    )


def test_a_specification_is_its_five_blocks() -> None:
    value = stated()
    assert isinstance(value, Blocks)
    assert [each.name for each in fields(value)] == ["domain", "scope", "unit", "standard", "intensity"]
    assert repr(value).startswith("Specification(domain=")


def test_it_is_a_value() -> None:
    value = stated()
    assert value == stated()
    assert hash(value) == hash(stated())
    assert value != stated(intensity=1)
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(FrozenInstanceError):
        value.unit = Replace()  # type: ignore[misc]
    assert not hasattr(value, "__dict__")


def test_what_is_computed_from_it_is_a_specification() -> None:
    value = stated()
    for other in (value.group(2), value.compose(value), replace(value, intensity=1), value.within(Everything())):
        assert type(other) is Specification
    assert Specification.from_json(value.to_json()) == value
    assert value.compose(value).largest == Fraction(1)


def test_a_block_of_another_kind_is_refused() -> None:
    with pytest.raises(SpecificationError, match="expected a unit"):
        replace(stated(), unit=Pure())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("standard", "text"),
    [
        (Pure(), "ε = 0.5"),
        (Approximate("1e-6"), "ε = 0.5, δ = 1e-6"),
        (ZCDP("1/8"), "ρ = 0.5, δ = 0.125"),
        (Renyi("3/2"), "ε = 0.5, α = 1.5"),
    ],
    ids=repr,
)
def test_parameters_are_printed_after_the_intensity(standard, text: str) -> None:
    assert stated(standard).stated == (("everywhere", text),)
    assert text.endswith(standard.parameter_text)
