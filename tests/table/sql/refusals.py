"""The golden file of refusals. `python -m tests.table.sql.refusals` writes it again from the questions in it.

A block is a question, its lines marked with ">", below it the error as a person sees it, and the questions to which its
hint leads, marked with "<": whoever follows the hint asks one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from quincunx.errors import QueryError, RefusalError
from quincunx.table.sql import read
from tests.table.sql.visits import SCHEMA

PATH = Path(__file__).parents[2] / "fixtures" / "refusals.txt"


def blocks(text: str) -> list[tuple[str, str]]:
    """(question, error) of each block."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        question = "\n".join(line[2:] for line in lines if line.startswith("> "))
        found.append((question, "\n".join(line for line in lines if not line.startswith(("> ", "< ")))))
    return found


def followed(text: str) -> dict[str, list[str]]:
    """question → the questions to which its hint leads."""
    found = {}
    for block, (question, _) in zip(text.strip().split("\n\n"), blocks(text), strict=True):
        found[question] = [line[2:] for line in block.split("\n") if line.startswith("< ")]
    return found


def refusal(question: str) -> str:
    """The class and the message that a question is refused with."""
    try:
        read(question, SCHEMA)
    except (QueryError, RefusalError) as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def written(questions: list[str], led: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(
        "".join(f"> {line}\n" for line in question.split("\n"))
        + refusal(question)
        + "\n"
        + "".join(f"< {each}\n" for each in led.get(question, ()))
        for question in questions
    )


if __name__ == "__main__":
    before = PATH.read_text("utf-8")
    PATH.write_text(written([question for question, _ in blocks(before)], followed(before)), "utf-8")
