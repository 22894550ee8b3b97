"""Bars with intervals, in a terminal, understandable without colour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """One labelled value with its interval."""

    label: str
    value: float
    low: float
    high: float


LEGEND = "█ up to the interval   ▒ interval below the answer   ░ interval above it"


def draw(bars: list[Bar], width: int) -> list[str]:
    """One line for each bar: label, bar, value and interval, at most `width` columns."""
    label = max(len(bar.label) for bar in bars)
    values = [f"{bar.value:,.0f}" for bar in bars]
    intervals = [f"[{max(bar.low, 0):,.0f}, {bar.high:,.0f}]" for bar in bars]
    digits = max(map(len, values))
    numbers = [f"{value:>{digits}}  {interval}" for value, interval in zip(values, intervals, strict=True)]
    room = max(10, width - label - max(map(len, numbers)) - 4)
    top = max(1.0, *(bar.high for bar in bars))

    def column(value: float) -> int:
        return round(room * min(max(value, 0.0), top) / top)

    lines = []
    for bar, number in zip(bars, numbers, strict=True):
        low, middle, high = column(bar.low), column(bar.value), column(bar.high)
        body = "█" * low + "▒" * (middle - low) + "░" * (high - middle)
        lines.append(f"{bar.label:<{label}}  {body:<{room}}  {number}")
    return lines
