"""Pytest plugin: the fixture `neighbour_replay`, and how many pairs it compared in the summary of the run.

Pytest loads this module in every run where Quincunx is installed: it imports nothing but pytest, and the rest on use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from quincunx.audit.statistic import StatisticReplay

_PROPERTY = "neighbour_replay"


@pytest.fixture
def neighbour_replay(request: pytest.FixtureRequest) -> Callable[..., StatisticReplay]:
    """Replay a statistic on neighbouring worlds; the test fails with the smallest pair that breaks its sensitivity.

    Called as `neighbour_replay(statistic, space=…, norm=…, sensitivity=…)`, with the options of
    `quincunx.audit.replay_statistic` and `reach`, the part of the sensitivity that some pair must come to. The pairs
    follow from the test's name, so that a failure comes again. Gives the report.
    """

    def replayed(statistic: Callable[[Any], Any], *, reach: float = 0.0, **options: Any) -> StatisticReplay:
        from quincunx.audit.statistic import replay_statistic
        from quincunx.errors import VerificationError

        options.setdefault("series", request.node.nodeid)
        report = replay_statistic(statistic, **options)
        # Properties travel with the test's report, also from the worker processes of pytest-xdist.
        request.node.user_properties.append((_PROPERTY, [report.cases, report.violations, report.largest]))
        try:
            return report.check(reach=reach)
        except VerificationError as error:
            message = str(error)
        pytest.fail(message, pytrace=False)

    return replayed


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line: how many statistics, pairs and violations, and how far apart the farthest pair was."""
    found = list(_replays(terminalreporter.stats))
    if not found:
        return
    pairs, broken = sum(cases for cases, _, _ in found), sum(bad for _, bad, _ in found)
    terminalreporter.section("neighbour replay")
    terminalreporter.write_line(
        f"{len(found):,} statistic{'s' * (len(found) > 1)}, {pairs:,} pairs, {broken:,} violations; "
        f"farthest {max(largest for _, _, largest in found):.6f} of what is declared"
    )


def _replays(stats: dict[str, list[Any]]) -> Iterator[tuple[int, int, float]]:
    for reports in stats.values():
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            for name, value in report.user_properties:
                if name == _PROPERTY:
                    cases, violations, largest = value
                    yield cases, violations, largest
