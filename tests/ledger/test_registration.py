"""What is registered: five blocks, a total, budgets; what differs is shown line by line."""

import copy
import json
import pickle
import warnings
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.errors import MisuseError, ParameterError, RegistrationError, SpecificationError
from quincunx.ledger import Registration
from quincunx.ledger.registration import differences, guarantee
from tests.ledger.worlds import specification


def registration(budgets: object = None, **changes: object) -> Registration:
    return Registration(dataset="visits", specification=specification(**changes), budgets=budgets)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("standard", "intensity", "symbol", "total", "delta"),
    [
        (qx.standard.Pure(), "1/2", "ε", Fraction(1, 2), 0),
        (qx.standard.Approximate("1e-6"), 2, "ε", Fraction(2), Fraction(1, 10**6)),
        (qx.standard.ZCDP(), "1/3", "ρ", Fraction(1, 3), 0),
        (qx.standard.ZCDP("1e-9"), "1/3", "ρ", Fraction(1, 3), Fraction(1, 10**9)),
        (qx.standard.GaussianDP(), "1/2", "μ²", Fraction(1, 4), 0),
        (qx.standard.Renyi(8), 1, "ε", Fraction(1), 0),
        (qx.standard.Pure(), qx.numbers.Log(3), "ε", Fraction(1098612288668, 10**12), 0),
    ],
)
def test_the_budget_is_the_standards_parameter(
    standard: object, intensity: object, symbol: str, total: Fraction, delta: Fraction
) -> None:
    found = registration(standard=standard, intensity=intensity)
    assert (found.symbol, found.total, found.delta) == (symbol, total, delta)


def test_it_reads_back_what_it_writes() -> None:
    for budgets in (None, {"plan": "1/4"}, {"plan": None, "analysts": {"bob": 0, "alice": "1/10"}}):
        made = registration(budgets)
        assert Registration.from_text(made.text()) == made
        assert json.loads(made.text())["specification"] == specification().to_dict()
    assert made.analysts == (("alice", Fraction(1, 10)), ("bob", Fraction(0)))
    assert registration(made.budgets) == made


def test_an_analyst_who_is_not_named_has_nothing_once_others_are() -> None:
    assert registration().limit("bob") is None
    named = registration({"analysts": {"alice": "1/10"}})
    assert (named.limit("alice"), named.limit("bob")) == (Fraction(1, 10), 0)


@pytest.mark.parametrize(
    "budgets",
    [
        {"plan": -1}, {"plan": "much"}, {"analysts": {"alice": -1}}, {"analysts": {"": 1}}, {"analysts": ["alice"]},
        {"total": 1}, {"analyst": {"alice": 1}}, ["plan"], {3: 1}, {"plan": True},
    ],
)  # fmt: skip
def test_budgets_that_cannot_be_read_are_refused(budgets: object) -> None:
    with pytest.raises(ParameterError):
        registration(budgets)


def test_standards_that_do_not_add_up_and_several_totals_are_refused() -> None:
    for standard in (qx.standard.KL(), qx.standard.TV()):
        with pytest.raises(MisuseError, match="no filter for this standard"):
            registration(standard=standard)
    with pytest.raises(SpecificationError, match="a ledger needs one total"):
        registration(intensity={"everything": 1})
    with pytest.raises(SpecificationError, match="expected a Specification"):
        Registration(dataset="visits", specification="ε = 1")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="dataset"):
        Registration(dataset="", specification=specification())


def test_differences_are_shown_line_by_line() -> None:
    old = registration({"plan": "1/4", "analysts": {"alice": "1/10"}})
    new = registration({"analysts": {"alice": "1/5"}}, intensity=2, unit=qx.unit.Replace(key="person_id"))
    lines = differences(old, new)
    assert "budgets.plan: registered ρ = 0.25, given nothing" in lines
    assert "budgets.analysts.alice: registered ρ = 0.1, given ρ = 0.2" in lines
    assert "intensity: registered ρ = 1, given ρ = 2" in lines
    assert "unit.kind: registered add-remove, given replace" in lines
    assert differences(old, old) == []
    with pytest.raises(RegistrationError, match="this differs from what the ledger has registered") as caught:
        old.check_same(new)
    assert all(line in str(caught.value) for line in lines)
    assert old.check_same(old) is None  # type: ignore[func-returns-value]


def test_every_block_is_part_of_what_is_registered() -> None:
    domain = qx.domain.Tables(columns={"person_id": "text", "age": "integer", "sex": "text"})
    others = [
        specification(standard=qx.standard.ZCDP(delta="1e-7")),
        specification(standard=qx.standard.Pure()),
        specification(unit=qx.unit.AddRemove(key="person_id", group=2)),
        _with(scope=qx.scope.Invariants({"total": "COUNT(*)"})),
        _with(domain=domain),
    ]
    base = registration()
    for other in others:
        assert differences(base, Registration(dataset="visits", specification=other))
        assert guarantee(other) != guarantee(specification())
    assert guarantee(specification(2)) == guarantee(specification(1))
    assert differences(base, registration(intensity=2))


def _with(**blocks: object) -> qx.Specification:
    base = specification()
    own = {name: getattr(base, name) for name in ("domain", "scope", "unit", "standard", "intensity")}
    return qx.Specification(**{**own, **blocks})


def test_reading_a_vacuous_specification_does_not_warn_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        empty = qx.Specification(
            domain=qx.domain.Finite.vectors([0, 1], 2),
            scope=qx.scope.Everything(),
            unit=qx.unit.AddRemove(),
            standard=qx.standard.Pure(),
            intensity=1,
        )
    text = Registration(dataset="small", specification=empty).text()
    assert Registration.from_text(text).specification == empty


def test_it_is_a_value() -> None:
    made = registration({"plan": "1/4"})
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert hash(made) == hash(registration({"plan": "0.25"}))
    assert repr(made).startswith("Registration(dataset='visits', specification=Specification(")
    with pytest.raises(AttributeError):
        made.plan = None  # type: ignore[misc]
