"""The memory of an engine comes from public numbers."""

from pathlib import Path

import pytest

from quincunx.data import memory


@pytest.fixture(autouse=True)
def fresh() -> None:
    memory.share.cache_clear()


def test_the_least_counts_and_half_of_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_machine", lambda: 16 << 30)
    monkeypatch.setattr(memory, "_container", lambda: [4 << 30, 9 << 30])
    monkeypatch.setattr(memory, "_process", lambda: None)
    assert memory.share() == 2 << 30
    memory.share.cache_clear()
    monkeypatch.setattr(memory, "_container", list)
    assert memory.share() == 8 << 30
    memory.share.cache_clear()
    monkeypatch.setattr(memory, "_machine", lambda: None)
    assert memory.share() is None


def test_groups_around_the_process_are_read(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("12:cpu:/x\n0::/user/inner\n")
    for name, text in (("memory.max", "max"), ("user/memory.max", "1000"), ("user/inner/memory.max", "700\n")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert memory._container(tmp_path, own) == [1000, 700]
    assert memory._container(tmp_path / "nowhere", tmp_path / "missing") == []
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("5000")
    assert memory._container(tmp_path, tmp_path / "missing") == [5000]


def test_this_machine_says_how_much_it_has() -> None:
    machine, share = memory._machine(), memory.share()
    assert machine is not None
    assert share is not None
    assert 0 < share <= machine // 2
    memory.share.cache_clear()
