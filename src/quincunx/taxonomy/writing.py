"""A world as the text of a world file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from quincunx.taxonomy.case import Law
from quincunx.taxonomy.dataset import Dataset, Record


def write(parts: Mapping[str, Any]) -> str:
    """JSON that `World.from_json` reads back, from the fields of a world."""
    data: dict[str, object] = {
        "datasets": {name: _dataset(records) for name, records in parts["datasets"].items()},
        "laws": {name: _law(law, parts["outputs"]) for name, law in parts["laws"].items()},
    }
    for part, shape in _SHAPES.items():
        value = parts[part]
        if value is not None:
            data[part] = shape(value)
    return json.dumps(data, ensure_ascii=False, indent=1)


def _record(record: Record | None) -> object:
    return list(record) if isinstance(record, tuple) else record


def _dataset(records: Dataset) -> list[object]:
    return [_record(each) for each in records]


def _law(law: Law, outputs: tuple[str, ...]) -> dict[str, str]:
    # Zeros keep the order of outputs, and outputs that no dataset reaches.
    return {o: str(p) for o, p in zip(outputs, law, strict=True)}


def _plain(value: Any) -> object:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, frozenset):
        return sorted((_plain(v) for v in value), key=str)
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _measured(value: Mapping[tuple[str, str], Fraction]) -> object:
    seen, found = set(), []
    for (x, y), number in value.items():
        if (y, x) not in seen:
            seen.add((x, y))
            found.append({"between": [x, y], "distance": str(number)})
    return found


def _views(value: Mapping[str, Mapping[str, Law]]) -> object:
    return {
        client: {x: {str(i): str(p) for i, p in enumerate(law)} for x, law in laws.items()}
        for client, laws in value.items()
    }


_SHAPES: Final[dict[str, Callable[[Any], object]]] = {
    "neighbours": _plain,
    "sensitive": lambda v: sorted((_record(r) for r in v), key=str),
    "policy": lambda v: [[_record(a), _record(b)] for a, b in v],
    "distance": _measured,
    "levels": _plain,
    "priors": _plain,
    "pairs_of_priors": _measured,
    "secrets": _plain,
    "aggregate": _plain,
    "coupled": lambda v: {k: {"aggregate": _plain(c.aggregate), "private": _plain(c.private)} for k, c in v.items()},
    "leakage": _plain,
    "background": _plain,
    "persons": lambda v: [{"person": p, "element": e} for p, e in v],
    "sampling": _plain,
    "statistic": _plain,
    "possible": _plain,
    "dependence": _plain,
    "adversaries": lambda v: [{"target": t, "known": sorted(k)} for t, k in v],
    "targets": _plain,
    "functions": _plain,
    "projection": _plain,
    "views": _views,
    "joint_views": _views,
    "clients": _plain,
    "dataset": _plain,
    "position": _plain,
}
