"""Relations over relations, generated as SQL: whatever one construct gives is the input of the next.

Names and tables are those of `locality.py`. Every relation shows whose its rows are, so that the next one may be any
other; columns that nobody uses, columns under two names and relations that are named twice come up by themselves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from tests.table.relations.locality import Numbers, Unit

Kind: TypeAlias = Literal["integer", "number", "text", "date", "truth", "other"]


@dataclass(frozen=True, slots=True)
class Col:
    """A column. part: which component of the owner it equals, if any."""

    name: str
    kind: Kind
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Rel:
    """A relation as a SELECT, or a table by its name, with its columns."""

    sql: str
    cols: tuple[Col, ...]

    def called(self, name: str) -> str:
        return f"{f'({self.sql})' if ' ' in self.sql else self.sql} {name}"

    def of(self, name: str) -> tuple[Col, ...]:
        return tuple(replace(each, name=f"{name}.{each.name}") for each in self.cols)


_K, _D, _G = Col("k", "integer", 0), Col("d", "date", 1), Col("g", "text")
_TABLES: Final = (
    Rel("A", (_K, _D, Col("x", "number"), _G)),
    Rel("B", (_K, _D, Col("y", "number"), _G)),
    Rel("E", (_K, _D, Col("e", "integer"))),
    Rel("V", (_K, _D, Col("e", "integer"), Col("c", "integer"))),
    Rel("W", (_K, _D, Col("c", "integer"), Col("u", "number"))),
)
_PUBLIC: Final = (Rel("P", (_G, Col("z", "number"))), Rel("Q", (Col("z", "number"), Col("w", "number"))))
_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "integer": ("0", "1", "2", "3"),
    "number": ("0", "1", "2"),
    "text": ("'a'", "'b'", "'c'"),
    "date": ("DATE '2024-01-01'", "DATE '2024-01-02'"),
    "truth": ("TRUE", "FALSE"),
    "other": ("1",),
}
_COMPUTED: Final = ("{} + 1", "{} * -1", "COALESCE({}, 7)", "CASE WHEN {} > 0 THEN {} END", "ABS({})")


@dataclass(slots=True)
class Nested:
    """Makes relations. Everything follows from `chance`."""

    chance: random.Random
    unit: Unit
    numbers: Numbers
    _made: int = field(default=0)

    def relation(self, depth: int) -> Rel:
        """A relation that is at most so deep above tables."""
        make: Callable[[int], Rel] = self.chance.choice(
            (
                self._chosen,
                self._joined,
                self._joined,
                self._full,
                self._looked_up,
                self._rolled,
                self._rolled,
                self._combined,
                self._windowed,
                self._windowed,
                self._first,
                self._valued,
                self._twice,
            )
        )
        return make(depth)

    def _name(self, letter: str) -> str:
        self._made += 1
        return f"{letter}{self._made}"

    def _source(self, depth: int) -> Rel:
        if depth > 0 and self.chance.random() < 0.75:
            return self.relation(depth - 1)
        found = self.chance.choice(_TABLES)
        if self.unit == "person-day":
            return found
        # The day is an ordinary column, and what is linked has none.
        plain = (replace(each, part=None) if each.part == 1 else each for each in found.cols)
        return replace(found, cols=tuple(each for each in plain if found.sql not in ("V", "W") or each.name != "d"))

    def _owner(self, cols: Sequence[Col]) -> list[Col]:
        """One column for each component of the owner."""
        parts = range(1 if self.unit == "person" else 2)
        return [self.chance.choice([each for each in cols if each.part == part]) for part in parts]

    def _same(self, left: Sequence[Col], right: Sequence[Col]) -> str:
        pairs = [(x.name, y.name) for x, y in zip(self._owner(left), self._owner(right), strict=True)]
        return " AND ".join(" = ".join(self.chance.sample(pair, 2)) for pair in pairs)

    def _select(self, cols: Sequence[Col]) -> tuple[list[str], list[Col]]:
        """Whose a row is, and up to three further columns, some of them twice or computed."""
        choose, chosen = self.chance, [*self._owner(cols), *self.chance.choices(cols, k=self.chance.randint(1, 3))]
        texts: list[str] = []
        found: list[Col] = []
        for each in chosen:
            text, kind, name = each.name, each.kind, self._name("c")
            if each.part is None and choose.random() < 0.3:
                number = kind in ("integer", "number")
                text = choose.choice(_COMPUTED).replace("{}", text) if number else f"{text} IS NULL"
                kind = kind if number else "truth"
            texts.append(f"{text} AS {name}")
            found.append(Col(name, kind, each.part))
        return texts, found

    def _test(self, cols: Sequence[Col], depth: int) -> str:
        choose, each = self.chance, self.chance.choice(cols)
        value = choose.choice(_VALUES[each.kind])
        match choose.randrange(8 if depth > 0 else 6):
            case 0:
                return f"{each.name} IS {choose.choice(('', 'NOT '))}NULL"
            case 1:
                return f"NOT ({self._test(cols, depth - 1)})"
            case 2:
                return f"({self._test(cols, depth - 1)} {choose.choice(('AND', 'OR'))} {self._test(cols, depth - 1)})"
            case 3:
                other = choose.choice([one for one in cols if one.kind == each.kind])
                return f"{each.name} {choose.choice(('=', '<', '<>', 'IS DISTINCT FROM'))} {other.name}"
            case 6 | 7:
                return self._about(cols, depth - 1)
        return f"{each.name} {choose.choice(('=', '<', '>=', '<>'))} {value}"

    def _about(self, cols: Sequence[Col], depth: int) -> str:
        """A condition with a subquery: about public rows, or about rows of the same owner."""
        choose, name, not_ = self.chance, self._name("s"), self.chance.choice(("", "NOT "))
        if choose.random() < 0.3:
            public = choose.choice(_PUBLIC)
            pairs = [(x, y) for x in cols for y in public.of(name) if x.kind == y.kind]
            if pairs:
                mine, theirs = choose.choice(pairs)
                if choose.random() < 0.5:
                    return f"{mine.name} {not_}IN (SELECT {theirs.name} FROM {public.called(name)})"
                return f"{not_}EXISTS (SELECT 1 FROM {public.called(name)} WHERE {theirs.name} = {mine.name})"
        other = self._source(depth)
        theirs_ = other.of(name)
        further = choose.choice(("", f" AND {self._test(theirs_, 0)}"))
        if choose.random() < 0.5:
            pairs = [(x, y) for x in cols for y in theirs_ if x.kind == y.kind]
            mine, yours = choose.choice(pairs)
            further += choose.choice(("", f" AND {yours.name} {choose.choice(('=', '<', '<>'))} {mine.name}"))
            return f"{not_}EXISTS (SELECT 1 FROM {other.called(name)} WHERE {self._same(cols, theirs_)}{further})"
        if choose.random() < 0.5:
            tested, listed = (", ".join(each.name for each in self._owner(part)) for part in (cols, theirs_))
            tested = f"({tested})" if "," in tested else tested
            return f"{tested} {not_}IN (SELECT {listed} FROM {other.called(name)} WHERE TRUE{further})"
        call = choose.choice(("COUNT(*)", f"COUNT(DISTINCT {choose.choice(theirs_).name})"))
        return f"(SELECT {call} FROM {other.called(name)} WHERE {self._same(cols, theirs_)}{further}) > 1"

    def _where(self, cols: Sequence[Col], depth: int) -> str:
        return f" WHERE {self._test(cols, min(depth, 1))}" if self.chance.random() < 0.5 else ""

    def _chosen(self, depth: int) -> Rel:
        source, name = self._source(depth), self._name("t")
        texts, cols = self._select(source.of(name))
        distinct = self.chance.choice(("", "DISTINCT "))
        where = self._where(source.of(name), depth)
        return Rel(f"SELECT {distinct}{', '.join(texts)} FROM {source.called(name)}{where}", tuple(cols))

    def _on(self, left: Sequence[Col], right: Sequence[Col]) -> str:
        choose, text = self.chance, self._same(left, right)
        pairs = [(x, y) for x in left for y in right if x.kind == y.kind]
        if choose.random() < 0.6:
            x, y = choose.choice(pairs)
            text += f" AND {x.name} {choose.choice(('=', '<', '<>', 'IS NOT DISTINCT FROM'))} {y.name}"
        return text if choose.random() < 0.7 else f"{text} AND {self._test(choose.choice((left, right)), 0)}"

    def _joined(self, depth: int) -> Rel:
        """Inner by ON or by WHERE, or outer; what may be missing is nobody's key."""
        one, two, a, b = self._source(depth), self._source(depth - 1), self._name("t"), self._name("t")
        left, right = one.of(a), two.of(b)
        kind = self.chance.choice(("JOIN", ",", "LEFT JOIN", "RIGHT JOIN"))
        on = self._on(left, right)
        if kind == "LEFT JOIN":
            right = tuple(replace(each, part=None) for each in right)
        if kind == "RIGHT JOIN":
            left = tuple(replace(each, part=None) for each in left)
        texts, cols = self._select((*left, *right))
        comma = kind == ","
        where = f" WHERE {on}" if comma else f" ON {on}{self._where((*left, *right), depth)}"
        return Rel(f"SELECT {', '.join(texts)} FROM {one.called(a)} {kind} {two.called(b)}{where}", tuple(cols))

    def _full(self, depth: int) -> Rel:
        one, two, a, b = self._source(depth), self._source(depth - 1), self._name("t"), self._name("t")
        left, right = one.of(a), two.of(b)
        on = self._on(left, right)
        whose = [
            replace(x, name=f"COALESCE({x.name}, {y.name})")
            for x, y in zip(self._owner(left), self._owner(right), strict=True)
        ]
        plain = (replace(each, part=None) for each in (*left, *right))
        texts, cols = self._select((*whose, *plain))
        return Rel(f"SELECT {', '.join(texts)} FROM {one.called(a)} FULL JOIN {two.called(b)} ON {on}", tuple(cols))

    def _looked_up(self, depth: int) -> Rel:
        one, two, a, b = self._source(depth), self.chance.choice(_PUBLIC), self._name("t"), self._name("p")
        left, right = one.of(a), two.of(b)
        texts, cols = self._select((*left, *right))
        pairs = [(x, y) for x in left for y in right if x.kind == y.kind]
        text = f"SELECT {', '.join(texts)} FROM {one.called(a)}"
        if not pairs:
            return Rel(f"{text} CROSS JOIN {two.called(b)}", tuple(cols))
        x, y = self.chance.choice(pairs)
        kind, sign = self.chance.choice(("JOIN", "LEFT JOIN")), self.chance.choice(("=", "=", "<", "<>"))
        return Rel(f"{text} {kind} {two.called(b)} ON {x.name} {sign} {y.name}", tuple(cols))

    def _rolled(self, depth: int) -> Rel:
        choose, source, name = self.chance, self._source(depth), self._name("t")
        below = source.of(name)
        by = [*self._owner(below), *choose.sample(below, choose.choice((0, 0, 1)))]
        found = [replace(each, name=self._name("c")) for each in by]
        texts = [f"{each.name} AS {own.name}" for each, own in zip(by, found, strict=True)]
        whole = [each for each in below if each.kind == "integer" or (each.kind, self.numbers) == ("number", "whole")]
        for _ in range(choose.randint(1, 2)):
            each, own = choose.choice(below), self._name("c")
            # Of what is no column of a table nothing is known that a mean or a sum could need.
            wide = choose.choice(("SUM", "AVG", "MEDIAN"))
            call, kind = choose.choice(
                (
                    ("COUNT(*)", "integer"),
                    (f"COUNT(DISTINCT {each.name})", "integer"),
                    (f"{choose.choice(('MIN', 'MAX'))}({each.name})", each.kind),
                    (f"{wide}({choose.choice(whole).name})", "other"),
                )
            )
            where = f" FILTER (WHERE {self._test(below, 0)})" if choose.random() < 0.2 else ""
            texts.append(f"{call}{where} AS {own}")
            found.append(Col(own, kind))  # type: ignore[arg-type]
        least = f" HAVING MIN({choose.choice(below).name}) IS NOT NULL"
        having = choose.choice(("", "", " HAVING COUNT(*) > 1", least))
        group = f" GROUP BY {', '.join(each.name for each in by)}{having}"
        text = f"SELECT {', '.join(texts)} FROM {source.called(name)}{self._where(below, depth)}{group}"
        return Rel(text, tuple(found))

    def _combined(self, depth: int) -> Rel:
        sides = [(self._source(depth - place), self._name("t")) for place in (0, 1)]
        left, right = (each.of(name) for each, name in sides)
        pairs = [*zip(self._owner(left), self._owner(right), strict=True)]
        others = [(x, y) for x in left for y in right if x.kind == y.kind and "other" not in (x.kind, y.kind)]
        pairs += self.chance.sample(others, min(len(others), self.chance.randint(0, 2)))
        found = [Col(self._name("c"), x.kind, x.part if x.part == y.part else None) for x, y in pairs]
        texts = [
            f"SELECT {', '.join(f'{pair[place].name} AS {own.name}' for pair, own in zip(pairs, found, strict=True))} "
            f"FROM {side.called(name)}"
            for place, (side, name) in enumerate(sides)
        ]
        word = self.chance.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
        return Rel(f" {word} ".join(texts), tuple(found))

    def _over(self, below: Sequence[Col], *, all_: bool) -> str:
        """Partitioned by the owner, and ordered by all columns where rows are told apart."""
        choose = self.chance
        by = [*self._owner(below), *choose.sample(below, choose.choice((0, 0, 1)))]
        order = choose.sample(below, len(below) if all_ else 1)
        signs = [choose.choice(("", " DESC", " NULLS FIRST")) for _ in order]
        ordered = ", ".join(f"{each.name}{sign}" for each, sign in zip(order, signs, strict=True))
        return f"(PARTITION BY {', '.join(each.name for each in choose.sample(by, len(by)))} ORDER BY {ordered})"

    def _windowed(self, depth: int) -> Rel:
        choose, source, name = self.chance, self._source(depth), self._name("t")
        below = source.of(name)
        texts, found = self._select(below)
        for _ in range(choose.randint(1, 2)):
            each, own = choose.choice(below), self._name("c")
            call, kind, apart = choose.choice(
                (
                    ("ROW_NUMBER()", "integer", True),
                    (choose.choice(("RANK()", "DENSE_RANK()")), "integer", False),
                    (f"{choose.choice(('LAG', 'LEAD', 'FIRST_VALUE'))}({each.name})", each.kind, True),
                    (f"COUNT({each.name})", "integer", False),
                    (f"{choose.choice(('MIN', 'MAX'))}({each.name})", each.kind, False),
                )
            )
            texts.append(f"{call} OVER {self._over(below, all_=apart)} AS {own}")
            found.append(Col(own, kind))  # type: ignore[arg-type]
        where = self._where(below, depth)
        return Rel(f"SELECT {', '.join(texts)} FROM {source.called(name)}{where}", tuple(found))

    def _first(self, depth: int) -> Rel:
        source, name = self._source(depth), self._name("t")
        below = source.of(name)
        texts, found = self._select(below)
        over = self._over(below, all_=True)
        text = f"SELECT {', '.join(texts)} FROM {source.called(name)} QUALIFY ROW_NUMBER() OVER {over} <= 2"
        return Rel(text, tuple(found))

    def _valued(self, depth: int) -> Rel:
        choose, one, two = self.chance, self._source(depth), self._source(depth - 1)
        a, b = self._name("t"), self._name("s")
        texts, found = self._select(one.of(a))
        each, own = choose.choice(two.of(b)), self._name("c")
        call, kind = choose.choice((("COUNT(*)", "integer"), (f"MAX({each.name})", each.kind)))
        further = choose.choice(("", f" AND {self._test(two.of(b), 0)}"))
        texts.append(f"(SELECT {call} FROM {two.called(b)} WHERE {self._same(one.of(a), two.of(b))}{further}) AS {own}")
        text = f"SELECT {', '.join(texts)} FROM {one.called(a)}"
        return Rel(text, (*found, Col(own, kind)))  # type: ignore[arg-type]

    def _twice(self, depth: int) -> Rel:
        """One relation of WITH, joined to itself."""
        below, a, b = self._source(depth), self._name("t"), self._name("t")
        name = self._name("q")
        texts, found = self._select((*below.of(a), *below.of(b)))
        with_ = below.sql if " " in below.sql else f"SELECT * FROM {below.sql}"
        on = self._on(below.of(a), below.of(b))
        text = f"WITH {name} AS ({with_}) SELECT {', '.join(texts)} FROM {name} {a} JOIN {name} {b} ON {on}"
        return Rel(text, tuple(found))
