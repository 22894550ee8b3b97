"""Bugs of the classes that broke other libraries, each seeded into the planner or the engine by one patch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from sqlglot import exp

from quincunx.spec.people import People
from quincunx.table.aggregates import term
from quincunx.table.engines import binding, emit_number, lattice, rows, statement, votes, weights
from quincunx.table.engines.typed_sql import binary, call, cast, column, text, whole
from quincunx.table.measure import Selection
from quincunx.table.rules import draft, scale
from tests.audit.tables.scenes import SALES, VISITS, Scene, scene

Patch = Callable[[pytest.MonkeyPatch], None]
PEOPLE = "SELECT region, COUNT(DISTINCT person) AS p FROM visits GROUP BY region"
GROUPED = "SELECT region, COUNT(*) AS n, SUM(cost) AS s, AVG(age) AS m FROM visits GROUP BY region"
TOTAL = "SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(age) AS m FROM visits"
VALUES = "SELECT region, COUNT(DISTINCT age) AS d FROM visits GROUP BY region"
BINS = "SELECT region, CDF_COUNT(age, [10, 20, 30, 40, 50, 60]) AS c FROM visits GROUP BY region"
UNKNOWN = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """name: its class. part: which comparison must find it. sql, norm, at: where it shows."""

    name: str
    patch: Patch
    sql: str
    at: Scene
    norm: int = 1
    part: str = "measure"
    pairs: int = 40


def rewritten(relations: list[tuple[Any, ...]], name: str, change: Any) -> list[tuple[Any, ...]]:
    """The relations of a statement with the nodes of one of them changed."""
    return [(each, select.transform(change) if each == name else select, *rest) for each, select, *rest in relations]


def wrapped(module: Any, name: str, around: Any) -> Patch:
    """The patch that puts `around(original, *arguments)` in the place of a function."""
    original = getattr(module, name)
    return lambda monkeypatch: monkeypatch.setattr(module, name, lambda *a, **k: around(original, *a, **k))


def _changed(module: Any, name: str, **changes: Any) -> Patch:
    """The function as it is, asked about a value with other fields; the dialect comes before it."""
    return wrapped(module, name, lambda original, d, value, *rest: original(d, replace(value, **changes), *rest))


def _relations(function: str, relation: str, change: Any) -> Patch:
    def around(original: Any, *arguments: Any) -> Any:
        return rewritten(original(*arguments), relation, change)

    return wrapped(weights, function, around)


def _values_not_rows(node: exp.Expression) -> exp.Expression:
    return exp.Count(this=call("NULLIF", column("x1"), whole(0))) if isinstance(node, exp.Count) else node


def _capped(node: exp.Expression) -> exp.Expression:
    return call("LEAST", node, whole(20)) if isinstance(node, exp.Column) and node.name == "n" else node


def _one_more(node: exp.Expression) -> exp.Expression:
    return (
        exp.GTE(this=node.this, expression=whole(int(_constant(node.expression)) + 2))
        if isinstance(node, exp.GT)
        else node
    )


def _constant(node: exp.Expression) -> str:
    return str(node.find(exp.Literal).name)  # type: ignore[union-attr]


def _rounded_up(node: exp.Expression) -> exp.Expression:
    return binary(exp.Add, node, whole(1)) if isinstance(node, exp.IntDiv) else node


def _floored(original: Any, self: Any, i: int, measure: Any, *where: Any) -> Any:
    total = original(self, i, measure, *where)
    if measure.counts or not isinstance(total.this, exp.Paren) or not isinstance(total.this.this, exp.IntDiv):
        return total
    product, size = total.this.this.this, total.this.this.expression
    down = binary(exp.Sub, product, binary(exp.Sub, size.copy(), whole(1)))
    negative = exp.LT(this=product.copy(), expression=whole(0))
    chosen = exp.Case(ifs=[exp.If(this=negative, true=down)], default=product.copy())
    return exp.Sum(this=binary(exp.IntDiv, chosen, size))


def _unweighted(original: Any, self: Any, i: int, measure: Any, rows: str, weight: Any) -> Any:
    return original(self, i, measure, rows, weight if measure.counts else whole(1 << measure.vector.bits))


def _keeps_all_rows(original: Any, self: Any) -> None:
    original(self)
    name, select, once = self.relations[0]
    self.relations[0] = (name, select.where(exp.true(), append=False), once)


def _without_period(original: Any, *arguments: Any) -> Any:
    return {name: piece for name, piece in original(*arguments).items() if name != "o1"}


def _filter_in_the_vector_only(original: Any, self: Any) -> Any:
    """The weights look at the rows of FILTER, the count at all rows."""
    found = original(self)
    for i, (name, select, once) in enumerate(self.relations):
        if name == "units0":
            self.relations[i] = (name, select.copy().where(exp.true(), append=False), once)
            self.relations.insert(i, ("filtered", select, once))
            break
    for i, (name, select, once) in enumerate(self.relations):
        if name == "over_heavy0":
            self.relations[i] = (name, select.from_("filtered"), once)
    return found


def _values_as_groups(original: Any, d: Any, vector: Any, owners: Any, groups: Any, *rest: Any) -> Any:
    return original(d, vector, owners, [*groups, "y0"] if rest else groups, *rest)


def _popular_first(original: Any, *arguments: Any) -> Any:
    """Which keys a person keeps depends on how many others hold them."""

    def change(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Alias) or node.alias != "c":
            return node
        window = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[column("world"), node.this.copy()])
        return exp.alias_(exp.DPipe(this=cast(window, "VARCHAR"), expression=node.this), "c")

    def plain(node: exp.Expression) -> exp.Expression:
        return node.expressions[0] if isinstance(node, exp.Anonymous) and node.name == "MD5" else node

    return rewritten(rewritten(original(*arguments), "named", change), "ranked", plain)


def _votes(change: Callable[[Selection], Selection]) -> Patch:
    return wrapped(votes, "relations", lambda original, d, selection, *rest: original(d, change(selection), *rest))


def _shares_up(original: Any, *arguments: Any) -> Any:
    return [(name, select.transform(_rounded_up)) for name, select in original(*arguments)]


def _unclipped(monkeypatch: pytest.MonkeyPatch) -> None:
    # Both clips: each alone keeps the bounds.
    def contribution(d: Any, measure: Any, argument: Any, _where: Any) -> exp.Expression:
        return call("COALESCE", lattice._steps(d, measure, argument), whole(0))

    monkeypatch.setattr(statement, "contribution", contribution)
    monkeypatch.setattr(binding, "read", _reading(clip=False))


def _reading(*, clip: bool) -> Any:
    """Columns read with or without their bounds, whatever is asked for."""
    read = binding.read
    return lambda d, declared, storage, **_options: read(d, declared, storage, clip=clip)


def _property(owner: type, name: str, value: Callable[[Any], Any]) -> Patch:
    return lambda monkeypatch: monkeypatch.setattr(owner, name, property(value))


def _function(module: Any, name: str, value: Any) -> Patch:
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


def _vector(**changes: Any) -> Patch:
    return wrapped(scale, "_vector", lambda original, *arguments: replace(original(*arguments), **changes))


def _clipped_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "read", _reading(clip=True))


def _bounded_people() -> Scene:
    columns = tuple(
        replace(each, bounds=(Fraction(0), Fraction(3))) if each.name == "person" else each for each in VISITS.columns
    )
    return scene("add-remove person", "rows", replace(VISITS, columns=columns))


PERSON, SWAP = scene("add-remove person", "rows"), scene("replace person", "rows")
GROUPS = scene("add-remove person", "rows + groups + per_group")
BUGS = (
    Bug(
        name="sensitivity from the wrong bound",
        sql=TOTAL,
        at=PERSON,
        patch=_property(term.Lattice, "size", lambda self: abs(self.high - self.centre)),
    ),
    Bug(name="a clip computed and not used", sql=TOTAL, at=PERSON, patch=_unclipped),
    Bug(name="a weight from the values", sql=TOTAL, at=PERSON, patch=_relations("over_rows", "over", _values_not_rows)),
    Bug(name="a lower saturation cap", sql=TOTAL, at=PERSON, patch=_relations("over_rows", "heavy", _capped)),
    Bug(name="> for ≥ at the limit of rows", sql=TOTAL, at=PERSON, patch=_relations("over_rows", "over", _one_more)),
    Bug(
        name="> for ≥ at the limit of groups",
        sql=PEOPLE,
        at=GROUPS,
        patch=_relations("over_groups", "over_heavy0", _one_more),
    ),
    Bug(
        name="keys not cut to groups",
        sql=UNKNOWN,
        at=GROUPS,
        part="new keys",
        patch=_votes(lambda selection: replace(selection, groups=10 * selection.groups)),
    ),
    Bug(
        name="add/remove for replace",
        sql=GROUPED,
        at=SWAP,
        patch=_function(People, "reach2", lambda unit, _norm, **_: unit.group**2),
    ),
    Bug(
        name="add/remove for replace, ℓ2",
        sql=GROUPED,
        at=SWAP,
        norm=2,
        patch=_function(People, "reach2", lambda unit, _norm, **_: unit.group**2),
    ),
    Bug(
        name="add/remove for replace in the votes",
        sql=UNKNOWN,
        at=scene("replace person", "rows + groups"),
        part="votes",
        patch=_function(People, "reach2", lambda unit, _norm, **_: unit.group**2),
    ),
    Bug(
        name="ℓ2 weights under ℓ1 noise",
        sql=GROUPED,
        at=PERSON,
        patch=wrapped(
            weights, "over_rows", lambda original, d, vector, *rest: original(d, replace(vector, norm=2), *rest)
        ),
    ),
    Bug(
        name="the DISTINCT vector in the wrong norm",
        sql=PEOPLE,
        at=scene("add-remove person", "groups + per_group"),
        patch=wrapped(
            weights, "over_groups", lambda original, d, vector, *rest: original(d, replace(vector, norm=2), *rest)
        ),
    ),
    Bug(name="the DISTINCT vector not weighted", sql=PEOPLE, at=GROUPS, norm=2, patch=_vector(bits=0)),
    Bug(
        name="different values not weighted",
        sql=VALUES,
        at=PERSON,
        patch=wrapped(
            weights,
            "over_rows",
            lambda original, d, vector, *rest: original(d, replace(vector, bound2=100 * vector.bound2), *rest),
        ),
    ),
    Bug(
        name="different values in the wrong norm",
        sql=VALUES,
        at=PERSON,
        patch=wrapped(
            weights, "over_rows", lambda original, d, vector, *rest: original(d, replace(vector, norm=2), *rest)
        ),
    ),
    Bug(
        name="different values of one group taken for groups",
        sql=VALUES,
        at=PERSON,
        norm=2,
        patch=wrapped(weights, "over_rows", _values_as_groups),
    ),
    Bug(
        name="different values added for replace",
        sql=VALUES,
        at=scene("replace row", "rows"),
        patch=_function(People, "reach2", lambda unit, _norm, **_: unit.group**2),
    ),
    Bug(
        name="bounds before the lattice",
        sql=TOTAL,
        at=PERSON,
        patch=_property(
            term.Lattice,
            "size",
            lambda self: max(abs(self.low - self.centre), abs(self.high - self.centre)) - (self.high > 1),
        ),
    ),
    Bug(
        name="rows of nobody kept",
        sql=TOTAL,
        at=PERSON,
        pairs=120,
        patch=wrapped(statement._Writer, "_read", _keeps_all_rows),
    ),
    Bug(name="a weight rounded up", sql=TOTAL, at=PERSON, patch=_relations("over_rows", "heavy", _rounded_up)),
    Bug(
        name="a root rounded up",
        sql=GROUPED,
        at=PERSON,
        norm=2,
        patch=_function(weights, "corrected", lambda root, _square: binary(exp.Add, root, cast(text("1"), "BIGINT"))),
    ),
    Bug(
        name="negative sums cut downward",
        sql="SELECT SUM(big) AS s FROM sales",
        at=scene("add-remove person", "rows", SALES),
        pairs=120,
        patch=wrapped(statement._Writer, "_total", _floored),
    ),
    Bug(name="sums not weighted", sql=TOTAL, at=PERSON, patch=wrapped(statement._Writer, "_total", _unweighted)),
    Bug(
        name="three people counted as one",
        sql=TOTAL,
        at=scene("add-remove person x 3", "rows"),
        patch=wrapped(
            People, "reach2", lambda original, unit, norm, **how: original(unit, norm, **how) // unit.group**2
        ),
    ),
    Bug(
        name="FILTER in the vector and not in the count",
        at=GROUPS,
        pairs=120,
        sql="SELECT region, COUNT(DISTINCT person) FILTER (WHERE flag) AS p FROM visits GROUP BY region",
        patch=wrapped(statement._Writer, "_people", _filter_in_the_vector_only),
    ),
    Bug(
        name="a person-week without its week",
        sql=GROUPED,
        at=scene("add-remove person-week", "rows"),
        pairs=80,
        patch=wrapped(rows, "hidden", _without_period),
    ),
    Bug(name="a vote rounded up", sql=UNKNOWN, at=GROUPS, part="votes", patch=wrapped(votes, "_shares", _shares_up)),
    Bug(
        name="votes in the wrong norm",
        sql=UNKNOWN,
        at=GROUPS,
        part="votes",
        patch=wrapped(
            votes, "_shares", lambda original, d, selection, who: original(d, replace(selection, norm=2), who)
        ),
    ),
    Bug(
        name="keys kept by what others hold",
        sql=UNKNOWN,
        at=scene("add-remove person", "rows + groups"),
        part="votes",
        pairs=120,
        patch=wrapped(votes, "relations", _popular_first),
    ),
    Bug(
        name="a mean not centred",
        sql=TOTAL,
        at=PERSON,
        patch=wrapped(
            statement,
            "contribution",
            lambda original, d, measure, *rest: original(d, replace(measure, centre=0), *rest),
        ),
    ),
    Bug(
        name="owners clipped to the bounds of their column",
        sql=GROUPED,
        at=_bounded_people(),
        pairs=120,
        patch=_clipped_owner,
    ),
    Bug(
        name="a signed sum taken as non-negative",
        sql=GROUPED,
        at=SWAP,
        norm=2,
        pairs=120,
        patch=_property(term.Lattice, "signed", lambda _self: False),
    ),
    Bug(
        name="many groups taken as one",
        sql=GROUPED,
        at=SWAP,
        patch=_property(draft.Draft, "public_groups", lambda _self: 1),
    ),
    Bug(
        name="a division that fails on a row",
        sql="SELECT COUNT(age // (age % 2)) AS n FROM visits",
        at=PERSON,
        part="engine",
        patch=wrapped(
            emit_number, "call", lambda original, name, *rest: rest[0] if name == "NULLIF" else original(name, *rest)
        ),
    ),
    Bug(
        name="a tree of bins priced as one level",
        sql=BINS,
        at=GROUPS,
        norm=2,
        pairs=80,
        patch=wrapped(scale, "levels_of", lambda original, bins, branching: original(bins, branching)[:1]),
    ),
    Bug(
        name="bins in which nobody is weighted",
        sql=BINS,
        at=PERSON,
        patch=wrapped(
            statement._Writer,
            "_histograms",
            lambda original, self: [each for each in original(self) if "heavy" not in each.sql()],
        ),
    ),
)
