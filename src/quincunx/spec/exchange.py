"""A specification as JSON text, under a published JSON Schema.

The reader interprets the schema file itself, so what is published is what is enforced. It knows the few keywords that
the file uses and refuses a schema with any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from quincunx.errors import InputError, SpecificationError, kind_of
from quincunx.spec import domain, intensity, scope, standard, unit
from quincunx.spec.blocks import Blocks

Built = TypeVar("Built", bound=Blocks)

VERSION: Final = "quincunx/specification/1"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_TALK: Final = {"$schema", "$id", "$defs", "title", "description"}


def schema() -> dict[str, object]:
    """The JSON Schema (draft 2020-12), a fresh copy."""
    data: dict[str, object] = json.loads(_schema_text())
    return data


@cache
def _schema_text() -> str:
    return Path(__file__).with_name("specification.schema.json").read_text(encoding="utf-8")


def to_dict(spec: Blocks) -> dict[str, object]:
    """The specification as what JSON is made of: dicts, lists, texts and whole numbers."""
    return {
        "version": VERSION,
        "domain": spec.domain.to_json(),
        "scope": spec.scope.to_json(),
        "unit": spec.unit.to_json(),
        "standard": spec.standard.to_json(),
        "intensity": intensity.to_json(spec.intensity),
    }


def to_json(spec: Blocks) -> str:
    """The specification as JSON text."""
    return json.dumps(to_dict(spec), ensure_ascii=False, indent=2)


def from_json(text: str, build: Callable[..., Built]) -> Built:
    """`build(domain=…, …)` of the five blocks. Whatever does not fit the schema is refused, with its place."""
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError, TypeError) as error:
        if isinstance(error, SpecificationError):
            raise
        hint = "Pass the text that Specification.to_json() wrote."
        raise SpecificationError("this is not JSON", where="from_json", got=kind_of(text), hint=hint) from None
    found = schema()
    _check(data, found, found, "specification")
    try:
        return build(
            domain=domain.from_json(data["domain"]),
            scope=scope.from_json(data["scope"]),
            unit=unit.from_json(data["unit"]),
            standard=standard.from_json(data["standard"]),
            intensity=intensity.from_json(data["intensity"]),
        )
    except SpecificationError:
        raise
    except InputError as error:
        raise SpecificationError(error.what, where=error.where, got=error.got, hint=error.hint) from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise SpecificationError("a key occurs twice in one object", where="from_json", got="duplicate keys")
    return data


def _no_constant(name: str) -> object:
    raise SpecificationError("only finite numbers can be stored", where="from_json", got=name)


def _check(data: object, rule: Mapping[str, Any], root: Mapping[str, Any], where: str) -> None:
    """Raise SpecificationError unless `data` fits `rule`."""
    for keyword, value in rule.items():
        if keyword not in _TALK:
            _KEYWORDS[keyword](data, value, rule, root, where)


def _ref(data: object, value: str, _rule: object, root: Mapping[str, Any], where: str) -> None:
    _check(data, root["$defs"][value.removeprefix("#/$defs/")], root, where)


def _type(data: object, value: str, _rule: object, _root: object, where: str) -> None:
    # In Python True is an integer; in JSON it is not.
    if not isinstance(data, _TYPES[value]) or (isinstance(data, bool) and value != "boolean"):
        raise SpecificationError(f"expected {value}", where=where, got=kind_of(data))


def _const(data: object, value: object, _rule: object, _root: object, where: str) -> None:
    if data != value:
        raise SpecificationError(f"expected {value!r}", where=where, got=repr(data)[:60])


def _enum(data: object, value: list[object], _rule: object, _root: object, where: str) -> None:
    if data not in value:
        raise SpecificationError("unknown word", where=where, got=repr(data)[:60], hint=f"Choose among {value}.")


def _pattern(data: object, value: str, _rule: object, _root: object, where: str) -> None:
    if isinstance(data, str) and not re.search(value, data):
        raise SpecificationError("cannot read this text", where=where, got=repr(data)[:60])


def _minimum(data: object, value: int, _rule: object, _root: object, where: str) -> None:
    if isinstance(data, int) and data < value:
        raise SpecificationError(f"must be at least {value}", where=where, got=str(data))


def _least_length(data: object, value: int, _rule: object, _root: object, where: str) -> None:
    if isinstance(data, list | str | dict) and len(data) < value:
        raise SpecificationError(f"needs at least {value} entries", where=where, got=str(len(data)))


def _most_length(data: object, value: int, _rule: object, _root: object, where: str) -> None:
    if isinstance(data, list | str | dict) and len(data) > value:
        raise SpecificationError(f"takes at most {value} entries", where=where, got=str(len(data)))


def _items(data: object, value: Mapping[str, Any], _rule: object, root: Mapping[str, Any], where: str) -> None:
    for i, item in enumerate(data if isinstance(data, list) else ()):
        _check(item, value, root, f"{where}[{i}]")


def _required(data: object, value: list[str], _rule: object, _root: object, where: str) -> None:
    missing = [name for name in value if isinstance(data, dict) and name not in data]
    if missing:
        raise SpecificationError("something is missing", where=where, got=f"no {', '.join(missing)}")


def _properties(data: object, value: Mapping[str, Any], _rule: object, root: Mapping[str, Any], where: str) -> None:
    for name, item in data.items() if isinstance(data, dict) else ():
        if name in value:
            _check(item, value[name], root, f"{where}.{name}")


def _additional(data: object, value: Any, rule: Mapping[str, Any], root: Mapping[str, Any], where: str) -> None:
    for name, item in data.items() if isinstance(data, dict) else ():
        if name in rule.get("properties", ()):
            continue
        if value is False:
            hint = "A key that this version does not know might change the meaning, so it is refused."
            raise SpecificationError("unknown key", where=where, got=repr(name)[:60], hint=hint)
        _check(item, value, root, f"{where}.{name}")


def _one_of(data: object, value: list[Mapping[str, Any]], _rule: object, root: Mapping[str, Any], where: str) -> None:
    errors = []
    for choice in value:
        rule = root["$defs"][choice["$ref"].removeprefix("#/$defs/")] if "$ref" in choice else choice
        try:
            _check(data, rule, root, where)
        except SpecificationError as error:
            # An alternative of the right kind explains best what is wrong.
            kind = rule.get("properties", {}).get("kind", {}).get("const")
            errors.append((isinstance(data, dict) and kind is not None and data.get("kind") == kind, error))
        else:
            return
    meant = [error for fits, error in errors if fits]
    if meant:
        raise meant[0]
    got = repr(data.get("kind"))[:60] if isinstance(data, dict) and "kind" in data else type(data).__name__
    raise SpecificationError("fits none of the known forms", where=where, got=got)


_KEYWORDS: Final[dict[str, Any]] = {
    "$ref": _ref,
    "type": _type,
    "const": _const,
    "enum": _enum,
    "pattern": _pattern,
    "minimum": _minimum,
    "minItems": _least_length,
    "maxItems": _most_length,
    "minLength": _least_length,
    "minProperties": _least_length,
    "items": _items,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "oneOf": _one_of,
}
