"""World files: JSON with everything, or CSV with inputs and outputs. Errors name the place in the file."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

from quincunx.errors import InputError, WorldError, cause, kind_of
from quincunx.finite import read_csv
from quincunx.numbers import rational
from quincunx.taxonomy import places
from quincunx.taxonomy.case import Law
from quincunx.taxonomy.dataset import Coupling, Dataset, Kernel, Record

MOST_ENTRIES: Final = 500_000


@cache
def schema() -> Mapping[str, Any]:
    """The JSON Schema (draft 2020-12) of a world file."""
    data: Mapping[str, Any] = json.loads(Path(__file__).with_name("world.schema.json").read_text(encoding="utf-8"))
    return data


def read(path: Path) -> dict[str, Any]:
    """The parts of the world in a file, by its ending: .csv, or JSON."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        got = cause(error)
        hint = "Name a JSON or CSV file in UTF-8."
        raise WorldError("cannot read the file", where=str(path)[:80], got=got, hint=hint) from None
    if path.suffix.lower() == ".csv":
        try:
            return parts({"laws": read_csv(text if "\n" in text else text + "\n")}, {})
        except WorldError:
            raise
        except InputError as error:
            raise WorldError(error.what, where=error.where, got=error.got, hint=error.hint) from None
    return parse(text)


def parse(text: str) -> dict[str, Any]:
    """The parts of the world in a JSON text."""
    data, lines = places.read(text.removeprefix("\ufeff"))
    if not isinstance(data, dict):
        raise WorldError("a world file is one JSON object", where="the file", got=kind_of(data))
    return parts(data, lines)


class Place:
    """A value in the file, with the path that leads to it."""

    def __init__(self, value: object, path: places.Path, lines: dict[places.Path, int]) -> None:
        self.value, self.path, self.lines = value, path, lines

    def error(self, what: str, got: object = "", hint: str = "") -> WorldError:
        """An error at this place."""
        return WorldError(what, where=places.shown(self.path, self.lines), got=str(got)[:80], hint=hint)

    def members(self) -> Iterable[tuple[str, Place]]:
        """The entries of an object; an empty one is refused."""
        if not isinstance(self.value, Mapping) or not self.value:
            raise self.error("expected an object with at least one entry", _kind(self.value))
        return [(str(k), Place(v, (*self.path, str(k)), self.lines)) for k, v in self.value.items()]

    def items(self, least: int = 1) -> list[Place]:
        """The items of a list."""
        if not isinstance(self.value, list) or len(self.value) < least:
            what = f"expected a list of at least {least} entr{'y' if least == 1 else 'ies'}"
            raise self.error(what, _kind(self.value))
        return [Place(v, (*self.path, str(i)), self.lines) for i, v in enumerate(self.value)]

    def pair(self) -> list[Place]:
        """The two items of a list."""
        found = self.items()
        if len(found) != 2:
            raise self.error("expected a pair", f"{len(found)} entries")
        return found

    def text(self) -> str:
        """A text."""
        if isinstance(self.value, str):
            return self.value
        raise self.error("expected a text", _kind(self.value))

    def number(self) -> Fraction:
        """An exact rational."""
        try:
            return rational(self.value, "number")
        except InputError as error:
            raise self.error(error.what, error.got, error.hint) from None

    def probability(self) -> Fraction:
        """A number from 0 to 1."""
        found = self.number()
        if not 0 <= found <= 1:
            raise self.error("must be a probability, from 0 to 1", found)
        return found

    def known(self, names: Iterable[str], what: str) -> str:
        """One of some names, or an error with the nearest."""
        name = self.text()
        if name in names:
            return name
        raise self.error(f"unknown {what}", repr(name), nearest(name, names))

    def position(self, people: int) -> int:
        """A whole number from 0 to n − 1."""
        found = self.number()
        if found.denominator != 1 or not 0 <= found < people:
            raise self.error(f"expected a position from 0 to {people - 1}", found)
        return int(found)

    def law(self, names: Iterable[str] | None = None, what: str = "label") -> dict[str, Fraction]:
        """Probabilities that sum to exactly 1; a text alone is the law that always gives it."""
        if isinstance(self.value, str):
            return {self.value if names is None else self.known(names, what): Fraction(1)}
        allowed = None if names is None else set(names)
        found: dict[str, Fraction] = {}
        for name, place in self.members():
            if allowed is not None and name not in allowed:
                raise place.error(f"unknown {what}", repr(name), nearest(name, allowed))
            found[name] = place.probability()
        total = sum(found.values(), Fraction(0))
        if total != 1:
            hint = 'Rows sum to exactly 1; write thirds as "1/3".'
            raise self.error("the probabilities do not sum to 1", total, hint)
        return found


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint with the most similar name."""
    known = list(names)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return (
        f"Did you mean {close[0]!r}? Known: {', '.join(known[:8])}{', …' if len(known) > 8 else ''}." if close else ""
    )


def _kind(value: object) -> str:
    if isinstance(value, Mapping | list):
        return f"{'an object' if isinstance(value, Mapping) else 'a list'} of {len(value)}"
    return "nothing" if value is None else type(value).__name__


def _record(place: Place) -> Record | None:
    value = place.value
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(x, str) for x in value):
        return tuple(value)
    raise place.error("a record is a text, a number, a list of texts, or null where nobody is", _kind(value))


def _present(place: Place) -> Record:
    found = _record(place)
    if found is None:
        raise place.error("expected a record", "null")
    return found


def parts(data: Mapping[str, object], lines: dict[places.Path, int]) -> dict[str, Any]:
    """The parts of the world that parsed JSON describes, by the names of World's fields."""
    root = Place(data, (), lines)
    given = dict(root.members())
    known = list(schema()["properties"])
    for name, place in given.items():
        if name not in known:
            raise place.error("unknown part of a world", repr(name), nearest(name, known))
    if "laws" not in given:
        raise root.error("a world needs laws", "none", 'Add "laws": {dataset: {output: probability}}.')
    rows = {name: place.law() for name, place in given["laws"].members()}
    outputs = tuple(dict.fromkeys(o for row in rows.values() for o in row))
    if len(rows) * len(outputs) > MOST_ENTRIES:
        raise given["laws"].error("too many entries to enumerate", f"more than {MOST_ENTRIES:,}")
    laws: dict[str, Law] = {x: tuple(row.get(o, Fraction(0)) for o in outputs) for x, row in rows.items()}
    datasets = _datasets(given, laws)
    people = len(next(iter(datasets.values())))
    found: dict[str, object] = {
        name: _PARTS[name](given[name], datasets, outputs, people) for name in _PARTS if name in given
    }
    if "pairs_of_priors" in given:
        found["pairs_of_priors"] = _pairs_of_priors(given["pairs_of_priors"], given)
    return {"datasets": datasets, "outputs": outputs, "laws": laws, **found}


def _datasets(parts: Mapping[str, Place], laws: Mapping[str, Law]) -> dict[str, Dataset]:
    if "datasets" not in parts:
        return {name: (name,) for name in laws}
    rows = {name: [_record(each) for each in place.items(0)] for name, place in parts["datasets"].members()}
    longest = max(1, *map(len, rows.values()))
    found: dict[str, Dataset] = {}
    seen: dict[Dataset, str] = {}
    for name, place in parts["datasets"].members():
        if name not in laws:
            raise place.error("the dataset has no law", repr(name), nearest(name, laws))
        records: Dataset = (*rows[name], *([None] * (longest - len(rows[name]))))
        if records in seen:
            raise place.error("two datasets have the same records", f"{name!r} and {seen[records]!r}")
        seen[records] = name
        found[name] = records
    missing = [name for name in laws if name not in found]
    if missing:
        raise parts["laws"].error("a law has no dataset", repr(missing[0]), nearest(missing[0], found))
    return found


def _complete(place: Place, names: Iterable[str], what: str) -> dict[str, Place]:
    found = dict(place.members())
    known = list(names)
    for name, inner in found.items():
        if name not in known:
            raise inner.error(f"unknown {what}", repr(name), nearest(name, known))
    missing = [name for name in known if name not in found]
    if missing:
        raise place.error(f"it misses a {what}", repr(missing[0]), "Write 0 where it is impossible.")
    return found


def _pairs(place: Place, d: Mapping[str, Dataset], _o: object, _n: int) -> list[tuple[str, str]]:
    found = []
    for each in place.items():
        x, y = (end.known(d, "dataset") for end in each.pair())
        if x == y:
            raise each.error("a dataset is not its own neighbour", repr(x))
        found.append((x, y))
    return found


def _distance(place: Place, d: Mapping[str, Dataset], _o: object, _n: int) -> dict[tuple[str, str], Fraction]:
    found: dict[tuple[str, str], Fraction] = {}
    for each in place.items():
        x, y, number = _between(each, lambda end: end.known(d, "dataset"))
        for pair in ((x, y), (y, x)):
            if found.setdefault(pair, number) != number:
                raise each.error("a pair has two distances", f"{x!r}, {y!r}")
    return found


def _between(each: Place, name: Callable[[Place], str], default: Fraction | None = None) -> tuple[str, str, Fraction]:
    parts = dict(each.members())
    if "between" not in parts or not parts.keys() <= {"between", "distance"}:
        raise each.error('expected {"between": [a, b], "distance": number}', ", ".join(parts))
    x, y = (name(end) for end in parts["between"].pair())
    if "distance" not in parts:
        if default is None:
            raise each.error("the distance is missing")
        return x, y, default
    number = parts["distance"].number()
    if number <= 0 or x == y:
        raise each.error("a distance is greater than 0, between two different things", number)
    return x, y, number


def _pairs_of_priors(place: Place, parts: Mapping[str, Place]) -> dict[tuple[str, str], Fraction]:
    if "priors" not in parts:
        raise place.error("pairs of priors need priors", "none", 'Add "priors".')
    names = [name for name, _ in parts["priors"].members()]
    found = [_between(each, lambda end: end.known(names, "prior"), Fraction(1)) for each in place.items()]
    return {(x, y): number for x, y, number in found}


def _priors(place: Place, d: Mapping[str, Dataset], _o: object, _n: int) -> dict[str, dict[str, Fraction]]:
    found = {}
    for name, each in place.members():
        _complete(each, d, "dataset")
        found[name] = each.law(d, "dataset")
    return found


def _secrets(
    place: Place, d: Mapping[str, Dataset], _o: object, _n: int
) -> list[tuple[frozenset[str], frozenset[str]]]:
    sides = [[frozenset(x.known(d, "dataset") for x in side.items()) for side in each.pair()] for each in place.items()]
    return [(a, b) for a, b in sides]


def _kernel(place: Place, d: Mapping[str, Dataset], _o: object, _n: int) -> Kernel:
    return {name: each.law() for name, each in _complete(place, d, "dataset").items()}


def _coupled(place: Place, d: Mapping[str, Dataset], outputs: object, n: int) -> dict[str, Coupling]:
    found = {}
    for name, each in place.members():
        parts = _complete(each, ("aggregate", "private"), "part of a pair (agg, priv)")
        private = {x: v.text() for x, v in _complete(parts["private"], d, "dataset").items()}
        found[name] = Coupling(aggregate=_kernel(parts["aggregate"], d, outputs, n), private=private)
    return found


def _leakage(place: Place, d: Mapping[str, Dataset], outputs: tuple[str, ...], _n: int) -> dict[str, Kernel]:
    return {
        name: {o: law.law() for o, law in _complete(each, outputs, "output").items()}
        for name, each in _complete(place, d, "dataset").items()
    }


def _persons(place: Place, _d: object, _o: object, people: int) -> list[tuple[str, str]]:
    found = []
    for each in place.items():
        parts = dict(each.members())
        if "person" not in parts or not parts.keys() <= {"person", "element"}:
            raise each.error('expected {"person": name, "element": name}', ", ".join(parts))
        found.append((parts["person"].text(), parts["element"].text() if "element" in parts else ""))
    if len(found) != people:
        raise place.error(f"expected one entry for each of {people} positions", len(found))
    return found


def _views(place: Place, d: Mapping[str, Dataset], _o: object, _n: int) -> dict[str, dict[str, Law]]:
    found: dict[str, dict[str, Law]] = {}
    for client, each in place.members():
        rows = {x: row.law() for x, row in _complete(each, d, "dataset").items()}
        seen = tuple(dict.fromkeys(o for row in rows.values() for o in row))
        found[client] = {x: tuple(row.get(o, Fraction(0)) for o in seen) for x, row in rows.items()}
    return found


def _positions(place: Place, people: int) -> frozenset[int]:
    return frozenset(each.position(people) for each in place.items(0))


def _adversaries(place: Place, _d: object, _o: object, people: int) -> list[tuple[int, frozenset[int]]]:
    found = []
    for each in place.items():
        parts = _complete(each, ("target", "known"), "part of an adversary")
        target, known = parts["target"].position(people), _positions(parts["known"], people)
        if target in known:
            raise each.error("an adversary who knows the target has nothing to learn", target)
        found.append((target, known))
    return found


def _by_position(place: Place, people: int) -> dict[int, Place]:
    found = {}
    for name, each in place.members():
        number = Place(name, each.path, each.lines).position(people)
        found[number] = each
    return found


_PARTS: Final[dict[str, Callable[[Place, Any, Any, int], object]]] = {
    "neighbours": _pairs,
    "sensitive": lambda place, *_: frozenset(_present(each) for each in place.items()),
    "policy": lambda place, *_: [tuple(_present(end) for end in each.pair()) for each in place.items()],
    "distance": _distance,
    "levels": lambda place, *_: {name: each.number() for name, each in place.members()},
    "priors": _priors,
    "secrets": _secrets,
    "aggregate": _kernel,
    "coupled": _coupled,
    "leakage": _leakage,
    "background": _kernel,
    "persons": _persons,
    "sampling": lambda place, *_: place.probability(),
    "statistic": lambda place, d, *_: {x: v.number() for x, v in _complete(place, d, "dataset").items()},
    "possible": lambda place, d, *_: frozenset(each.known(d, "dataset") for each in place.items()),
    "dependence": lambda place, _d, _o, n: {i: _positions(each, n) for i, each in _by_position(place, n).items()},
    "adversaries": _adversaries,
    "targets": lambda place, _d, _o, n: [each.position(n) for each in place.items()],
    "functions": lambda place, _d, o, _n: [
        {x: v.number() for x, v in _complete(each, o, "output").items()} for each in place.items()
    ],
    "projection": lambda place, _d, o, _n: {x: v.text() for x, v in _complete(place, o, "output").items()},
    "views": _views,
    "joint_views": _views,
    "clients": lambda place, _d, _o, n: {name: _positions(each, n) for name, each in place.members()},
    "dataset": lambda place, d, *_: place.known(d, "dataset"),
    "position": lambda place, _d, _o, n: place.position(n),
}
