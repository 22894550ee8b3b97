"""A world: datasets, the law of the output for each, and what else the definitions speak about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path

from quincunx.errors import WorldError
from quincunx.finite import Mechanism
from quincunx.taxonomy.case import Law
from quincunx.taxonomy.dataset import Coupling, Dataset, Kernel, Record
from quincunx.taxonomy.reading import parse, parts, read
from quincunx.taxonomy.writing import write


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """datasets: name → records, all of one length, None where a record is absent. laws: name → the law of the output.

    Everything else may be missing: `neighbours` pairs of names; `sensitive` records; `policy` pairs of records;
    `distance` (name, name) → number; `levels` position or name → ε; `priors` name → law on datasets;
    `pairs_of_priors` (prior, prior) → distance; `secrets` pairs of sets of names; `aggregate` kernel from datasets to
    labels; `coupled` pairs (agg, priv); `leakage` name → output → law of the leaked label; `background` kernel of what
    leaks beforehand; `persons` (person, element) of each position; `sampling` the rate; `statistic` name → number;
    `possible` names; `dependence` position → positions that may move along; `adversaries` (target, known positions);
    `targets` positions that are protected; `functions` of outputs; `projection` output → label; `views` client →
    its laws; `joint_views` client → the laws of what all others see; `clients` client → positions; `dataset` and
    `position`: the ones that individual and per-instance definitions protect.
    """

    datasets: Mapping[str, Dataset]
    outputs: tuple[str, ...]
    laws: Mapping[str, Law]
    neighbours: Sequence[tuple[str, str]] | None = None
    sensitive: frozenset[Record] | None = None
    policy: Sequence[tuple[Record, Record]] | None = None
    distance: Mapping[tuple[str, str], Fraction] | None = None
    levels: Mapping[str, Fraction] | None = None
    priors: Mapping[str, Mapping[str, Fraction]] | None = None
    pairs_of_priors: Mapping[tuple[str, str], Fraction] | None = None
    secrets: Sequence[tuple[frozenset[str], frozenset[str]]] | None = None
    aggregate: Kernel | None = None
    coupled: Mapping[str, Coupling] | None = None
    leakage: Mapping[str, Kernel] | None = None
    background: Kernel | None = None
    persons: Sequence[tuple[str, str]] | None = None
    sampling: Fraction | None = None
    statistic: Mapping[str, Fraction] | None = None
    possible: frozenset[str] | None = None
    dependence: Mapping[int, frozenset[int]] | None = None
    adversaries: Sequence[tuple[int, frozenset[int]]] | None = None
    targets: Sequence[int] | None = None
    functions: Sequence[Mapping[str, Fraction]] | None = None
    projection: Mapping[str, str] | None = None
    views: Mapping[str, Mapping[str, Law]] | None = None
    joint_views: Mapping[str, Mapping[str, Law]] | None = None
    clients: Mapping[str, frozenset[int]] | None = None
    dataset: str | None = None
    position: int | None = None
    _names: Mapping[Dataset, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", {records: name for name, records in self.datasets.items()})

    @property
    def people(self) -> int:
        """n, how many positions a dataset has."""
        return len(next(iter(self.datasets.values())))

    @property
    def protected(self) -> Sequence[int]:
        """The positions that definitions about one record protect: all, or `targets`."""
        return range(self.people) if self.targets is None else self.targets

    def name(self, records: Dataset) -> str | None:
        """The dataset with these records, None if the world has none."""
        return self._names.get(records)

    def changed(self, name: str, position: int, record: Record | None) -> str | None:
        """The dataset in which the record at a position is another; None where the world has none."""
        records = self.datasets[name]
        return self.name((*records[:position], record, *records[position + 1 :]))

    def needed(self, part: str, why: str) -> object:
        """A part of the world, or an error that says for what it is needed."""
        value = getattr(self, part)
        if value is None:
            hint = f'Add "{part}" to the world file.'
            raise WorldError(f"the world does not say what {why} needs", where=part, got="nothing", hint=hint)
        return value

    def mechanism(self) -> Mechanism:
        """The laws as a finite mechanism."""
        return Mechanism({x: dict(zip(self.outputs, law, strict=True)) for x, law in self.laws.items()})

    @classmethod
    def of(cls, mechanism: Mechanism) -> World:
        """Every input is one person's record, and every record may be replaced by every other."""
        rows = {str(x): {str(o): p for o, p in row.items()} for x, row in mechanism.table().items()}
        return build({"laws": rows})

    @classmethod
    def from_json(cls, text: str) -> World:
        """From the text of a world file."""
        return cls(**parse(text))

    @classmethod
    def read(cls, path: str | Path) -> World:
        """From a file: CSV with input, output, probability, or JSON."""
        return cls(**read(Path(path)))

    def to_json(self) -> str:
        """The text of a world file."""
        return write({each.name: getattr(self, each.name) for each in fields(self) if each.init})


def build(data: Mapping[str, object]) -> World:
    """The world that parsed JSON describes."""
    return World(**parts(data, {}))
