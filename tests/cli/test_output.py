"""How commands speak."""

import pytest

from quincunx.cli.app import app, main
from quincunx.cli.output import spoken


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
