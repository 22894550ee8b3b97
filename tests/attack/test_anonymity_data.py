"""Mondrian on real tables: the claims of its note, and the figures of `bench/anonymity.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from quincunx.attack.mondrian import mondrian
from tests import benches
from tests.attack.test_mondrian import check
from tests.chart.reading import check_readable
from tests.datasets import real_data

FILES = {"adult": ("persons", "adult.data"), "massachusetts": ("persons", "ma2019.csv")}


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benches.bench("anonymity")


@pytest.fixture(scope="module", params=list(FILES))
def case(request: pytest.FixtureRequest, bench: ModuleType) -> Any:
    real_data(*FILES[request.param])
    return getattr(bench, request.param)()


def test_the_files_are_read_whole(case: Any) -> None:
    assert case.secret.size == {"Adult: occupation": 30_718, "Massachusetts: income decile": 6_514}[case.name]
    assert len(case.known) == 8
    assert np.unique(case.secret).tolist() == list(range(case.secret.max() + 1))


@pytest.mark.parametrize("k", [5, 25])
def test_real_tables_are_cut_as_claimed(case: Any, k: int, full: bool) -> None:
    rows = case.secret.size if full else 4_000
    known = {name: values[:rows] for name, values in case.known.items()}
    check(known, k, mondrian(known, k))
    whole = mondrian(case.known, k)
    assert whole.sizes.min() >= k
    # Every box is cut as far as it goes: the average is below twice k, but for ties.
    assert whole.sizes.mean() < 2 * k


def test_real_tables_tell_what_they_hide(bench: ModuleType, case: Any) -> None:
    one, two = bench.broken(case, 2)
    assert one.certain > 0.1
    assert one.two > 0.5
    assert two.certain > 0.4
    assert one.right - one.without > 0.2
    later, _ = bench.broken(case, 25)
    assert later.certain < 0.01
    # Noisy counts tell about people alike, not about the row.
    noisy = bench.noisy(case, "1")
    assert noisy.certain == 0
    assert noisy.right - noisy.without < 0.04


def test_the_picture_can_be_read(bench: ModuleType) -> None:
    figures = {k: {"certain": 0.1, "certain with a second": 0.5} for k in bench.KS}
    found = {name: {"people": 1000, "k": figures} for name in ("Adult: occupation", "Massachusetts: income decile")}
    check_readable(bench.chart(found))


def small(bench: ModuleType) -> Any:
    draw = np.random.default_rng(2)
    known = {"age": draw.integers(18, 90, 300), "sex": draw.choice(["f", "m"], 300)}
    return bench.Case(name="Small: secret", known=known, secret=draw.integers(0, 4, 300), cell=draw.integers(0, 3, 300))


def test_the_report_of_a_small_file(bench: ModuleType) -> None:
    found = bench.report(small(bench))
    assert (found["people"], found["groups"]) == (300, 3)
    assert list(found["k"]) == list(bench.KS)
    assert all(each["certain"] == each["two"] == 0 for each in found["epsilon"].values())
    assert found["k"][2]["certain"] <= found["k"][2]["two"]
    # Samples and noise are injected: the same figures again.
    again = bench.report(small(bench))
    assert (again["k"], again["epsilon"]) == (found["k"], found["epsilon"])


def test_the_bench_speaks(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "adult", lambda: small(bench))
    monkeypatch.setattr(bench, "massachusetts", lambda: small(bench))
    monkeypatch.setattr(sys, "argv", ["anonymity.py", "--out", str(tmp_path)])
    bench.main()
    spoken = capsys.readouterr().out
    assert "Small: secret: 300 people" in spoken
    assert "25-anonymous" in spoken
    assert max(map(len, spoken.splitlines())) <= 80
    assert (tmp_path / "attack_mondrian_real.svg").is_file()
    monkeypatch.setattr(sys, "argv", ["anonymity.py", "--json"])
    bench.main()
    assert json.loads(capsys.readouterr().out)["Small: secret"]["people"] == 300


def test_a_missing_file_is_named(bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUINCUNX_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"persons/adult\.data is missing below .*; set QUINCUNX_DATA"):
        bench.adult()
