"""The public surface is listed here: a name that comes or goes must change this file."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quincunx

MECHANISMS = Path(__file__).parents[1] / "docs" / "reference" / "mechanisms.md"
SURFACE = {
    "quincunx": {
        "Loss", "Postgres", "Session", "Spark", "Specification", "Table", "attack", "audit", "chart", "combine",
        "domain", "errors", "finite",
        "intensity", "invariant", "ledger", "loss", "meaning", "mechanisms", "noise", "numbers", "scope", "standard",
        "taxonomy", "unit",
    },
    "quincunx.audit": {
        "Cell", "Claim", "Counterexample", "Finding", "Gap", "Hostility", "Kind", "Pair", "Piece", "Replay", "Report",
        "Sampler", "StatisticReplay", "Violation", "adapters", "challenge", "hostile", "replay", "replay_statistic",
        "run", "self_audit", "spaces",
    },
    "quincunx.audit.spaces": {
        "Finite", "Histograms", "OneOf", "Real", "Records", "Row", "Space", "Tables", "Values", "Whole",
    },
    "quincunx.taxonomy": {
        "DIMENSIONS", "Answer", "Comparison", "Conversion", "Definition", "Edge", "Entry", "Implication", "Judged",
        "Recommendation", "Row", "Value", "Witness", "World", "adversary", "axioms", "background", "catalogue",
        "choose", "compare", "computation", "convert", "definitions", "edges", "entries", "example", "formalism",
        "generate", "get", "graph", "implies", "named", "neighbourhood", "quantification", "random_inputs",
        "relativisation", "semantic", "variation",
    },
    "quincunx.attack": {"Story", "names", "run"},
    "quincunx.chart": {
        "Axis", "Bar", "Box", "Chart", "Line", "Panel", "bars", "boxes", "grid", "heat", "lines", "mosaic",
    },
    "quincunx.invariant": {
        "Dependence", "Kind", "Report", "SwapEpsilon", "SwapRates", "Swapped", "TableError", "TopDown", "swap",
        "swap_epsilon",
        "swap_rate",
    },
    "quincunx.invariant.topdown": {"Bound", "Edits", "Measured", "Pair", "PairRelease", "Release", "TopDown"},
    "quincunx.meaning": {
        "Meaning", "belief", "best_attack", "dependence", "describe", "explain", "groups", "odds",
        "posterior_bounds", "shapes", "testing",
    },
    "quincunx.meaning.belief": {
        "Group", "Odds", "Posterior", "describe", "groups", "odds", "posterior_bounds", "relative_risk",
        "sentence", "vacuous_from",
    },
    "quincunx.meaning.dependence": {
        "Chamber", "Joint", "Judgement", "Moved", "Respondents", "chamber", "chambered", "component",
        "conditional", "copying_chart", "correlation_chart", "family_chart", "farthest", "marginal",
        "markov_boundary",
    },
    "quincunx.meaning.shapes": {
        "APosterioriNoiseless", "Adversarial", "Differential", "PositiveMembership", "Shape", "figure",
    },
    "quincunx.meaning.testing": {
        "Attack", "best_attack", "error_curve",
    },
    "quincunx.ledger": {
        "Account", "Answer", "Balance", "Halt", "Ledger", "Question", "Record", "Registration", "Reservation",
        "Standing", "View",
    },
    "quincunx.release": {
        "Answer", "Basis", "Check", "Column", "Cost", "Derived", "Explanation", "LimitsReport", "OutputError",
        "Proposal", "Proposed", "Release", "Session", "combine",
    },
    "quincunx.sample": {"World", "world", "write_plan_for", "write_sample"},
    "quincunx.noise": {
        "SecureBits", "bernoulli", "bernoulli_exp", "choice", "derangement", "discrete_gaussian", "discrete_laplace",
        "geometric", "injected", "permutation", "rounded_gaussian", "rounded_laplace", "testing", "uniform_integers",
    },
    # The headings of its page: to add a mechanism is to describe it there.
    "quincunx.mechanisms": {"sensitivity", *re.findall(r"^## `(\w+)", MECHANISMS.read_text(encoding="utf-8"), re.M)},
    "quincunx.loss": {
        "Admission", "Batch", "BoundedRangeLaw", "DiscreteGaussianLaw", "Filter", "GaussianLaw", "Largest",
        "LaplaceLaw", "LatticeLaw", "Law", "Loss", "Odometer", "RangesLaw", "ResponseLaw", "StatedLaw", "SubsampledLaw",
    },
}  # fmt: skip


@pytest.mark.parametrize("module", SURFACE)
def test_public_names_are_listed(module: str) -> None:
    loaded = importlib.import_module(module)
    assert set(loaded.__all__) == SURFACE[module]
    for name in loaded.__all__:
        assert getattr(loaded, name) is not None


def test_every_all_is_sorted_and_true() -> None:
    for module in ("numbers", "noise", "loss", "mechanisms", "finite", "spec", "table", "audit"):
        loaded = importlib.import_module(f"quincunx.{module}")
        assert all(hasattr(loaded, name) for name in loaded.__all__)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'epsilon'"):
        quincunx.epsilon  # noqa: B018
    assert set(quincunx.__all__) <= set(dir(quincunx))


def third_party_modules(code: str) -> set[str]:
    """Top-level modules, outside the standard library, that a fresh interpreter holds after `code`."""
    script = f"import sys; before = set(sys.modules); {code}; print('\\n'.join(set(sys.modules) - before))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return {name.split(".")[0] for name in out.split()} - set(sys.stdlib_module_names) - {"quincunx"}


def test_importing_loads_nothing_but_the_library() -> None:
    assert third_party_modules("import quincunx") == set()


def test_the_whole_core_loads_numpy_flint_and_cryptography_only() -> None:
    # Rooms that read tables load what they read them with, when they are first used.
    outer = {"Postgres", "Session", "Spark", "Table", "combine", "attack", "audit", "chart", "invariant", "ledger"}
    touch = f"import quincunx as qx; [getattr(qx, name) for name in {sorted(set(quincunx.__all__) - outer)}]"
    touch += "; qx.noise.discrete_laplace(1)"
    # Names with an underscore and cython_runtime are how these three reach their own compiled parts.
    loaded = {name for name in third_party_modules(touch) if not name.startswith("_")} - {"cython_runtime"}
    assert loaded == {"numpy", "flint", "cryptography"}


def test_no_seed_and_no_injected_key_at_the_top() -> None:
    assert not {"testing", "keyed", "seed"} & set(quincunx.__all__)
