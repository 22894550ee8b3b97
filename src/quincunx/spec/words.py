"""The prose of a specification: five short paragraphs, and one sentence that sums up what is not promised."""

from __future__ import annotations

from quincunx.numbers import stated
from quincunx.spec.blocks import Blocks
from quincunx.spec.drawn import Drawn
from quincunx.spec.varying import Varying
from quincunx.spec.wording import latex_number, tex


def describe(spec: Blocks) -> str:
    """The specification in plain text, for readers without mathematics."""
    return "\n\n".join(
        (
            f"Who is covered (domain). {spec.domain.words()}",
            f"What is compared (scope). {spec.scope.words()}",
            f"What change is hidden (unit). {spec.unit.words()}",
            f"How leakage is measured (standard). {_standard(spec)}",
            f"How much may leak (intensity). {_intensity(spec)}",
            _summary(spec),
        )
    )


def _standard(spec: Blocks) -> str:
    numbers = spec.numbers
    one_way = (
        " The bound has one direction: it limits how much likelier an event is with the first of two datasets than "
        "with the second, not the reverse."
    )
    end = one_way if spec.unit.directed and not spec.unit.by_pair else ""
    if len(numbers) == 1:
        return f"{spec.standard.words(numbers[0])}{end}"
    return f"With the largest of the intensities below, {spec.standard.words(spec.largest)}{end}"


def _intensity(spec: Blocks) -> str:
    end = "A smaller number protects more. Further releases about the same people add to it."
    if not spec.varies:
        return f"{spec.stated[0][1]}. {end}"
    if isinstance(spec.intensity, Drawn):
        number = stated(spec.standard.symbol, spec.intensity.value) + spec.standard.parameter_text
        return f"{spec.intensity.words(number)} {end}"
    if isinstance(spec.intensity, Varying):
        numbers = "; ".join(f"{number} for {name}" for name, number in spec.stated)
        elsewhere = "" if spec.scope.enumerable(spec.domain) else " For anyone else nothing is promised."
        first = f"One bound for each {spec.intensity.kind}, the smallest of those whom a change concerns"
        return f"{first}: {numbers}.{elsewhere} {end}"
    rows = "; ".join(f"{number} where {universe}" for universe, number in spec.stated)
    # Where the universes cannot be listed, nobody has checked that each of them has an entry.
    elsewhere = "" if spec.scope.enumerable(spec.domain) else " Elsewhere nothing is promised."
    return f"One bound for each group of datasets that are compared: {rows}.{elsewhere} {end}"


def _summary(spec: Blocks) -> str:
    bound = f"on {spec.standard.symbol}" if spec.varies else spec.stated[0][1]
    unpromised = [
        "promise that nothing can be learned about a person from what is true of people in general",
        spec.unit.unpromised(),
        spec.scope.unpromised(),
        "say anything about the share that is excused" if isinstance(spec.intensity, Drawn) else "",
    ]
    refused = ", nor ".join(part for part in unpromised if part)
    return (
        f"In sum: whoever sees the release learns no more than the bound {bound} allows about whether "
        f"{spec.unit.hidden()}; the guarantee does not {refused}."
    )


def latex(spec: Blocks) -> str:
    """The specification as one LaTeX formula (amsmath), with P the law of the output at x and P' at x'."""
    if not spec.varies:
        inequality = spec.standard.latex(spec.largest)
    elif isinstance(spec.intensity, Drawn):
        share = latex_number(spec.intensity.share)
        most = rf"\text{{for all but a share }} {share} \text{{ of the drawn }} (x, x')"
        inequality = rf"{spec.standard.latex(spec.intensity.value)} \quad {most}"
    else:
        varying = isinstance(spec.intensity, Varying)
        sign = r"(x, x') \text{ concerns }" if varying else r"\mathcal{D} ="
        rows = (rf"{spec.standard.latex(value)} & {sign} {tex(name)}" for name, value in spec.by_universe)
        inequality = r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"
    return "\n".join(
        (
            r"\begin{aligned}",
            rf"& \mathcal{{X}} = {spec.domain.latex()}, \quad \mathscr{{D}} = {spec.scope.latex()}, \\",
            r"& \text{for all } \mathcal{D} \in \mathscr{D} \text{ and } x, x' \in \mathcal{D} \text{ with } "
            rf"{spec.unit.latex()}, \\",
            rf"& {inequality}",
            r"\end{aligned}",
        )
    )
