"""`quincunx taxonomy list|show|search|convert|path|compare|graph|choose|pages`: what they print and refuse."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quincunx.cli import relations
from quincunx.cli.app import app

RUN = CliRunner()


def run(*args: str, code: int = 0) -> str:
    done = RUN.invoke(app, ["taxonomy", *args])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def test_list_has_all_and_one_dimension() -> None:
    assert run("list").count("\n  ") == 89
    assert "SimCDP" in run("list", "--dimension", "c")
    assert "ADP" not in run("list", "--dimension", "C").split()
    assert len(json.loads(run("list", "--json"))) == 89
    assert "one of the letters" in run("list", "--dimension", "X", code=2)


def test_show_says_what_is_printed_and_what_is_settled() -> None:
    text = run("show", "BayDP-TF20")
    assert "post-processing: no (counterexample: BayDP-TF20/post_processing); the survey prints yes" in text
    assert "Triastcyn and Faltings" in text
    data = json.loads(run("show", "zCDP", "--json"))
    assert data["axioms"]["convexity"]["settled"] == "yes"
    assert "BayDP-YSN15, BayDP-TF20, BayDP-LL12" in run("show", "Bayesian DP", code=2)


def test_search_and_nothing_found() -> None:
    assert "geo-indistinguishability" in run("search", "places")
    assert run("search", "zzz") == ""
    assert json.loads(run("search", "zzz", "--json")) == []


def test_convert_prints_the_way_and_its_conditions() -> None:
    text = run("convert", "pure", "zcdp", "--set", "epsilon=1")
    assert text.startswith("zCoDP with ρ ≤ 0.462118, ξ = 0")
    assert "DP → zCoDP" in text
    text = run("convert", "InfPr", "ADP", "--set", "epsilon=ln(2)", "--set", "delta=1e-6")
    assert "if every prior gives every dataset a positive probability" in text
    assert "du Pin Calmon" in text
    data = json.loads(
        run("convert", "ADP", "ProDP", "--set", "epsilon=1", "--set", "delta=1e-6", "--to", "delta=1e-5", "--json")
    )
    assert data["parameters"]["epsilon"] == pytest.approx(1.105361)
    granted = run("convert", "InfPr", "ADP", "--set", "epsilon=1", "--set", "delta=0", "--assume", "supported")
    assert "if every" not in granted


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("pure", "zcdp"), "epsilon is missing"),
        (("pure", "zcdp", "--set", "epsilon"), "expected name=value"),
        (("pure", "zcdp", "--set", "epsilon=ln(x)"), "ln"),
        (("KL", "DP", "--set", "epsilon=1"), "nothing is known to follow"),
        (("pure", "zcdp", "--set", "epsilon=1", "--assume", "luck"), "unknown condition"),
    ],
)
def test_convert_refuses_with_a_sentence(args: tuple[str, ...], what: str) -> None:
    assert what in run("convert", *args, code=2)


def test_path_compare_and_choose() -> None:
    assert "no: on the stored world zero knowledge" in run("path", "ZKPr", "uBoDP")
    assert "DP → zCoDP" in run("path", "DP", "zCoDP")
    assert json.loads(run("path", "DP", "zCoDP", "--json"))["status"] == "yes"
    text = run("compare", "ADP", "DP")
    assert "ADP accepts and DP refuses" in text
    assert json.loads(run("compare", "ADP", "DP", "--json"))["separations"][0]["world"]["laws"]
    assert "Read first: ClDP (ε-client DP), zCoDP" in run("choose", "--sensitive", "person", "--often", "many")
    assert json.loads(run("choose", "--json"))["definitions"] == ["DP"]
    assert "Did you mean 'person'" in run("choose", "--sensitive", "persons", code=2)


def test_graph_and_pages_are_written(tmp_path: Path) -> None:
    run("graph", str(tmp_path / "zcdp.svg"), "--around", "zCDP")
    assert (tmp_path / "zcdp.svg").read_text(encoding="utf-8").startswith("<svg")
    assert json.loads(run("graph", str(tmp_path / "q.svg"), "--dimension", "Q", "--json"))["width"] == 1200
    assert "must end in .svg" in run("graph", str(tmp_path / "q.png"), code=2)
    assert len(json.loads(run("pages", "--out", str(tmp_path / "pages"), "--json"))["files"]) == 180
    assert (tmp_path / "pages" / "index.md").exists()


def test_on_a_terminal_it_asks_again_until_it_gets_a_number() -> None:
    with RUN.isolation(input="4\nx\n99\n1\n1\n2\n") as streams:
        answers = relations._asked()
    assert answers == {"sensitive": "person", "attacker": "anybody", "exact": "nothing", "often": "many"}
    assert streams is not None
