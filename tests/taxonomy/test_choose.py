"""Finding one's way: recommendations, comparisons, pictures, pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import takewhile

import pytest

import quincunx as qx
from quincunx.chart.diagram import Arrow, Node, diagram
from quincunx.errors import DataError, SpecificationError
from quincunx.taxonomy import catalogue, choose, compare, definitions, graph
from quincunx.taxonomy.choose import examples, questions
from quincunx.taxonomy.compare import SETTINGS
from quincunx.taxonomy.pages import pages, stem
from quincunx.taxonomy.picture import _drawn, _links
from quincunx.taxonomy.relations import convert, implies, language

NAMES = [question.name for question in questions()]


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["says"])
def test_the_surveys_own_examples(example: dict[str, object]) -> None:
    found = choose(**{name: str(example[name]) for name in NAMES if name in example})
    assert list(found.shorts) == example["definitions"]
    assert (found.composed is None) == bool(found.misfit)


def test_every_answer_leads_to_a_definition_and_says_what_it_costs() -> None:
    for question in questions():
        assert question.options[0].definition == ""
        assert len({option.answer for option in question.options}) == len(question.options)
        for option in question.options:
            assert option.says
            assert option.costs
            assert not option.definition or catalogue.get(option.definition)
            for path in re.findall(r"\bqx(?:\.\w+)+", option.costs):
                value: object = qx
                for part in path.split(".")[1:]:
                    value = getattr(value, part)
    assert choose().shorts == ("DP",)
    assert choose().composed == catalogue.get("DP").definition


def test_what_is_not_among_the_answers_is_refused() -> None:
    with pytest.raises(SpecificationError, match="Did you mean 'presence'"):
        choose(sensitive="presense")
    with pytest.raises(SpecificationError, match="unknown question"):
        choose(sensible="presence")


def test_comparisons_separate_by_worlds_that_can_be_checked_again() -> None:
    for one, other in (("DP", "ADP"), ("NPr", "CausDP"), ("OSDP", "BoDP"), ("uBoDP", "BoDP")):
        found = compare(one, other)
        assert found.separations
        for each in found.separations:
            values = []
            for name in (each.accepts, each.refuses):
                which = language(name)
                settings = {setting: SETTINGS[setting] for setting in which.settings}
                values.append(which.posed(settings).tightest(each.world).value)
            assert (values[0], values[1]) == (each.value, each.other)
            assert not values[0].infinite
            assert values[1].infinite or values[1].bounds[0] > values[0].bounds[1]


@pytest.mark.parametrize(("weak", "strong"), [("RenyiDP", "zCoDP"), ("zCoDP", "DP"), ("KLPr", "zCoDP")])
def test_where_both_are_finite_more_is_needed_than_what_implies_it(weak: str, strong: str) -> None:
    """On finite worlds both are infinite alike; the weaker one is met where the stronger at its parameter is not."""
    found = [each for each in compare(strong, weak).separations if each.accepts == weak]
    assert [each.refuses for each in found] == [strong]
    each = found[0]
    assert each.allowed is not None
    settings = {name: SETTINGS[name] for name in language(weak).settings}
    given = {name: SETTINGS[name] for name in language(strong).settings}
    implied = convert(strong, weak, to=settings, **given, **{language(strong).measures[0]: each.allowed.bounds[0]})
    # What is allowed gives the value that the world has, and the world has more than is allowed.
    assert float(implied.values[language(weak).measures[0]]) == pytest.approx(float(each.value), rel=1e-6)
    posed = language(strong).posed(given).tightest(each.world)
    assert posed.value.bounds[0] > each.allowed.bounds[1]
    assert "would give" in str(each)
    assert "allowed" in each.to_json()


def test_a_curve_says_something_where_no_ratio_is_bounded() -> None:
    (found,) = compare("f-DP", "DP").separations
    assert (found.accepts, found.refuses) == ("f-DP", "DP")
    assert found.other.infinite
    # The curve is not 0: half of the curve that it has is met too, and a better one is not.
    rows = [(x.exact, y.exact) for x, y in language("f-DP").posed({}).tightest(found.world).rows]
    assert any(y for _, y in rows)
    assert max(1 - x - y for x, y in rows) == found.value.exact
    assert compare("wFDP", "sFDP").separations == ()


def test_no_world_separates_what_is_the_same() -> None:
    assert compare("DP", "IndPr").separations == ()
    assert compare("DP", "DP").separations == ()
    assert compare("PerDP", "TaiDP").separations == ()


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(svg)
    found = []
    for each in root.iter("{http://www.w3.org/2000/svg}rect"):
        if "box" in (each.get("class") or ""):
            x, y, w, h = (float(each.get(k) or 0) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + w, y + h))
    return found


@pytest.mark.parametrize("kind", [{}, {"dimension": "N"}, {"dimension": "C"}, {"around": "DP"}, {"around": "AbsDP"}])
def test_boxes_lie_on_the_paper_and_never_on_each_other(kind: dict[str, str]) -> None:
    picture = graph(**kind)
    found = boxes(picture.svg)
    assert len(found) == 89 or kind
    for i, (a, b, c, d) in enumerate(found):
        assert a >= 0
        assert c <= picture.width
        assert b >= 0
        assert d <= picture.height
        assert all(c < e or g < a or d < f or h < b for e, f, g, h in found[i + 1 :])
    assert "prefers-color-scheme: dark" in picture.svg


def test_every_picture_around_one_can_be_drawn() -> None:
    for row in definitions():
        assert row.short in graph(around=row.short).svg


def test_arrows_are_implications() -> None:
    for (source, target), conditional in _links().items():
        status = implies(source, target).status
        assert status == "yes" if not conditional else status in ("yes", "if"), (source, target)


def test_every_arrow_of_the_whole_is_drawn_or_written_under_its_box() -> None:
    svg = graph().svg
    drawn = {tuple(each.split(" → ")) for each in re.search(r"<desc>(.*)</desc>", svg)[1].split("; ") if "→" in each}  # type: ignore[index]
    texts = [each.text or "" for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    sections = {row.short: row.section[0] for row in definitions()}
    arrows = _drawn([row.short for row in definitions()])
    assert len(arrows) > 100
    for each in arrows:
        if sections[each.source] == sections[each.target]:
            assert (each.source, each.target) in drawn or each.both
        else:
            assert (each.source, each.target) not in drawn
            under = takewhile(lambda line: line[0] in "(←↔", texts[texts.index(each.target) + 1 :])
            assert any(each.source in line and ("(" in line) == each.dashed for line in under), each


def test_bad_pictures_are_refused() -> None:
    with pytest.raises(SpecificationError, match="unknown dimension"):
        graph(dimension="X")
    with pytest.raises(SpecificationError, match="one definition or one dimension"):
        graph(around="DP", dimension="Q")
    with pytest.raises(DataError):
        diagram([], [], title="nothing")
    one = Node(label="a <b>", x=100, y=20)
    other = Node(label="c", x=400, y=20)
    svg = diagram([one, other], [Arrow(source="a <b>", target="c", both=True)], title="t").svg
    ElementTree.fromstring(svg)


def test_pages_have_names_that_no_machine_confuses() -> None:
    names = [name.lower() for name in pages()]
    assert len(set(names)) == len(names) == 180
    assert stem("InDP") != stem("INDP")
