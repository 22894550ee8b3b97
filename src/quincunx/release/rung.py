"""A stored answer with what was chosen: as if its limits and bounds had been declared. All post-processing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quincunx.numbers import amount
from quincunx.release.stored import Stored
from quincunx.release.words import shown
from quincunx.table import Measure, Program


def settled(program: Program, kept: Stored) -> tuple[Program, Stored]:
    """The program at the limits that were chosen, and what is stored of it, the sum at its rung for each ladder."""
    if program.climb is not None and kept.noisy.rows is not None:
        program = program.climb.programs[program.climb.rungs.index(kept.noisy.rows)]
    measures, mechanisms, numbers = list(program.measures), list(kept.mechanisms), list(kept.noisy.measures)
    said = []
    for place, measure in enumerate(program.measures):
        if measure.ladder is None:
            continue
        answers, drawn = numbers[place].reshape(-1, 2), mechanisms[place]
        law: Any = drawn
        rung = int(answers[0, 0]) if len(answers) else 0
        measures[place], mechanisms[place], numbers[place] = measure.sums[rung], law.at(rung), answers[:, 1]
        if len(answers):
            said.append(f"{shown(program, place)}: {_sentence(measure.sums[rung])}")
    if measures == list(program.measures):
        return program, kept
    found = replace(program, measures=tuple(measures), biases=(*program.biases, *said))
    noisy = replace(kept.noisy, measures=tuple(numbers))
    return found, replace(kept, noisy=noisy, mechanisms=tuple(mechanisms))


def _sentence(measure: Measure) -> str:
    low, high = (amount(end * measure.step) for end in (measure.low, measure.high))
    return f"the bound that was chosen is {high}, and the interval is about values from {low} to {high}."
