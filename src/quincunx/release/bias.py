"""Bias beside noise: what the limits lose, from a limits report, next to the counts that it covers. See limits.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from quincunx.errors import ParameterError
from quincunx.release.answer import Answer
from quincunx.release.column import Column
from quincunx.release.drawn import Drawn
from quincunx.release.limits import LimitsReport
from quincunx.release.linear_form import Noises, half_width
from quincunx.table import GroupKey, Measured, Program

About: TypeAlias = Literal["bounded", "truth"]
_ABOUT: Final = ("bounded", "truth")


def covering(program: Program, reports: Sequence[LimitsReport], about: str) -> LimitsReport | None:
    """The last report that is about these rows, these groups and a plain count; refused where the truth is asked for
    and nobody has measured what it lacks: before anything is paid."""
    if about not in _ABOUT:
        hint = 'Write about="bounded" or about="truth".'
        raise ParameterError("intervals are about one of two things", where="about", got=repr(about)[:40], hint=hint)
    found = next((each for each in reversed(reports) if _places(program, each) is not None), None)
    if found is None and about == "truth":
        hint = 'Ask session.limits("table", by=[…], spend="…") first, with the keys of this question, and for COUNT(*).'
        raise ParameterError("what the limits lose was not measured for this question", where="about", hint=hint)
    return found


def with_bias(answer: Answer, program: Program, report: LimitsReport | None, about: str) -> Answer:
    """The answer with n_bias, its interval, and intervals about the truth where they are asked for."""
    places = None if report is None else _places(program, report)
    if report is None or places is None:
        return answer
    keys = [_shown_key(answer, program, index) for index in places]
    if any(key is None for key in keys):
        return answer
    named = [tuple(key[row] for key in keys if key is not None) for row in range(len(answer))]
    lost = {tuple(report.lost[name][row] for name in report.by): row for row in range(len(report.lost))}
    rows = [lost[key] for key in named]
    counted = report.counted.query.aggregates[0]
    columns = list(answer.columns)
    for output in program.query.outputs:
        node = output.expression
        if isinstance(node, Measured) and program.query.aggregates[node.index] == counted:
            columns = _beside(columns, output.name, report, rows, 1 - answer.confidence, about)
    return replace(answer, columns=tuple(columns))


def _places(program: Program, report: LimitsReport) -> list[int] | None:
    """For each column of the report's groups, which key of the question it is; None where they are not the same."""
    one, other = program.query, report.counted.query
    mine, theirs = [key.expression for key in one.keys], [key.expression for key in other.keys]
    alike = (
        one.rows == other.rows
        and one.allowed == other.allowed
        and len(mine) == len(theirs)
        and set(mine) == set(theirs)
        and not one.above
    )
    counted = other.aggregates[0] in one.aggregates
    same = counted and _vector(program, other.aggregates[0]) == report.counted.measures[0].vector
    return [mine.index(each) for each in theirs] if alike and same else None


def _vector(program: Program, counted: object) -> object:
    index = next(i for i, each in enumerate(program.query.aggregates) if each == counted)
    return program.measures[program.parts[index][0]].vector


def _shown_key(answer: Answer, program: Program, index: int) -> tuple[object, ...] | None:
    for output in program.query.outputs:
        if isinstance(output.expression, GroupKey) and output.expression.index == index:
            return answer[output.name]
    return None


def _beside(
    columns: list[Column], name: str, report: LimitsReport, rows: Sequence[int], risk: Fraction, about: str
) -> list[Column]:
    place = next(i for i, column in enumerate(columns) if column.name == name)
    value, low, high = columns[place : place + 3]
    lost, drawn = report.lost, value.drawn
    other = next(column.drawn for column in lost.columns if column.name == "lost")
    if drawn is None or other is None:
        return columns
    estimate, least, most = (tuple(-float(lost[end][row]) for row in rows) for end in ("lost", "lost_high", "lost_low"))
    more = [
        Column(name=f"{name}_bias{end}", type="float", role="bias", values=values)
        for end, values in (("", estimate), ("_low", least), ("_high", most))
    ]
    if about == "truth":
        half = half_width([(1.0, _law(drawn)), (1.0, _law(other))], risk)
        middles = [centre + other.centres[row] for centre, row in zip(drawn.centres, rows, strict=True)]
        ends = (
            tuple(min(a, m - half) for a, m in zip(low.values, middles, strict=True)),
            tuple(max(b, m + half) for b, m in zip(high.values, middles, strict=True)),
        )
        note = f"the interval is about the true count, but for what one person has beyond {report.beyond:,} rows more"
        value = replace(value, note="; ".join(each for each in (value.note, note) if each), about="true count")
        low, high = replace(low, values=ends[0]), replace(high, values=ends[1])
    return [*columns[:place], value, low, high, columns[place + 3], *more, *columns[place + 4 :]]


def _law(drawn: Drawn) -> Noises:
    (motion,) = drawn.motions
    return Noises(noise=motion.noise, unit=motion.unit)
