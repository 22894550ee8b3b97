"""A secret column from rough answers about it, by a linear program. What it can and cannot find: reconstruction.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from quincunx.attack.programs import closest_point, numbers
from quincunx.errors import DataError

Bits = NDArray[np.int64]


def reconstruct(questions: object, answers: object) -> Bits:
    """A bit for each person, from rough answers to many questions of the kind "how many of these people have it?".

    questions: a row for each question, a column for each person, 1 where the question is about the person and 0
    elsewhere. answers: a number for each question. The bits are the corners nearest to the x in [0, 1]^n that
    minimises Σ |answer − question·x|, a linear program.
    """
    asked, told = numbers(questions, "questions", 2), numbers(answers, "answers", 1)
    if 0 in asked.shape or len(asked) != len(told):
        got = f"{len(asked)} questions about {asked.shape[1]} people, {len(told)} answers"
        raise DataError("expected people, and one answer for each question", where="reconstruct", got=got)
    if not np.isin(asked, (0, 1)).all():
        hint = "1 where the question is about the person, 0 elsewhere."
        raise DataError("expected questions of zeros and ones", where="questions", hint=hint)
    return (closest_point(asked, told) > 0.5).astype(np.int64)
