"""The plan file: a dataset, its specification, its tables and what is to be released, as TOML.

Reading it opens no table and asks nobody anything: that is what `Session.open` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

from quincunx.data import check_local
from quincunx.errors import QuincunxError, kind_of, under
from quincunx.ledger import Budgets, Ledger
from quincunx.numbers import Exact, Number, delta_parameter, non_negative, number, positive, probability
from quincunx.release.invariants import read_invariants
from quincunx.release.tidy import read_tidy
from quincunx.release.toml import Node, placed, read_toml
from quincunx.spec import STANDARDS, AddRemove, Budgeted, Replace, is_budgeted
from quincunx.table import ENGINES, KeptFile, Limits, Postgres, Spark, Table, question_limits
from quincunx.table.declaration import FIELDS, LIMITS, LINK

_TOP: Final = (
    "dataset", "version", "ledger", "engine", "snapshot", "confidence", "spec", "budgets", "tables", "release",
)  # fmt: skip
_SPEC: Final = ("unit", "standard", "intensity", "invariants")
_AUTO: Final[Literal["auto"]] = "auto"
_ENTRY: Final = ("name", "sql", "spend", "share", "within", "assume", "weights", "delta", "tidy", "limits")
_WRITTEN: Final = ("encoding", "separator", "decimal", "thousands")
_CLUSTER: Final = ("master", "scratch")
_WAYS: Final = ("spend", "share", "within")
# The parameters that a standard has no default for, with an example; how each is read and written.
_NEEDED: Final[Mapping[str, Mapping[str, str]]] = {"approximate": {"delta": "1e-9"}, "renyi": {"alpha": "4"}}
_NUMBERS: Final[Mapping[str, Callable[[object, str], Fraction]]] = {"delta": delta_parameter, "alpha": positive}
_SIGNS: Final = {"delta": "δ", "alpha": "α"}
_CALLED: Final = {"pure": "pure privacy", "gaussian": "Gaussian privacy"}
_NAME: Final = re.compile(r"[\w][\w .-]{0,99}")
# What Windows reserves, so that a folder of releases can be copied anywhere.
_RESERVED: Final = frozenset({"con", "prn", "aux", "nul", "summary"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEntry:
    """[tables.NAME]: source (absolute path, or a table of a database or a cluster), limits, columns, owner, public;
    written: how a CSV file is, its encoding and marks; `node` knows the lines.
    """

    source: Path | Postgres | Spark = field(repr=False)
    limits: Mapping[str, object] | Literal["auto"]
    columns: Mapping[str, Mapping[str, Any]]
    owner: Mapping[str, str] | None
    public: bool
    written: Mapping[str, str]
    node: Node = field(repr=False)

    def open(self) -> Table:
        """The table, opened: its columns are known, and no row was read."""
        with under(*self.node.path):
            return Table(
                str(self.source) if isinstance(self.source, Path) else self.source,
                limits=self.limits,
                columns=self.columns,
                owner=self.owner,
                public=self.public,
                **self.written,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseEntry:
    """One [[release]]: exactly one of spend (exact), share (a proportion of what remains) and within (output name →
    half-width) is not None. assume: the rows of a group, for within. weights: output name → its part of the spend.
    delta: 0 where none is stated. limits: for this release alone.
    """

    name: str
    sql: str
    spend: Fraction | None
    share: Fraction | None
    within: Mapping[str, Fraction] | None
    assume: Mapping[str, Fraction] | None
    weights: Mapping[str, Fraction] | None
    delta: Fraction
    tidy: tuple[str, ...]
    limits: Limits | None
    node: Node = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """A plan, read and checked as far as no table is needed. Paths are absolute, and in no repr.

    snapshot: whether private tables are read once, or the file in which they rest; None where the plan does not say.
    """

    file: Path = field(repr=False)
    dataset: str
    version: str
    ledger: str = field(repr=False)
    snapshot: bool | str | None = field(repr=False)
    confidence: Fraction
    unit: AddRemove | Replace
    standard: Budgeted
    intensity: Exact
    invariants: Mapping[str, str]
    budgets: Budgets
    tables: Mapping[str, TableEntry]
    releases: tuple[ReleaseEntry, ...]
    node: Node = field(repr=False)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors get the line that their path leads to in front; the first line where they have no path."""
        try:
            yield
        except QuincunxError as error:
            node = self.node.at(error.path)
            raise placed(error, node.place if node.path else f"{node.file}:1") from None


def read_plan(path: str | Path) -> PlanFile:
    """The plan in a file. Every error says file and line."""
    file = Path(path)
    root = read_toml(file)
    top = root.members(_TOP)
    for name, example in (
        ("dataset", 'dataset = "visits-2024"'),
        ("version", 'version = "1"'),
        ("ledger", 'ledger = "ledger.db"; ":memory:" forgets everything at the end and must be typed'),
        ("spec", "[spec] with unit, standard and intensity; none of them has a default"),
        ("tables", '[tables.visits] with source = "visits.parquet"'),
    ):
        if name not in top:
            raise root.wrong(f"{name} is missing", hint=f"Write {example}.")
    cluster = _engine(top["engine"]) if "engine" in top else {}
    spec = top["spec"].members(_SPEC)
    for name in ("unit", "standard", "intensity"):
        if name not in spec:
            raise top["spec"].wrong(f"{name} is missing", hint="The guarantee has no default in any of its parts.")
    unit, standard = _unit(spec["unit"]), _standard(spec["standard"])
    intensity = spec["intensity"].number(number)
    with spec["intensity"].located():
        standard.check(intensity)
    confidence = top["confidence"].number(probability) if "confidence" in top else Fraction(95, 100)
    if not 0 < confidence < 1:
        raise top["confidence"].wrong("must be between 0 and 1, both excluded", got=str(confidence))
    ledger = top["ledger"].text()
    invariants = _invariants(spec["invariants"]) if "invariants" in spec else {}
    releases = _releases(top["release"]) if "release" in top else ()
    for entry in releases:
        if entry.name.lower() in {name.lower() for name in invariants}:
            raise entry.node.child("name").wrong("an invariant has this name", got=repr(entry.name))
    return PlanFile(
        file=file.absolute(),
        dataset=top["dataset"].text(),
        version=_version(top["version"]),
        ledger=Ledger.beside(file.absolute().parent, ledger),
        snapshot=_snapshot(top["snapshot"], file.absolute().parent) if "snapshot" in top else None,
        confidence=confidence,
        unit=unit,
        standard=standard,
        intensity=intensity,
        invariants=invariants,
        budgets=_budgets(top["budgets"]) if "budgets" in top else {},
        tables={name: _table(node, file, cluster) for name, node in top["tables"].members().items()},
        releases=releases,
        node=root,
    )


def _snapshot(node: Node, folder: Path) -> bool | str:
    """true, false, or a file beside the plan."""
    if not isinstance(node.value, str):
        return node.flag()
    if not node.value.endswith(KeptFile.ENDING):
        hint = f'Write true, false, or the name of a file, "visits{KeptFile.ENDING}".'
        raise node.wrong("neither true nor false, nor the name of a snapshot", got=repr(node.value)[:40], hint=hint)
    return str(folder / node.value)


def _invariants(node: Node) -> dict[str, str]:
    """SQL texts, or { name = …, sql = … }; the name becomes a file's."""
    for each in node.elements():
        if isinstance(each.value, Mapping):
            parts = each.members(("name", "sql"))
            for part in ("name", "sql"):
                if part not in parts:
                    raise each.wrong(f"{part} is missing")
            _file_name(parts["name"])
        else:
            each.text()
    with node.located():
        return read_invariants(node.value)


def _version(node: Node) -> str:
    # A version typed as a number would be another name in another notation.
    if not isinstance(node.value, str):
        raise node.wrong("expected a text", got=kind_of(node.value), hint='Write version = "1".')
    return node.text()


def _engine(node: Node) -> dict[str, str]:
    """What is said of the cluster on which Spark runs."""
    parts = node.members(("kind", *_CLUSTER))
    kind = parts.pop("kind", None)
    if kind is None or kind.text() not in ENGINES:
        known = " or ".join(f'{{ kind = "{name}" }}' for name in ENGINES)
        raise node.wrong("unknown engine", got=repr(node.value.get("kind")), hint=f"Write {known}.")
    for name, part in parts.items():
        if kind.text() != "spark":
            raise part.wrong(f"only Spark has {name}", got=kind.text(), hint="Leave it out.")
    return {name: part.text() for name, part in parts.items()}


def _unit(node: Node) -> AddRemove | Replace:
    parts = node.members(("kind", "key", "per", "group"))
    kinds: dict[str | None, type[AddRemove] | type[Replace]] = {"add-remove": AddRemove, "replace": Replace}
    kind = parts["kind"].text() if "kind" in parts else None
    if kind not in kinds:
        hint = 'Write { kind = "add-remove", key = "person_id" }, or kind = "replace".'
        raise parts.get("kind", node).wrong("unknown unit of protection", got=repr(kind), hint=hint)
    given = {name: part.value for name, part in parts.items() if name != "kind"}
    with node.located():
        return kinds[kind](**given)


def _standard(node: Node) -> Budgeted:
    parts = node.members(("kind", "delta", "alpha"))
    kind = parts["kind"].text() if "kind" in parts else None
    found = STANDARDS.get(kind or "")
    if found is None or found.norm is None:
        hint = 'Write { kind = "zcdp" }, { kind = "pure" } or { kind = "approximate", delta = "1e-9" }.'
        raise parts.get("kind", node).wrong("unknown standard", got=repr(kind), hint=hint)
    for name, needed in _NEEDED.get(found.kind, {}).items():
        if name not in parts:
            raise node.wrong(f"{name} is missing", hint=f'Write {{ kind = "{kind}", {name} = "{needed}" }}.')
    given = {name: part.number(_NUMBERS[name]) for name, part in parts.items() if name != "kind"}
    for name in given:
        if name not in found.parameters:
            hint = 'Take kind = "approximate", or leave delta out.' if name == "delta" else "Leave it out."
            raise parts[name].wrong(f"{_CALLED.get(found.kind, kind)} has no {_SIGNS[name]}", hint=hint)
    with node.located():
        made = found(**given)
    if not is_budgeted(made):
        raise node.wrong("no budget is kept in this standard", got=repr(kind))
    return made


def _budgets(node: Node) -> Budgets:
    parts = node.members(("plan", "analyst", "smallest_spend"))
    found: dict[str, Number | Mapping[str, Number]] = {}
    if "plan" in parts:
        found["plan"] = parts["plan"].number(non_negative)
    if "smallest_spend" in parts:
        found["smallest_spend"] = parts["smallest_spend"].number(positive)
    if "analyst" in parts:
        found["analysts"] = {name: part.number(non_negative) for name, part in parts["analyst"].members().items()}
    return found


def _table(node: Node, file: Path, cluster: Mapping[str, str]) -> TableEntry:
    parts = node.members(("source", "public", "limits", "columns", "owner", *_WRITTEN))
    if "source" not in parts:
        raise node.wrong("source is missing", hint='Write source = "visits.parquet", relative to the plan.')
    limits = _table_limits(parts["limits"]) if "limits" in parts else {}
    columns = parts["columns"].members() if "columns" in parts else {}
    for column in columns.values():
        column.members(FIELDS)
    owner = parts["owner"].members(LINK) if "owner" in parts else None
    return TableEntry(
        source=_source(parts["source"], file, cluster),
        limits=limits,
        columns={name: column.value for name, column in columns.items()},
        owner=None if owner is None else {name: part.text() for name, part in owner.items()},
        public=parts["public"].flag() if "public" in parts else False,
        written={name: parts[name].text() for name in _WRITTEN if name in parts},
        node=node,
    )


def _source(node: Node, file: Path, cluster: Mapping[str, str]) -> Path | Postgres | Spark:
    """A file, beside the plan where its path does not say otherwise, or a table of a database or a cluster."""
    if not isinstance(node.value, Mapping):
        with node.located():
            check_local(node.text())
        return file.absolute().parent / node.text()
    parts = node.members(("postgres", "table", "spark"))
    if "spark" in parts:
        for name in ("postgres", "table"):
            if name in parts:
                raise parts[name].wrong("a table is in one place", hint='Write { spark = "clinic.visits" }.')
        with node.located():
            return Spark(parts["spark"].text(), **cluster)
    for name in ("postgres", "table"):
        if name not in parts:
            hint = 'Write { postgres = "service=clinic", table = "public.visits" }.'
            raise node.wrong(f"{name} is missing", hint=hint)
    with node.located():
        return Postgres(parts["postgres"].text(), table=parts["table"].text())


def _releases(node: Node) -> tuple[ReleaseEntry, ...]:
    entries = [_release(each) for each in node.elements()]
    seen: set[str] = set()
    for entry in entries:
        # File names are compared without case on many disks.
        if entry.name.lower() in seen:
            raise entry.node.child("name").wrong("two releases have this name", got=repr(entry.name))
        seen.add(entry.name.lower())
    return tuple(entries)


def _table_limits(node: Node) -> Mapping[str, object] | Literal["auto"]:
    if node.value == _AUTO:
        return _AUTO
    found = node.members(LIMITS)
    for name, limit in found.items():
        # How many rows count may be chosen: "auto", or { auto = { to = 1000 } }.
        if name != "rows" or not (limit.value == _AUTO or isinstance(limit.value, Mapping)):
            limit.expect(int)
    return {name: limit.value for name, limit in found.items()}


def _limits(node: Node | None) -> Limits | None:
    """Limits of one release."""
    if node is None:
        return None
    with node.located():
        if node.value == _AUTO:
            return question_limits(_AUTO)
        return question_limits({name: part.value for name, part in node.members().items()})


def _file_name(node: Node) -> str:
    name = node.text()
    if not _NAME.fullmatch(name) or name.endswith((".", " ")) or name.lower() in _RESERVED:
        hint = "It becomes a file's name: letters, digits, _ and -."
        raise node.wrong("cannot be the name of a file", got=repr(name), hint=hint)
    return name


def _release(node: Node) -> ReleaseEntry:
    parts = node.members(_ENTRY)
    for name in ("name", "sql"):
        if name not in parts:
            raise node.wrong(f"{name} is missing")
    ways = [parts[way] for way in _WAYS if way in parts]
    if len(ways) != 1:
        got = " and ".join(way for way in _WAYS if way in parts) or "none of them"
        raise node.wrong("exactly one of spend, share and within says what it may cost", got=got)
    name = _file_name(parts["name"])
    within, weights = (parts[each].members() if each in parts else None for each in ("within", "weights"))
    assume = parts["assume"].members(("rows",)) if "assume" in parts else None
    tidy = parts.get("tidy")
    if tidy is not None:
        with tidy.located():
            read_tidy([each.text() for each in tidy.elements()])
    return ReleaseEntry(
        name=name,
        sql=parts["sql"].text(),
        spend=parts["spend"].number(positive) if "spend" in parts else None,
        share=parts["share"].number(positive) if "share" in parts else None,
        within=None if within is None else {key: half.number(positive) for key, half in within.items()},
        assume=None if assume is None else {key: part.number(positive) for key, part in assume.items()},
        weights=None if weights is None else {key: part.number(positive) for key, part in weights.items()},
        delta=parts["delta"].number(delta_parameter) if "delta" in parts else Fraction(0),
        tidy=() if tidy is None else tuple(tidy.value),
        limits=_limits(parts.get("limits")),
        node=node,
    )
