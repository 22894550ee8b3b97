"""Values that readers choke on, by type, and the sources that can hold them."""

from __future__ import annotations

import gzip
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_from_bytes

Maker = Callable[[bool], object]
# What is not UTF-8: a stray byte, a surrogate, an overlong form, beyond Unicode, cut short; and odd but valid texts.
_BYTES: Final = {
    "a stray byte": b"a\xffb",
    "a surrogate": b"\xed\xa0\x80",
    "an overlong form": b"\xc0\x80",
    "beyond Unicode": b"\xf4\x90\x80\x80",
    "cut short": b"ab\xe2\x82",
    "no character": "\ufffe".encode(),
    "a zero byte": b"a\0b",
    "a long text": b"x" * 70_000,
    "a long text that is none": b"\xff" * 70_000,
}
# The ends of 64 bits, a product that overflows, and seconds outside the years 1 to 9999.
_MOMENTS: Final = (2**62, 2**63 - 1, -(2**63), 253_402_300_800, -62_135_596_801)
_DAYS: Final = (2**31 - 1, -(2**31), 2_932_897, -719_163)
_ALL: Final = ("arrow", "pandas", "polars", "duckdb", "parquet")
# What is read as one of these is, in several parts: tried with the types that have a way of their own.
_MORE: Final = ("arrow-reader", "parquet-folder")
# What is tried in every way to write a CSV file; kind of CSV file → how it is written.
_ODD: Final = ("a stray byte", "a surrogate", "a zero byte")
_CSV: Final[Mapping[str, Mapping[str, str]]] = {
    "csv": {},
    "csv-semicolon": {"separator": ";"},
    "csv-gzip": {},
    "csv-latin-1": {"encoding": "latin-1", "separator": "\t"},
    "csv-utf-16": {"encoding": "utf-16", "separator": "|"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """One hostile value. asked: which questions fit. column: what is declared. makers: kind → a table with or without.

    owns: whether the column may say whose a row is. written: how a CSV file is, as it is declared.
    """

    name: str
    type: str
    asked: str
    makers: Callable[[Path], Mapping[str, Maker]]
    column: Mapping[str, object] = field(default_factory=dict)
    owns: bool = False
    written: Mapping[str, str] = field(default_factory=dict)


def columns() -> Iterator[Hostile]:
    """Hostile values of Arrow's types, in every kind of source that can be made from an Arrow table."""
    yield from _text_columns()
    yield from _time_columns()
    yield from _number_columns()


def _text_columns() -> Iterator[Hostile]:
    pa = import_module("pyarrow")
    for name, value in _BYTES.items():
        for kind in (pa.string(), pa.large_string(), pa.string_view()):
            kinds = (*_ALL, *(_MORE if kind == pa.string() else ()))
            yield _arrow(f"{kind}, {name}", _texts(kind, value), "text", owns=True, kinds=kinds)
        kinds = (*_ALL, "polars-lazy")
        yield _arrow(f"dictionary, {name}", _dictionary(value), "text", owns=True, kinds=kinds)
        for kind, written in _CSV.items():
            if not written or name in _ODD:
                yield _csv(name, value, kind, written)
        yield _folders(name, value)


def _time_columns() -> Iterator[Hostile]:
    pa = import_module("pyarrow")
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "Europe/Paris"):
            # Polars has no seconds: it multiplies them itself, and overflows.
            kinds = tuple(each for each in _ALL if unit != "s" or each != "polars")
            for value in _MOMENTS:
                kind = pa.timestamp(unit, zone)
                some = (*kinds, *_MORE) if (unit, zone) == ("ms", None) else kinds
                yield _arrow(f"{kind}, {value}", _whole(kind, value), "timestamp", owns=unit == "ms", kinds=some)
    for value in _DAYS:
        yield _arrow(f"date32, {value}", _whole(pa.date32(), value, "i"), "date")
    for value in _MOMENTS:
        # Polars makes moments of them.
        kinds = tuple(each for each in _ALL if each != "polars")
        yield _arrow(f"date64, {value}", _whole(pa.date64(), value), "date", kinds=kinds)


def _number_columns() -> Iterator[Hostile]:
    pa = import_module("pyarrow")
    bounds = {"bounds": (-10, 10), "step": "0.5"}
    for digits in (2**127 - 1, -(2**127), 10**10, 10**38 - 1):
        # Others cut the digits off when they take the column over.
        yield _arrow(
            f"decimal, {digits}", _decimal(digits), "number", bounds, kinds=("arrow", "arrow-reader", "pandas")
        )
    reals: dict[Any, tuple[float, ...]] = {
        pa.float64(): (float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1.7e308),
        pa.float32(): (float("nan"), float("inf"), 3.4e38),
        pa.float16(): (float("inf"), 65504.0),
    }
    for kind, values in reals.items():
        for real in values:
            yield _arrow(f"{kind}, {real}", _numbers(kind, real), "number", bounds)
    wholes = {pa.int64(): (2**63 - 1, -(2**63)), pa.uint64(): (2**64 - 1,), pa.int8(): (-128,)}
    for kind, ends in wholes.items():
        for whole in ends:
            yield _arrow(f"{kind}, {whole}", _numbers(kind, whole), "number", {"bounds": (-10, 10)}, owns=True)
    yield _arrow("decimal256", _wide, "number", bounds, kinds=("arrow", "pandas", "parquet"))
    for numeral in ("1.5", "1,2,3", ".", ",", "", "1.234.56,7", "9" * 400, "1e9999", "nan", "\ufdd0", "1,5\\0", "٣"):
        yield _numerals(numeral)
    yield _arrow("boolean, missing", _numbers(pa.bool_(), None), "boolean")


def objects() -> Iterator[Hostile]:
    """Hostile values of pandas' own types."""
    pd = import_module("pandas")
    python, text = pd.StringDtype("python"), {"type": "text"}
    for name, value in {"a surrogate": "\ud800", "a long text": "x" * 70_000, "a zero byte": "a\0b"}.items():
        yield _one(f"string[python], {name}", "text", _objects(value, python), owns=True)
        yield _one(f"object, {name}", "text", _objects(value, "object"), text, owns=True)
    things = {"refuses": _Refuses(), "bytes": b"\xff", "a list": [1], "not a number": Decimal("sNaN")}
    for name, thing in things.items():
        yield _one(f"object, {name}", "text", _objects(thing, "object"), text, owns=True)
    yield _one("category, a surrogate", "text", _category, owns=True)
    for unit in ("s", "ms", "us", "ns"):
        for moment in _MOMENTS:
            yield _one(f"datetime64[{unit}], {moment}", "timestamp", _moments(unit, moment, None))
            yield _one(f"datetime64[{unit}, UTC], {moment}", "timestamp", _moments(unit, moment, "UTC"))


def _objects(value: object, dtype: Any) -> Maker:
    def make(hostile: bool) -> object:
        held = ["a", "b", "c", *([value] if hostile else [])]
        return _pandas(hostile, import_module("pandas").Series(held, dtype=dtype))

    return make


def _category(hostile: bool) -> object:
    pd = import_module("pandas")
    names = pd.Index(["a", "b", "c", *(["\ud800"] if hostile else [])], dtype="object")
    return _pandas(hostile, pd.Series(pd.Categorical.from_codes(list(range(4 if hostile else 3)), names)))


def _moments(unit: str, value: int, zone: str | None) -> Maker:
    def make(hostile: bool) -> object:
        pd, np = import_module("pandas"), import_module("numpy")
        held = np.array([1, 2, 3, *([value] if hostile else [])], dtype=np.int64).view(f"datetime64[{unit}]")
        return _pandas(hostile, pd.Series(held if zone is None else pd.DatetimeIndex(held).tz_localize(zone)))

    return make


class _Refuses:
    """An object that is no text, and says so with an error that holds a value."""

    def __str__(self) -> str:
        raise ValueError("canary")


def _one(
    name: str, asked: str, make: Maker, column: Mapping[str, object] | None = None, *, owns: bool = False
) -> Hostile:
    kind = name.partition(",")[0]
    return Hostile(
        name=f"pandas {name}", type=kind, asked=asked, makers=lambda _: {"pandas": make}, column=column or {}, owns=owns
    )


def _pandas(hostile: bool, column: Any) -> object:
    pd = import_module("pandas")
    people = 4 if hostile else 3
    return pd.DataFrame({"p": range(people), "v": [1, 2, 3, 1][:people], "x": column})


def _arrow(
    name: str,
    column: Callable[[bool], Any],
    asked: str,
    declared: Mapping[str, object] | None = None,
    *,
    owns: bool = False,
    kinds: Sequence[str] = _ALL,
) -> Hostile:
    """A column of Arrow, and what other libraries make of the same table."""
    pa = import_module("pyarrow")

    def table(hostile: bool) -> Any:
        people = 4 if hostile else 3
        return pa.table({"p": list(range(people)), "v": [1, 2, 3, 1][:people], "x": column(hostile)})

    def makers(folder: Path) -> Mapping[str, Maker]:
        known: dict[str, Maker] = {
            "arrow": table,
            "arrow-reader": lambda hostile: table(hostile).to_reader(max_chunksize=2),
            "pandas": lambda hostile: table(hostile).to_pandas(types_mapper=import_module("pandas").ArrowDtype),
            "polars": lambda hostile: import_module("polars").from_arrow(table(hostile)),
            "polars-lazy": lambda hostile: import_module("polars").from_arrow(table(hostile)).lazy(),
            "duckdb": lambda hostile: _relation(table(hostile), lazy=asked == "text"),
            "parquet": lambda hostile: _written(table(hostile), folder, hostile),
            "parquet-folder": lambda hostile: _parted(table(hostile), folder, hostile),
        }
        return {kind: known[kind] for kind in kinds}

    kind = name.rpartition(",")[0] or name
    return Hostile(name=name, type=kind, asked=asked, makers=makers, column=declared or {}, owns=owns)


def _relation(table: Any, *, lazy: bool) -> object:
    """A relation over the Arrow table, or over a table of the engine, which must be able to hold its values."""
    connection = import_module("duckdb").connect()
    relation = connection.from_arrow(table)
    if lazy:
        return relation
    relation.create("held")
    return connection.table("held")


def _written(table: Any, folder: Path, hostile: bool) -> Path:
    path = folder / f"{'with' if hostile else 'without'}.parquet"
    import_module("pyarrow.parquet").write_table(table, path)
    return path


def _parted(table: Any, folder: Path, hostile: bool) -> Path:
    """A file for each row, so that the hostile one has its own, which is not there without it."""
    place = Path(tempfile.mkdtemp(dir=folder, prefix="with" if hostile else "without"))
    for row in range(table.num_rows):
        import_module("pyarrow.parquet").write_table(table.slice(row, 1), place / f"{row}.parquet")
    return place


def _folders(name: str, value: bytes) -> Hostile:
    """The hostile value as the name of a folder: x=VALUE/rows.parquet, written as Hive's writers do."""
    pa = import_module("pyarrow")

    def make(folder: Path, hostile: bool) -> Path:
        place = Path(tempfile.mkdtemp(dir=folder))
        for row, each in enumerate((b"a", b"b", b"c", *((value,) if hostile else ()))):
            inner = place / f"x={quote_from_bytes(each, safe='')}"
            inner.mkdir()
            rows = pa.table({"p": [row], "v": [(1, 2, 3, 1)[row]]})
            import_module("pyarrow.parquet").write_table(rows, inner / "rows.parquet")
        return place

    return Hostile(
        name=f"folder's name, {name}",
        type="folder's name",
        asked="text",
        makers=lambda folder: {"parquet-hive": lambda hostile: make(folder, hostile)},
        owns=True,
    )


def _csv(name: str, value: bytes, kind: str, written: Mapping[str, str]) -> Hostile:
    """One hostile field of a CSV file that is written in this way; a codec changes what can be written as it is."""

    def make(folder: Path, hostile: bool) -> Path:
        mark = written.get("separator", ",").encode()
        lines = [b"p,v,x", b"0,1,a", b"1,2,b", b"2,3,c", *([b'3,1,"' + value + b'"'] if hostile else [])]
        content = b"".join(line.replace(b",", mark, 2) + b"\n" for line in lines)
        if written.get("encoding") == "utf-16":
            # What is no UTF-8 stands as lone surrogates, which are no UTF-16 either.
            content = content.decode("utf-8", "surrogateescape").encode("utf-16", "surrogatepass")
        path = folder / f"rows.csv{'.gz' if kind == 'csv-gzip' else ''}"
        path.write_bytes(gzip.compress(content) if kind == "csv-gzip" else content)
        return path

    def makers(folder: Path) -> Mapping[str, Maker]:
        return {kind: lambda hostile: make(folder, hostile)}

    return Hostile(name=f"{kind}, {name}", type="csv", asked="text", makers=makers, owns=True, written=written)


def _numerals(value: str) -> Hostile:
    """A number that is none, in a file whose numbers have other marks."""
    written = {"separator": ";", "decimal": ",", "thousands": "."}

    def make(folder: Path, hostile: bool) -> Path:
        path = folder / "numbers.csv"
        rows = ["p;v;x", "0;1;1,5", "1;2;2.000,25", "2;3;3", *([f'3;1;"{value}"'] if hostile else [])]
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return path

    return Hostile(
        name=f"numerals, {value[:20]}",
        type="numerals",
        asked="number",
        makers=lambda folder: {"csv-numerals": lambda hostile: make(folder, hostile)},
        column={"type": "decimal", "bounds": (-10, 10), "step": "0.5"},
        written=written,
    )


def _packed(kind: Any, values: Sequence[bytes]) -> Any:
    """An array of this type over these bytes, whatever they are."""
    pa = import_module("pyarrow")
    store = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]
    return pa.Array.from_buffers(kind, len(values), pa.array(values, type=store).buffers())


def _texts(kind: Any, value: bytes) -> Callable[[bool], Any]:
    return lambda hostile: _packed(kind, [b"a", b"b", b"c", *([value] if hostile else [])])


def _dictionary(value: bytes) -> Callable[[bool], Any]:
    pa = import_module("pyarrow")

    def column(hostile: bool) -> Any:
        codes = pa.array([0, 1, 2, *([3] if hostile else [])], type=pa.int32())
        return pa.DictionaryArray.from_arrays(codes, _packed(pa.string(), [b"a", b"b", b"c", value]))

    return column


def _whole(kind: Any, value: int, code: str = "q") -> Callable[[bool], Any]:
    pa = import_module("pyarrow")

    def column(hostile: bool) -> Any:
        values = [1_000, 2_000, 3_000, *([value] if hostile else [])]
        return pa.Array.from_buffers(
            kind, len(values), [None, pa.py_buffer(struct.pack(f"<{len(values)}{code}", *values))]
        )

    return column


def _decimal(value: int) -> Callable[[bool], Any]:
    """DECIMAL(10,2) whose sixteen bytes hold any number of digits."""
    pa = import_module("pyarrow")

    def column(hostile: bool) -> Any:
        held = [100, 250, -300, *([value] if hostile else [])]
        packed = b"".join(each.to_bytes(16, "little", signed=True) for each in held)
        return pa.Array.from_buffers(pa.decimal128(10, 2), len(held), [None, pa.py_buffer(packed)])

    return column


def _numbers(kind: Any, value: object) -> Callable[[bool], Any]:
    pa, np = import_module("pyarrow"), import_module("numpy")
    ordinary: list[object] = [True, False, True] if kind == pa.bool_() else [1, 2, 3]

    def column(hostile: bool) -> Any:
        values = [*ordinary, *([value] if hostile else [])]
        return pa.array(np.array(values, dtype="float16") if kind == pa.float16() else values, type=kind)

    return column


def _wide(hostile: bool) -> Any:
    pa = import_module("pyarrow")
    values = [Decimal(1), Decimal(2), Decimal(3), *([Decimal("9" * 70)] if hostile else [])]
    return pa.array(values, type=pa.decimal256(76, 2))
