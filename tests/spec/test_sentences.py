"""The sentences that a reader without mathematics is given about the newer blocks, word for word."""

from __future__ import annotations

import pytest

from quincunx import Specification, domain, intensity, scope, standard, unit

VECTORS = domain.Finite.vectors(["ill", "well"], 1)
TABLE = domain.Tables(columns={"person": "text", "site": "text"})
# unit → what is protected, what cannot be told, what is left less protected
UNITS = {
    unit.AddRemoveReplace(): (
        "One person, who is one record, being added to the data, removed from them or exchanged for another.",
        "one person, who is one record, is in the data or not, or another instead",
        "hide equally well what several people show together",
    ),
    unit.AddRemoveReplace(key="person", group=2): (
        "Up to 2 people, with all their rows, being added to the data, removed from them or exchanged for "
        "others. Rows that share one value of person belong to one person.",
        "up to 2 people, with all their rows, are in the data or not, or others instead",
        "hide equally well what more than 2 people show together",
    ),
    unit.AddRemoveReplace(key="person", per={"column": "day", "period": "week"}): (
        "One person's rows of one week being added to the data, removed from them or exchanged for others. "
        "Rows that share one value of person belong to one person. The week (from Monday to Sunday) of a row "
        "is read from day.",
        "one person's rows of one week are in the data or not, or others instead",
        "hide equally well what one person's rows of several weeks show together",
    ),
    unit.Element(key="person", element="site"): (
        "One person's rows of one site being changed, added to the data or removed from them. Rows that share "
        "one value of person belong to one person, and those that share one value of site as well to one "
        "element.",
        "one person's rows of one site are these, others or none",
        "hide equally well what several elements of one person show together",
    ),
    unit.Element(key="person", element="site", group=3): (
        "Up to 3 times one person's rows of one site being changed, added to the data or removed from them. "
        "Rows that share one value of person belong to one person, and those that share one value of site as "
        "well to one element.",
        "up to 3 times one person's rows of one site are these, others or none",
        "hide equally well what several elements of one person show together",
    ),
    unit.Directed([("x", "y")]): (
        "Any of 1 listed change from one dataset to another, in that direction.",
        "the data are the first dataset of a listed change rather than the second",
        "hide that the data are the second dataset of a change rather than the first, nor hide other changes",
    ),
    unit.Directed([("x", "y"), ("y", "z")]): (
        "Any of 2 listed changes from one dataset to another, in that direction.",
        "the data are the first dataset of a listed change rather than the second",
        "hide that the data are the second dataset of a change rather than the first, nor hide other changes",
    ),
    unit.OneSided(["ill"]): (
        "One person's sensitive record being exchanged for any other, in that direction; one value of a "
        "record is sensitive.",
        "one person's record is a sensitive one rather than another",
        "hide records that are not sensitive, nor that a person's record is not sensitive",
    ),
    unit.OneSided(["ill", "away"]): (
        "One person's sensitive record being exchanged for any other, in that direction; 2 values of a record "
        "are sensitive.",
        "one person's record is a sensitive one rather than another",
        "hide records that are not sensitive, nor that a person's record is not sensitive",
    ),
    unit.Dependent({0: [1]}, 1): (
        "One person's record being exchanged for another.",
        "one person's record, with those that depend on it, has another value",
        "hide equally well what more records, or records that are not stated to depend on each other, show",
    ),
    unit.Dependent({0: [1]}, 3): (
        "One person's record being exchanged for another, and with it up to 2 of the records that are stated "
        "to depend on it.",
        "one person's record, with those that depend on it, has another value",
        "hide equally well what more records, or records that are not stated to depend on each other, show",
    ),
    unit.Distance("kilometres between two homes"): (
        "Changes between any two datasets at a finite distance, which is kilometres between two homes, each "
        "in proportion to it: the bound for a pair is the intensity times the distance.",
        "the data are these or others, in proportion to how far apart they are",
        "hide equally well what is far apart",
    ),
}


@pytest.mark.parametrize("chosen", UNITS, ids=repr)
def test_units(chosen: unit.Unit) -> None:
    assert (chosen.words(), chosen.hidden(), chosen.unpromised()) == UNITS[chosen]


def spec(**changes: object) -> Specification:
    blocks = {
        "domain": VECTORS,
        "scope": scope.Everything(),
        "unit": unit.Replace(),
        "standard": standard.Pure(),
        "intensity": 1,
    }
    return Specification(**{**blocks, **changes})  # type: ignore[arg-type]


def paragraph(made: Specification, name: str) -> str:
    (found,) = [part for part in made.describe().split("\n\n") if f"({name})" in part]
    return found.partition("). ")[2]


END = "A smaller number protects more. Further releases about the same people add to it."
EVEN = {("ill",): "1/2", ("well",): "1/2"}
INTENSITIES = {
    intensity.PerPerson(
        {0: 2}
    ): f"One bound for each person, the smallest of those whom a change concerns: ε = 2 for person 0. {END}",
    intensity.PerRecord({("ill", ("ill",)): 1, ("well", ("well",)): 3}): (
        "One bound for each record, the smallest of those whom a change concerns: ε = 1 for record 'ill' of ('ill',); "
        f"ε = 3 for record 'well' of ('well',). {END}"
    ),
    intensity.Drawn(value=1, prior=EVEN, share="1/100"): (
        "ε = 1, for all but a share of 0.01 of the changes that a stated law of the data draws; for that share "
        f"nothing is promised. {END}"
    ),
}


@pytest.mark.parametrize("given", INTENSITIES, ids=lambda x: type(x).__name__)
def test_intensities(given: object) -> None:
    assert paragraph(spec(intensity=given), "intensity") == INTENSITIES[given]  # type: ignore[index]


def test_people_who_are_not_named_have_no_promise() -> None:
    made = spec(domain=TABLE, unit=unit.AddRemove(key="person"), intensity=intensity.PerPerson({"ann": 1}))
    assert paragraph(made, "intensity") == (
        "One bound for each person, the smallest of those whom a change concerns: ε = 1 for person ann. For anyone "
        f"else nothing is promised. {END}"
    )


def test_the_sum_of_a_guarantee_for_most_says_what_it_leaves_out() -> None:
    most = spec(intensity=intensity.Drawn(value=1, prior=EVEN, share="1/100"))
    assert most.describe().endswith("nor say anything about the share that is excused.")
    assert "excused" not in spec().describe()


def test_a_direction_is_said_once() -> None:
    said = paragraph(spec(unit=unit.OneSided(["ill"])), "standard")
    assert said == (
        "ε = 1: no event becomes more than e^(1) ≈ 2.719 times as likely, or as unlikely, when the data change by one "
        "unit. The bound has one direction: it limits how much likelier an event is with the first of two datasets "
        "than with the second, not the reverse."
    )
    assert paragraph(spec(), "standard") == said.partition(" The bound")[0]


def test_scopes_around_one_dataset() -> None:
    around = scope.OneInstance("register of 2030", "the record of Ann")
    assert around.words() == (
        "The protection is stated for one record, “the record of Ann”, of one dataset, “register of 2030”: the "
        "dataset is compared with what it is with the record removed or once more added, and nothing else is compared."
    )
    assert around.unpromised() == "cover any other record, or any data but that one dataset"
    assert scope.OneDataset("register of 2030").unpromised() == "cover any data but that one dataset"
    assert around.latex().endswith(r"t = \text{“the record of Ann”}")
