"""How commands speak."""

import pytest

from quincunx.cli.app import app, main


def test_both_names_start_the_same_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["qx", "--help"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert "demo" in capsys.readouterr().out
    assert app.info.name == "quincunx"
