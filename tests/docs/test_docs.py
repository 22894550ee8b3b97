"""What keeps the documentation true: every public name, command, option and error has its entry, every link leads
somewhere, and every example runs (the examples themselves are doctests, collected from docs/).

Each check is a function from texts to a list of complaints, so that the tests at the end can show it a broken sample.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import typer

from quincunx.cli.app import app
from quincunx.errors import QuincunxError
from quincunx.taxonomy.pages import pages as generated

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
Pages = Mapping[str, str]

# page of docs/reference → the modules whose public names it holds
# Modules whose reference goes on in a page of its own.
CONTINUED = {
    "audit": ["audit-blackbox"],
    "invariant": ["topdown"],
    "loss": ["filters"],
    "taxonomy": ["catalogue"],
}
REFERENCE = {
    "attack": ["quincunx.attack"],
    "attack-anonymity": ["quincunx.attack.mondrian", "quincunx.attack.floating_point"],
    "attack-reconstruction": ["quincunx.attack.reconstruction", "quincunx.attack.block"],
    "audit": ["quincunx.audit", "quincunx.audit.adapters"],
    "audit-self": ["quincunx.audit.self_audit"],
    "spaces": ["quincunx.audit.spaces"],
    "census": ["quincunx.invariant.census"],
    "chart": ["quincunx.chart"],
    "invariant": ["quincunx.invariant"],
    "ledger": ["quincunx.ledger"],
    "topdown": ["quincunx.invariant.topdown"],
    "release": ["quincunx.release"],
    "sample": ["quincunx.sample"],
    "sql": ["quincunx.table.sql"],
    "table": [
        "quincunx.table.table",
        "quincunx.table.engines",
        "quincunx.table.engines.postgres.source",
        "quincunx.table.engines.spark.source",
        "quincunx.table.rules",
    ],
    "sensitivity": ["quincunx.mechanisms.sensitivity"],
    "errors": ["quincunx.errors"],
    "numbers": ["quincunx.numbers"],
    "noise": ["quincunx.noise", "quincunx.noise.testing"],
    "loss": ["quincunx.loss"],
    "meaning": ["quincunx.meaning", "quincunx.meaning.belief", "quincunx.meaning.shapes", "quincunx.meaning.testing"],
    "dependence": ["quincunx.meaning.dependence"],
    "taxonomy": ["quincunx.taxonomy"],
    "mechanisms": ["quincunx.mechanisms"],
    "finite": ["quincunx.finite"],
    "domain": ["quincunx.spec.domain"],
    "scope": ["quincunx.spec.scope"],
    "unit": ["quincunx.spec.unit"],
    "standard": ["quincunx.spec.standard"],
    "intensity": ["quincunx.spec.intensity"],
    "specification": ["quincunx.spec"],
}
SHELVES = ("Guides", "Concepts", "Reference", "Sharp edges", "Known limits")
# Links out of the house are citations.
CITED_HOSTS = {"doi.org", "arxiv.org", "json-schema.org", "csrc.nist.gov", "creativecommons.org", "www.postgresql.org"}

_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_TEST = re.compile(r"\btests/[\w/]+\.py(?:::\w+)*")
_ENTRY = re.compile(r"^(#{2,4}|[-*]|\|) *(`.*)$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_BANNED = re.compile(r"\b(simply|just|obviously)\b", re.IGNORECASE)
_MACHINE = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|opt|mnt|srv|var)/|\b[A-Z]:\\", re.IGNORECASE)
_HOST = re.compile(r"https?://([^/\s)>\]`]+)")
_REGISTRY = re.compile(
    r"\b(?:localhost|127\.0\.0\.1|pypi\.\w+|[\w.-]*(?:registry|artifactory|nexus|mirror)[\w-]*\.\w+)\b", re.IGNORECASE
)


def pages() -> dict[str, str]:
    return {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}


# Entries of the reference.


def entries(text: str) -> set[str]:
    """The names in code that lead a heading, a list item (before its colon) or a table row (its first cell)."""
    found: set[str] = set()
    for line in _ENTRY.findall(text):
        mark, rest = line
        lead = rest.partition("|")[0] if mark == "|" else rest.partition("`:")[0] + "`" if mark in "-*" else rest
        found.update(name.split("(")[0].strip() for name in _CODE.findall(lead))
    return found


def section(text: str, name: str) -> str | None:
    """The text under the heading whose code begins with `name`, up to the next heading of that level or above."""
    for match in re.finditer(r"^(#{2,4}) +(.*)$", text, re.MULTILINE):
        if name in {code.split("(")[0].strip() for code in _CODE.findall(match[2])}:
            rest = text[match.end() :]
            end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, re.MULTILINE)
            return rest[: end.start()] if end else rest
    return None


def public_names(module: types.ModuleType) -> list[str]:
    """`__all__`, or else the classes and functions that the module itself defines; modules are not names."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_")
            and (inspect.isclass(value) or inspect.isfunction(value))
            and value.__module__ == module.__name__
        ]
    return [name for name in listed if not inspect.ismodule(getattr(module, name))]


def members(cls: type) -> Iterator[tuple[str, list[str]]]:
    """Every public member that Quincunx defines on the class, with the classes under whose name it may be entered."""
    house = [each for each in cls.__mro__ if each.__module__.startswith("quincunx")]
    for name in sorted({name for each in house for name in vars(each) if not name.startswith("_")}):
        yield name, [each.__name__ for each in house]


def undocumented(text: str, modules: Iterable[types.ModuleType]) -> list[str]:
    """Public names without a section and an example, public members without an entry."""
    listed, missing = entries(text), []
    for module in modules:
        for name in public_names(module):
            found = section(text, name)
            if found is None:
                missing.append(f"{module.__name__}.{name} has no section")
            elif ">>>" not in found:
                missing.append(f"{module.__name__}.{name} has no example")
            value = getattr(module, name)
            if inspect.isclass(value) and value.__module__.startswith("quincunx"):
                for member, classes in members(value):
                    if not any(f"{cls}.{member}" in listed for cls in classes):
                        missing.append(f"{module.__name__}.{name}.{member} has no entry")
    return missing


@pytest.mark.parametrize("page", REFERENCE)
def test_every_public_name_and_member_has_an_entry(page: str) -> None:
    pages = (DOCS / "reference" / f"{name}.md" for name in [page, *CONTINUED.get(page, [])])
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    assert undocumented(text, [importlib.import_module(name) for name in REFERENCE[page]]) == []


def test_every_public_name_of_the_package_is_covered() -> None:
    top = importlib.import_module("quincunx")
    covered = {name for names in REFERENCE.values() for name in names}
    for name in top.__all__:
        value = getattr(top, name)
        home = value.__name__ if inspect.ismodule(value) else value.__module__
        assert home in covered or home.rsplit(".", 1)[0] in covered - {"quincunx"}, name


def undocumented_errors(text: str, classes: Iterable[type[QuincunxError]]) -> list[str]:
    """Errors without a section that names their exit code."""
    return [
        each.__name__ for each in classes if f"exit code {each.exit_code}" not in (section(text, each.__name__) or "")
    ]


def test_every_error_is_in_the_reference_with_its_exit_code() -> None:
    text = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert undocumented_errors(text, [QuincunxError, *_descendants(QuincunxError)]) == []


def _descendants(cls: type[QuincunxError]) -> Iterator[type[QuincunxError]]:
    for each in cls.__subclasses__():
        if each.__module__ == "quincunx.errors":
            yield each
            yield from _descendants(each)


# The command line.


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield " ".join(path), command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def undocumented_commands(text: str, root: Any, name: str) -> list[str]:
    """Commands without a section; options and arguments that their section does not enter."""
    missing = []
    for path, command in commands(root, (name,)):
        found = section(text, path)
        if found is None:
            missing.append(f"{path} has no section")
            continue
        own = re.split(r"^#{2,4} ", found, maxsplit=1, flags=re.MULTILINE)[0]
        listed = {code.split()[0].split("=")[0] for _, line in _ENTRY.findall(own) for code in _CODE.findall(line)[:2]}
        for parameter in command.params:
            option = parameter.param_type_name == "option"
            names = parameter.opts if option else [parameter.name.upper()]
            if "--help" not in names and not set(names) & listed:
                missing.append(f"{path}: {names[0]} has no entry")
    return missing


def test_every_command_option_and_argument_has_an_entry() -> None:
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert undocumented_commands(text, typer.main.get_command(app), "quincunx") == []


def undocumented_codes(text: str, codes: Iterable[int]) -> list[int]:
    listed = entries(text)
    return sorted(code for code in codes if str(code) not in listed)


def test_every_exit_code_has_an_entry() -> None:
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert undocumented_codes(text, {0, 1, 2} | {error.exit_code for error in _descendants(QuincunxError)}) == []


# Links.


def links(text: str) -> list[str]:
    return _LINK.findall(_FENCE.sub("", text))


def slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower())
    return kept.replace(" ", "-")


def broken_links(texts: Pages, exists: set[str]) -> list[str]:
    """Relative links to pages or headings that do not exist. `exists`: other files, relative to docs/."""
    broken = []
    for name, text in texts.items():
        for link in links(text):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = _resolved(name, path) if path else name
            if target not in texts and target not in exists:
                broken.append(f"{name}: {link}")
            elif anchor and target in texts and anchor not in _anchors(texts[target]):
                broken.append(f"{name}: {link} (no such heading)")
    return broken


def _resolved(page: str, path: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(page).parent / path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _anchors(text: str) -> set[str]:
    return {slug(heading) for heading in re.findall(r"^#{1,6} +(.*)$", _FENCE.sub("", text), re.MULTILINE)}


def unlinked(texts: Pages) -> list[str]:
    """Pages that neither docs/index.md links nor the index of a folder that it links."""
    linked = {_resolved("index.md", link.partition("#")[0]) for link in links(texts["index.md"])}
    for index in sorted(linked & texts.keys()):
        if index.endswith("/index.md"):
            linked |= {_resolved(index, link.partition("#")[0]) for link in links(texts[index])}
    return [name for name in texts if name != "index.md" and name not in linked]


def missing_tests(texts: Pages, root: Path) -> list[str]:
    """References to tests, written tests/…/test_x.py::test_y or …::TestX::test_y, that do not exist."""
    missing = []
    for name, text in texts.items():
        for reference in _TEST.findall(text):
            path, *names = reference.split("::")
            file = root / path
            if not file.is_file() or not set(names) <= _definitions(file):
                missing.append(f"{name}: {reference}")
    return missing


def _definitions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def unsupported(text: str) -> list[str]:
    """List items of a page of promises that name no test."""
    items = re.findall(r"^- (.*(?:\n(?:  .*|(?=\n  )))*)", _FENCE.sub("", text), re.MULTILINE)
    return [item[:60] for item in items if "::test_" not in item]


def test_every_relative_link_leads_somewhere() -> None:
    outside = {
        f"../{path.relative_to(ROOT).as_posix()}"
        for folder in ("src", "tests", "bench")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    outside |= {f"../{path.name}" for path in ROOT.iterdir() if path.is_file()}
    assert broken_links(pages(), outside) == []


def test_every_page_is_linked_from_the_index() -> None:
    assert unlinked(pages()) == []


def missing_shelves(index: str) -> list[str]:
    return [shelf for shelf in SHELVES if not re.search(rf"^## {shelf}$", index, re.MULTILINE)]


def test_the_pages_of_definitions_are_current() -> None:
    """docs/definitions is what `quincunx taxonomy pages` writes."""
    made = generated()
    found = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "definitions").iterdir()}
    assert found.keys() == made.keys()
    assert [name for name in made if made[name] != found[name]] == []


def test_the_index_has_every_shelf() -> None:
    assert missing_shelves(pages()["index.md"]) == []


def test_every_linked_test_exists() -> None:
    assert missing_tests(pages(), ROOT) == []


def test_every_promise_and_every_erratum_names_its_test() -> None:
    texts = pages()
    assert unsupported(texts["promise.md"]) == []
    assert unsupported(texts["errata.md"]) == []
    assert len(_TEST.findall(texts["promise.md"])) >= 20


# Prose.


def prose(text: str) -> str:
    """The text without code."""
    return _CODE.sub("", _FENCE.sub("", text))


def banned_words(texts: Pages) -> list[str]:
    return [f"{name}: {word}" for name, text in texts.items() for word in _BANNED.findall(prose(text))]


def machine_paths(texts: Pages) -> list[str]:
    """Paths of one machine, addresses of package registries, and hosts that are no citation."""
    found = []
    for name, text in texts.items():
        found += [f"{name}: {path}" for path in _MACHINE.findall(text)]
        found += [f"{name}: {host}" for host in _REGISTRY.findall(text)]
        found += [f"{name}: {host}" for host in _HOST.findall(text) if host not in CITED_HOSTS]
    return found


def capitals(texts: Pages) -> list[str]:
    """Headings in title case: three or more words that all begin with a capital."""
    found = []
    for name, text in texts.items():
        for heading in re.findall(r"^#{1,6} +(.*)$", prose(text), re.MULTILINE):
            words = re.findall(r"[A-Za-z]\w+", heading)
            if len(words) > 2 and all(word[0].isupper() for word in words):
                found.append(f"{name}: {heading}")
    return found


def test_prose_uses_no_banned_word() -> None:
    assert banned_words(pages()) == []


def test_no_machine_path_or_registry_host_appears() -> None:
    assert machine_paths(pages()) == []


def test_headings_are_in_sentence_case() -> None:
    assert capitals(pages()) == []


def unexecuted(texts: Pages) -> list[str]:
    """Python blocks without a prompt, which no doctest runs, and prompts outside a block, which no reader can read."""
    found = []
    for name, text in texts.items():
        blocks = re.findall(r"^```(?:python|pycon|py)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        found += [f"{name}: {block[:40]}" for block in blocks if ">>>" not in block]
        found += [f"{name}: {line}" for line in re.findall(r"^>>>.*$", _FENCE.sub("", text), re.MULTILINE)]
    return found


def test_every_example_is_a_doctest_in_a_block() -> None:
    assert unexecuted(pages()) == []


# Each check can fail: a broken sample, and the same sample mended.

GOOD_PAGE = """
## `Thing(size)`

A thing.

>>> 1
1

| member | meaning |
|---|---|
| `Thing.size` | how large |
| `Thing.grow(by)`, `Thing.shrink(by)` | other sizes |
"""


def sample_module() -> types.ModuleType:
    module = types.ModuleType("quincunx.sample")

    class Thing:
        size = 1

        def grow(self) -> None: ...
        def shrink(self) -> None: ...

    Thing.__module__ = "quincunx.sample"
    module.Thing = Thing  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("", "", None),
        ("`Thing(size)`", "Thing", "quincunx.sample.Thing has no section"),
        (">>> 1", "1", "quincunx.sample.Thing has no example"),
        ("`Thing.size`", "size", "quincunx.sample.Thing.size has no entry"),
        (", `Thing.shrink(by)`", "", "quincunx.sample.Thing.shrink has no entry"),
    ],
)
def test_a_missing_entry_is_noticed(before: str, after: str, complaint: str | None) -> None:
    found = undocumented(GOOD_PAGE.replace(before, after), [sample_module()])
    assert found == ([] if complaint is None else [complaint])


def test_a_listed_name_needs_no_definition_here() -> None:
    module = sample_module()
    module.__all__ = ["Thing", "alias"]  # type: ignore[attr-defined]
    module.alias = int  # type: ignore[attr-defined]
    assert undocumented(GOOD_PAGE, [module]) == ["quincunx.sample.alias has no section"]


def test_a_missing_command_or_option_is_noticed() -> None:
    sample = typer.Typer()

    @sample.callback()
    def root() -> None: ...

    @sample.command("run")
    def run(file: str, fast: bool = typer.Option(False, "--fast")) -> None: ...

    command = typer.main.get_command(sample)
    command.params = []
    page = "## `tool`\n\nWords.\n\n### `tool run`\n\n- `FILE`: what.\n- `--fast`: how.\n"
    assert undocumented_commands(page, command, "tool") == []
    assert undocumented_commands(page.replace("- `--fast`", "- fast"), command, "tool") == [
        "tool run: --fast has no entry"
    ]
    assert undocumented_commands(page.replace("- `FILE`", "- file"), command, "tool") == ["tool run: FILE has no entry"]
    assert undocumented_commands(page.replace("### `tool run`", "### run"), command, "tool") == [
        "tool run has no section"
    ]


def test_broken_and_missing_links_are_noticed() -> None:
    good = {"index.md": "[a](a/b.md#two-words) [c](../src/c.md)", "a/b.md": "# B\n\n## Two words\n\n[up](../index.md)"}
    assert broken_links(good, {"../src/c.md"}) == []
    assert broken_links(good, set()) == ["index.md: ../src/c.md"]
    assert broken_links({**good, "a/b.md": "# B"}, {"../src/c.md"}) == ["index.md: a/b.md#two-words (no such heading)"]
    assert broken_links({**good, "a/b.md": "## Two words\n\n[up](index.md)"}, {"../src/c.md"}) == ["a/b.md: index.md"]
    assert unlinked(good) == []
    assert unlinked({**good, "lost.md": ""}) == ["lost.md"]


def test_a_link_to_a_missing_test_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("def test_here(): ...\n")
    good = {"p.md": "tests/test_a.py::test_here"}
    assert missing_tests(good, tmp_path) == []
    assert missing_tests({"p.md": "tests/test_a.py::test_gone"}, tmp_path) == ["p.md: tests/test_a.py::test_gone"]
    assert missing_tests({"p.md": "tests/test_b.py::test_here"}, tmp_path) == ["p.md: tests/test_b.py::test_here"]
    assert unsupported("- A promise.\n  `tests/test_a.py::test_here`\n") == []
    assert unsupported("- A promise.\n- Another: tests/test_a.py::test_here\n") == ["A promise."]


@pytest.mark.parametrize("word", ["simply", "Just", "obviously"])
def test_a_banned_word_is_noticed(word: str) -> None:
    assert banned_words({"p.md": f"It {word} works."}) == [f"p.md: {word}"]
    assert banned_words({"p.md": f"```\n{word}\n```\nadjust `{word}`"}) == []


@pytest.mark.parametrize(
    "text",
    [
        "see /home/someone/x",
        "in /tmp/v",
        "https://example.org/x",
        "http://localhost:8080/",
        "pypi.example",
        "my-registry.local",
    ],
)
def test_a_machine_path_or_a_registry_host_is_noticed(text: str) -> None:
    assert machine_paths({"p.md": text})


@pytest.mark.parametrize("text", ["https://doi.org/10.1/x", "docs/guides/x.md", "the ratio a/tmp/b"])
def test_ordinary_paths_and_citations_pass(text: str) -> None:
    assert machine_paths({"p.md": text}) == []


def test_a_heading_in_title_case_is_noticed() -> None:
    assert capitals({"p.md": "# What Is Promised\n"}) == ["p.md: What Is Promised"]
    assert capitals({"p.md": "# What is promised\n"}) == []


def test_a_missing_error_exit_code_or_shelf_is_noticed() -> None:
    page = "## `InputError`\n\nEnds with exit code 2.\n"
    input_error = next(_descendants(QuincunxError))
    assert undocumented_errors(page, [input_error]) == []
    assert undocumented_errors(page.replace("exit code 2", "2"), [input_error]) == ["InputError"]
    assert undocumented_errors("", [input_error]) == ["InputError"]
    assert undocumented_codes("| `0` | done |\n| `2` | usage |\n", [0, 2, 4]) == [4]
    index = "".join(f"## {shelf}\n" for shelf in SHELVES)
    assert missing_shelves(index) == []
    assert missing_shelves(index.replace("## Guides", "Guides")) == ["Guides"]


def test_an_example_that_is_not_run_is_noticed() -> None:
    assert unexecuted({"p.md": "```pycon\n>>> 1\n1\n\n```\n"}) == []
    assert unexecuted({"p.md": "```python\nprint(1)\n```\n"}) == ["p.md: print(1)\n"]
    assert unexecuted({"p.md": ">>> 1\n1\n"}) == ["p.md: >>> 1"]
