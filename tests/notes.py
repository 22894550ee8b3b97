"""Proof notes pinned to the code that they are about: which code, its digest, and when the note was last held to it.

`python tests/notes.py` lists the notes whose code has changed; `python tests/notes.py --looked src/quincunx/…/x.md`
says that the note was read again beside the code, and is true of it. notes.toml holds one line for each note.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "quincunx"
KEPT = Path(__file__).with_name("notes.toml")
# What differs between versions of Python, and says nothing of the code.
_SKIPPED = {"ctx", "kind", "type_comment", "type_params"}


def notes() -> list[Path]:
    """Every note of the library; a README is one for users."""
    return sorted(path for path in ROOT.rglob("*.md") if path.name != "README.md")


def covered(note: Path) -> list[Path]:
    """The code that a note is about: the file of its name, those that it names, and those of its room that name it."""
    room = ROOT / note.relative_to(ROOT).parts[0]
    pointing = {each for each in room.rglob("*.py") if note in _named(each, "md")}
    return sorted({*pointing, *_named(note, "py"), *(each for each in [note.with_suffix(".py")] if each.exists())})


@cache
def _named(path: Path, ending: str) -> frozenset[Path]:
    """The files that a file names, by their paths from its folder or from the nearest one above that has them."""
    found = re.findall(rf"[\w/]+\.{ending}\b", path.read_text(encoding="utf-8"))
    folders = [each for each in path.parents if each.is_relative_to(ROOT)]
    places = (next((folder / name for folder in folders if (folder / name).exists()), None) for name in found)
    return frozenset(place for place in places if place is not None)


def digest(sources: list[Path]) -> str:
    """A digest of what the code does: not of its comments, docstrings, layout and names of files."""
    trees = [ast.parse(source.read_text(encoding="utf-8")) for source in sources]
    return hashlib.sha256("\n".join(map(written, trees)).encode()).hexdigest()[:16]


def written(node: object) -> str:
    """A syntax tree as text, without docstrings; of imports only the names count, not the doors that they came by."""
    if isinstance(node, list):
        return f"[{','.join(map(written, node))}]"
    if isinstance(node, ast.ImportFrom):
        return f"import {sorted((each.name, each.asname or each.name) for each in node.names)}"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for name, value in ast.iter_fields(node):
        body = value
        if name == "body" and isinstance(value, list) and value and _is_text(value[0]):
            body = value[1:]
        if name == "body" and isinstance(node, ast.Module):
            # The order in which modules are imported says nothing.
            imports = sorted(written(each) for each in body if isinstance(each, ast.ImportFrom))
            rest = [each for each in body if not isinstance(each, ast.ImportFrom)]
            parts.append(f"{imports}{written(rest)}")
        elif name not in _SKIPPED and body not in (None, []):
            parts.append(f"{name}={written(body)}")
    return f"{type(node).__name__}({','.join(parts)})"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def name_of(note: Path) -> str:
    """A note's line in notes.toml."""
    return note.relative_to(ROOT).as_posix()


def kept() -> dict[str, str]:
    """The digests of the code to which each note was last held."""
    return dict(tomllib.loads(KEPT.read_text(encoding="utf-8"))) if KEPT.exists() else {}


def stale() -> list[Path]:
    """The notes whose code is not the code to which they were held."""
    lines = kept()
    return [note for note in notes() if lines.get(name_of(note)) != digest(covered(note))]


def look(looked: list[Path]) -> None:
    """Write down that these notes were held to their code as it is; notes that are gone lose their line."""
    lines = {name: value for name, value in kept().items() if (ROOT / name).exists()}
    lines |= {name_of(note): digest(covered(note)) for note in looked}
    head = "# Notes and the code to which they were last held; written by `python tests/notes.py --looked path.md`.\n"
    KEPT.write_text(head + "".join(f'"{name}" = "{lines[name]}"\n' for name in sorted(lines)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Notes whose code has changed since they were last held to it.")
    parser.add_argument("--looked", nargs="+", type=Path, default=[], metavar="path.md", help="read again, and true")
    given = parser.parse_args().looked
    if given:
        look([each.resolve() for each in given])
    for note in stale():
        sources = ", ".join(each.relative_to(ROOT).as_posix() for each in covered(note))
        print(f"{name_of(note)}: {sources}")


if __name__ == "__main__":
    main()
