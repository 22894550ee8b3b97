"""The measurements of `bench/reconstruction.py`, on a small column and on a made-up state."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests import benches

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benches.bench("reconstruction")


def test_both_solvers_find_a_small_column(bench: ModuleType) -> None:
    pytest.importorskip("scipy", reason="SciPy is the peer")
    (row,) = bench.columns([60], 30.0)
    assert row["people"] == 60
    assert row["questions"] == 240
    assert row["recovered"] == row["scipy recovered"] == 1.0
    assert row["seconds"] > 0
    assert row["ratio"] == row["scipy seconds"] / row["seconds"]


def line(geoid: int, minors: list[int], adults: list[int]) -> str:
    both = [a + b for a, b in zip(minors, adults, strict=True)]
    return ",".join(map(str, [geoid, sum(both), *both, sum(adults), *adults]))


def test_a_made_up_state(bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["GEOID", "pop", *(f"pop_{race}" for race in bench.RACES), "vap", *(f"vap_{race}" for race in bench.RACES)]
    none = [0] * 6
    file = tmp_path / "state.csv"
    file.write_text(
        "\n".join(
            [
                ",".join(names),
                # Nobody; one race; two races with adults only; two races, mixed; forty people of one race.
                line(1, [0, 0, *none], [0, 0, *none]),
                line(2, [1, 0, *none], [2, 0, *none]),
                line(3, [0, 0, *none], [2, 1, *none]),
                line(4, [1, 1, *none], [1, 1, *none]),
                line(5, [10, 0, *none], [30, 0, *none]),
            ]
        )
    )
    monkeypatch.setattr(bench, "ISLAND", file)
    found = bench.state()
    assert found["inhabited blocks"] == 4
    assert found["people"] == 50
    assert found["blocks of up to 30"] == 3
    assert found["share of them whose margins (race; voting age) pin the joint table"] == pytest.approx(2 / 3)
    assert found["share of all blocks whose margins do"] == pytest.approx(3 / 4)
    # Alone: the minor of block 2, one adult of block 3, all four of block 4.
    assert found["share of people alone in their race and age group on the block"] == pytest.approx(6 / 50)
    # One race in the age group: all of block 2 and of block 5.
    assert found["share of people whose race follows from block and age group"] == pytest.approx(43 / 50)


def test_the_pictures_of_the_page_are_there() -> None:
    page = (ROOT / "docs" / "concepts" / "attacks-reconstruction.md").read_text(encoding="utf-8")
    shown = [part.split(")")[0] for part in page.split("](../images/")[1:]]
    assert len(shown) == 5
    for name in shown:
        assert (ROOT / "docs" / "images" / name).is_file()
        assert (ROOT / "docs" / "images" / name).with_suffix(".svg").is_file()
