"""How commands speak."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.cli.app import app, main
from quincunx.cli.output import shown_above, shown_below, spoken


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_shown_bound_is_never_below_what_python_prints(value: float) -> None:
    shown = Decimal(shown_above(value))
    assert shown >= Decimal(repr(value))
    # Six digits: at most one unit of the sixth, 1e-5 of the value, above it.
    assert float(shown) <= value * (1 + 1.1e-5)
    below = Decimal(shown_below(value))
    assert below <= Decimal(repr(value)) <= shown
    assert float(below) >= value * (1 - 1.1e-5)


def test_special_values() -> None:
    assert shown_above(0.0) == "0"
    assert shown_above(math.inf) == "∞"
    assert shown_above(0.2) == "0.2"
    assert shown_above(1 / 3) == "0.333334"
    assert shown_above(1e-12) == "1E-12"
    assert [shown_below(value) for value in (0.0, math.inf, 1 / 3, 0.2)] == ["0", "∞", "0.333333", "0.2"]


def test_both_names_start_the_same_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["qx", "--help"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert "demo" in capsys.readouterr().out
    assert app.info.name == "quincunx"


@pytest.mark.parametrize(
    ("hint", "typed"),
    [
        ('Write delta="…", at most 1/10.', "Write --delta …, at most 1/10."),
        ('Write spend="0.05", or within={"n": 25}.', "Write --spend 0.05, or --within n=25."),
        ("Leave delta out: the groups are public.", "Leave --delta out: the groups are public."),
        ('Write analyst="alice", or analyst="curator".', "Write --analyst alice, or --analyst curator."),
        ("Leave it out: any SQL on the answer's table, answer.frame, is free.",
         "Leave it out: any SQL on the answer's table, as --csv prints it, is free."),
        ("Write COUNT(*) FILTER (WHERE x).", "Write COUNT(*) FILTER (WHERE x)."),
    ],
)  # fmt: skip
def test_hints_are_spoken_as_a_command_is_typed(hint: str, typed: str) -> None:
    assert spoken(hint) == typed
