"""The catalogue: complete, valid against its schema, in agreement with the registry and with itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

import quincunx as qx
from quincunx.errors import SpecificationError
from quincunx.taxonomy import catalogue
from quincunx.taxonomy.catalogue import read
from quincunx.taxonomy.catalogue.row import AXIOMS
from quincunx.taxonomy.registry import entries

ROWS = catalogue.definitions()
SHORTS = {row.short for row in ROWS}


@pytest.mark.parametrize("file", read.FILES)
def test_every_data_file_fits_the_schema(file: str) -> None:
    schema = json.loads(Path(read.__file__).with_name("catalogue.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(read.data(file))
    broken = json.loads(json.dumps(read.data(file)))
    broken["definition"][0]["convexity"]["settled"] = "perhaps"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(broken)


def test_eighty_nine_of_eighty_nine() -> None:
    assert [row.short for row in ROWS] == [entry.short for entry in entries()]
    assert len(ROWS) == 89
    written = [each["short"] for file in read.FILES for each in read.data(file)["definition"]]
    assert Counter(written) == Counter(SHORTS)
    assert sum(row.number is not None for row in ROWS) == 39
    assert all(row.follows for row in ROWS if row.number is None)


def test_each_row_is_as_checkable_as_its_checker() -> None:
    assert {row.short for row in ROWS if row.checkable == "no"} == {r.short for r in ROWS if r.definition.undecided}
    assert sum(row.checkable != "no" for row in ROWS) == 84


def test_every_reference_is_a_paper() -> None:
    cited = {key for row in ROWS for key in (*row.references, row.follows) if key}
    cited |= {key for name in catalogue.names() for key in name.references}
    assert cited <= catalogue.papers().keys()
    assert all(re.search(r", (19|20)\d\d$", text) for text in catalogue.papers().values())


def test_the_cells_of_the_table_add_up() -> None:
    """264 cells: 41 question marks and 33 crosses are printed; 34 marks are settled, 7 stay open."""
    cells = [(row, axiom, row.axioms[axiom]) for row in ROWS if row.short != "DP" for axiom in AXIOMS]
    assert len(cells) == 264
    assert Counter(cell.printed for *_, cell in cells) == {"yes": 190, "?": 41, "no": 33}
    assert sum(cell.printed == "?" and cell.settled != "unknown" for *_, cell in cells) == 34
    assert sum(cell.settled == "unknown" for *_, cell in cells) == 7
    wrong = {(row.short, axiom) for row, axiom, cell in cells if cell.differs and cell.printed != "?"}
    assert wrong == {
        ("AzCoDP", "post_processing"),
        ("BayDP-TF20", "post_processing"),
        ("CBDP", "post_processing"),
        ("BayDP-YSN15", "composition"),
        ("CorDP", "composition"),
        ("PriDP", "composition"),
        ("TypSt", "composition"),
    }


def test_what_gives_a_definition_exists() -> None:
    for row in ROWS:
        for path in re.findall(r"\bqx(?:\.\w+)+", row.gives):
            value: object = qx
            for part in path.split(".")[1:]:
                value = getattr(value, part)


def test_the_further_names_lead_to_rows() -> None:
    names = catalogue.names()
    assert len(names) == 128
    assert len({name.name for name in names}) == 128
    assert all(name.what for name in names)
    assert {lead for name in names for lead in (name.same, name.near) if lead} <= SHORTS
    known = SHORTS | {name.name for name in names}
    assert len(catalogue.homonyms()) == 14
    assert {member for each in catalogue.homonyms() for member in each.members} <= known


def test_names_lead_to_one_definition_or_say_which_they_may_be() -> None:
    assert {catalogue.get(name).short for name in ("zCDP", "zcdp", "ZCODP")} == {"zCoDP"}
    assert catalogue.get("pure").short == "DP"
    assert catalogue.get("per-person DP").short == "BoDP"
    assert catalogue.get("InDP").short == "InDP"
    assert catalogue.get("INDP").short == "INDP"
    with pytest.raises(SpecificationError, match="BayDP-YSN15, BayDP-TF20, BayDP-LL12"):
        catalogue.get("Bayesian DP")
    with pytest.raises(SpecificationError, match="Did you mean 'ADP'"):
        catalogue.get("ADPP")
    with pytest.raises(SpecificationError):
        catalogue.get("indp")  # two rows differ in nothing but case


def test_search_finds_titles_before_texts() -> None:
    found = catalogue.search("location")
    assert next(each.name for each in found) == "location privacy"
    assert catalogue.search("zzz") == []
    with pytest.raises(SpecificationError, match="nothing to search for"):
        catalogue.search("  ")
    assert "dD-Pr" in [each.short for each in catalogue.search("places") if isinstance(each, catalogue.Row)]


def test_no_two_rows_say_the_same() -> None:
    for field in ("intuition", "use"):
        texts = [getattr(row, field) for row in ROWS]
        assert len(set(texts)) == len(texts), field
