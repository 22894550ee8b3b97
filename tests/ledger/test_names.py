"""Names that look alike are one name, and nobody asks as nobody where analysts have budgets."""

from pathlib import Path

import pytest

from quincunx.errors import BudgetError, PrivacyError, RegistrationError
from quincunx.ledger import Ledger
from quincunx.ledger.names import looks
from tests.ledger.make_fixture import by_nobody
from tests.ledger.worlds import empty, question, specification

pytestmark = pytest.mark.usefixtures("each_store")

ALIKE = [
    ("alice", "Alice"), ("alice", "ALICE"), ("alice", "\u0430lice"), ("alice", "\uff41lice"), ("visits", "v\u0456sits"),
    ("visits-I", "VISITS-l"), ("Ian", "lan"), ("nina", "\u039d\u0399\u039d\u0391"), ("nina-lan", "\u039dina-Ian"),
    ("visits-2024", "visits\u20112024"), ("visits-2024", "visits\u20132024"), ("visits-2024", "visits\u22122024"),
    ("visits-2024", "visits-2O24"), ("visits-2024", "visits-2o24"), ("visits1", "visitsl"), ("v3", "v\u0663"),
    ("\u0451", "\u00eb"), ("stra\u00dfe", "STRASSE"), ("\ufb01n", "fin"), ("TEST", "\u0422\u0415\u0405\u0422"),
    ("ana", "an\u03b1"), ("o", "0"), ("\u0130an", "ian"), ("o'neil", "o\u2019neil"), ("\u03bdo", "vo"),
    ("x\u0300", "\u0445\u0300"),
]  # fmt: skip
DIFFERENT = [
    ("alice", "alicia"), ("ian", "lan"), ("caf\u00e9", "cafe"), ("visits_1", "visits_2"), ("vo", "no"),
    ("mali", "mall"), ("\u6771\u4eac", "\u4eac\u90fd"), ("visits-2024", "visits2024"), ("a b", "ab"),
    ("curator", "curators"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_looks_alike(one: str, other: str) -> None:
    assert looks(one) & looks(other)
    assert looks(f"x-{one}-y") & looks(f"x-{other}-y")


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_does_not(one: str, other: str) -> None:
    assert not looks(one) & looks(other)


@pytest.fixture
def ledger() -> Ledger:
    opened = empty()
    budgets = {"analysts": {"alice": "1/2", "bob": "1/2"}}
    opened.register(dataset="visits", specification=specification(), budgets=budgets)
    return opened


@pytest.mark.parametrize("name", ["Visits", "vis\u0456ts", "visit\u0455", "VISITS"])
def test_a_new_dataset_may_not_look_like_a_registered_one(ledger: Ledger, name: str) -> None:
    with pytest.raises(RegistrationError, match="Write 'visits'"):
        ledger.register(dataset=name, specification=specification())
    assert ledger.datasets == ("visits",)


@pytest.mark.parametrize("name", ["Alice", "\u0430lice", "ALlCE", "Curator", "\u0441urator"])
def test_nor_a_new_analyst(ledger: Ledger, name: str) -> None:
    head = ledger.head
    hint = "Write 'alice'" if "l" in name.lower() else "Write 'curator'"
    with pytest.raises(RegistrationError, match=hint):
        ledger.reserve(question("x"), analyst=name)
    for budgets in ({"alice": "1/2", name: "1/2"}, {name: "1/2"}):
        with pytest.raises(RegistrationError, match=hint):
            ledger.amend("visits", budgets={"analysts": budgets}, reason="more")
    with pytest.raises(RegistrationError, match="looks like"):
        ledger.register(dataset="o", specification=specification(), budgets={"analysts": {name: 1, "alice": 1, "b": 1}})
    assert ledger.head == head


def test_nor_one_who_has_spent_without_a_budget() -> None:
    ledger = empty()
    ledger.register(dataset="visits", specification=specification())
    ledger.reserve(question("x"), analyst="dora")
    ledger.reserve(question("y"), analyst="dora")
    with pytest.raises(RegistrationError, match="Write 'dora'"):
        ledger.reserve(question("x"), analyst="Dora")
    with pytest.raises(RegistrationError, match="Write 'dora'"):
        ledger.amend("visits", budgets={"analysts": {"DORA": 1}}, reason="a budget")
    ledger.amend("visits", budgets={"analysts": {"dora": 1}}, reason="a budget")


def test_pairs_that_are_registered_go_on_working(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a version wrote them that did not look."""
    budgets = {"analysts": {"alice": "1/2", "Alice": "1/2", "curator": "1/10"}}
    with monkeypatch.context() as patch:
        patch.setattr("quincunx.ledger.registration.check_new", lambda *_: None)
        patch.setattr("quincunx.ledger.registration.CURATOR", "nobody")
        ledger.register(dataset="Visits", specification=specification(), budgets=budgets)
    assert ledger.register(dataset="Visits", specification=specification(), budgets=budgets).dataset == "Visits"
    for analyst in ("alice", "Alice", "curator"):
        assert ledger.reserve(question("x", dataset="Visits"), analyst=analyst).charged_analyst
    # A limit that was given to this name stays a limit.
    with pytest.raises(BudgetError, match="analyst 'curator'"):
        ledger.reserve(question("y", dataset="Visits"), analyst="curator")
    more = {"analysts": {**budgets["analysts"], "dora": 1}}
    assert len(ledger.amend("Visits", budgets=more, reason="another").analysts) == 4
    assert ledger.verify() == ledger.head


def test_nobody_is_refused_where_analysts_have_budgets(ledger: Ledger) -> None:
    answer = ledger.store(ledger.reserve(question("x"), analyst="alice"), b"42")
    head = ledger.head
    for asked in (question("y"), question("x"), question("free", 0)):
        with pytest.raises(PrivacyError, match="says who asks") as caught:
            ledger.reserve(asked)
        assert 'analyst="curator"' in caught.value.hint
    assert ledger.head == head == answer.head


def test_the_curator_has_a_line_and_no_limit_but_the_total(ledger: Ledger) -> None:
    ledger.reserve(question("x", "9/10"), analyst="curator")
    account = ledger.account("visits")
    curator = dict(account.analysts)["curator"]
    assert (curator.budget, str(curator.spent)) == (None, "9/10")
    assert str(account.affordable(analyst="curator")) == "1/10"
    with pytest.raises(BudgetError, match="dataset's budget"):
        ledger.reserve(question("y", "1/5"), analyst="curator")
    with pytest.raises(RegistrationError, match="this name is reserved"):
        ledger.amend("visits", budgets={"analysts": {"curator": 1}}, reason="more")
    with pytest.raises(RegistrationError, match="this name is reserved"):
        ledger.register(dataset="o", specification=specification(), budgets={"analysts": {"curator": 1}})
    assert ledger.verify() == ledger.head


def test_what_nobody_asked_before_still_verifies(ledger: Ledger, tmp_path: Path) -> None:
    assert tmp_path.exists()
    by_nobody(ledger, question("x"), "default")
    assert ledger.verify() == ledger.head
    assert ledger.reserve(question("x"), analyst="curator").charged == 0
