"""The golden file of refusals. `python -m tests.table.sql.refusals` writes it again from the questions in it.

A block is a question, its lines marked with ">", and below it the error as a person sees it.
"""

from __future__ import annotations

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
        found.append((question, "\n".join(line for line in lines if not line.startswith("> "))))
    return found


def refusal(question: str) -> str:
    """The class and the message that a question is refused with."""
    try:
        read(question, SCHEMA)
    except (QueryError, RefusalError) as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def written(questions: list[str]) -> str:
    return "\n".join(
        "".join(f"> {line}\n" for line in question.split("\n")) + refusal(question) + "\n" for question in questions
    )


if __name__ == "__main__":
    PATH.write_text(written([question for question, _ in blocks(PATH.read_text("utf-8"))]), "utf-8")
