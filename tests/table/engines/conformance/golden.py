"""The integers of every question, as digests. `python -m tests.table.engines.conformance.golden` writes them again.

What is written comes from DuckDB, which the reference checks; every other engine must give the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from quincunx.errors import QueryError, RefusalError
from quincunx.mechanisms.histogram import Histogram
from quincunx.table.engines import Result, evaluate
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.schema import Schema
from quincunx.table.sql import read
from tests.table.engines.conformance import worlds
from tests.table.engines.conformance.engines import InDuckDB, Place
from tests.table.engines.conformance.questions import questions
from tests.table.engines.conformance.worlds import Data

PATH: Final = Path(__file__).parents[3] / "fixtures" / "conformance.json"
NORMS: Final = (1, 2)


def planned(text: str, declared: Schema, norm: Any) -> Program:
    """The plan of a question."""
    return plan(read(text, declared, evaluate), declared, norm)


def exact(result: Result) -> list[Any]:
    """Everything that a result holds, in its order: keys, integers and votes."""
    numbers = [[_numbers(measure, i) for measure in result.measures] for i in range(len(result.keys))]
    votes = [] if result.selection is None else [int(each) for each in result.selection]
    return [[[repr(part) for part in key] for key in result.keys], numbers, votes]


def _numbers(measure: Any, i: int) -> Any:
    found = measure[i]
    return sorted(found.dense().items()) if isinstance(found, Histogram) else int(found)


def digest(found: list[Any]) -> str:
    """A short name for a result."""
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:24]


def digests(engine: Any, declared: Schema, asked: list[tuple[str, int]]) -> dict[str, str]:
    """The name of the result of each question in each norm; of one that is refused, the refusal."""
    found = {}
    for text, norm in asked:
        try:
            found[f"{norm} {text}"] = digest(exact(engine.run(planned(text, declared, norm))))
        except (QueryError, RefusalError) as error:
            found[f"{norm} {text}"] = f"{type(error).__name__}: {error}"
    return found


def answered(place: Place, tables: Mapping[str, Data], asked: list[tuple[str, int]]) -> dict[str, str]:
    """The same of engines over these tables, as many as the place is asked by at once."""
    with ExitStack() as stack, ThreadPoolExecutor(place.hands) as pool:
        opened = [stack.enter_context(place.opened(tables)) for _ in range(place.hands)]
        share = map if place.hands == 1 else pool.map
        parts = share(lambda i: digests(*opened[i], asked[i :: place.hands]), range(place.hands))
        return {name: digest for part in parts for name, digest in part.items()}


if __name__ == "__main__":
    with InDuckDB().opened(worlds.tables()) as (opened, schema):
        every = digests(opened, schema, [(text, norm) for text in questions() for norm in NORMS])
    PATH.write_text(json.dumps(every, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(sum(":" in each for each in every.values()), "refused of", len(every))
    for name, each in every.items():
        if ":" in each and name.startswith("1"):
            print(name, each[:150].replace("\n", " "))
