"""The README's Python runs in the environment that its first command makes: without any library of frames."""

from pathlib import Path

from tests.absent import run_without

ROOT = Path(__file__).parent.parent
FRAMES = ("pandas", "polars", "pyarrow")


def test_the_readme_needs_no_library_of_frames() -> None:
    code = f"""
    import doctest, sys
    kinds = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testfile({str(ROOT / "README.md")!r}, module_relative=False, optionflags=kinds)
    assert not set({FRAMES}) & set(sys.modules)
    print(found.failed, found.attempted > 20)
    """
    assert run_without(FRAMES, code).split() == ["0", "True"]


def test_what_is_hidden_is_hidden() -> None:
    code = "import importlib.util as u; print([u.find_spec(name) is None for name in ('pandas', 'polars', 'duckdb')])"
    assert run_without(FRAMES, code).strip() == "[True, True, False]"
