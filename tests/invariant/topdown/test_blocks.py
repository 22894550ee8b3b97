"""Recodes with groups of different sizes in the estimates: against dense least squares and single coordinates."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quincunx.errors import ParameterError
from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.blocks import least_squares
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.measure import variance_of
from quincunx.invariant.topdown.published import half_width
from quincunx.noise.testing import key_of, keyed
from quincunx.spec.unit import Replace
from tests.invariant.topdown.test_estimate import by_hand
from tests.invariant.topdown.worlds import hierarchy, random_world


def mixed_world(seed: str) -> TopDown | None:
    """A plan whose recodes divide two attributes unequally, some of them twice; None where it is too large."""
    rng = random.Random(seed)
    geography = hierarchy(rng)
    attributes = {"a": list("uvwxy")[: rng.randint(3, 5)], "b": list("012")[: rng.randint(1, 3)]}
    values = attributes["a"]
    cut = rng.randint(1, len(values) - 1)
    recodes = {"halves": {"attribute": "a", "groups": [values[:cut], values[cut:]]}}
    queries = ["total", "detailed", "a", "b", "halves", "halves*b"]
    if rng.random() < 0.5:
        mixed = rng.sample(values, len(values))
        recodes["one"] = {"attribute": "a", "groups": [mixed[:1], mixed[1:]]}
        queries.append("one")
    if len(attributes["b"]) == 3 and rng.random() < 0.6:
        recodes["last"] = {"attribute": "b", "groups": [["0"], ["1", "2"]]}
        queries += ["last", "halves*last"]
    chosen: dict[str, list[str]] = {}
    for name in geography.names:
        # Some levels are not measured: what is unknown there must be said to be.
        if rng.random() < 0.8 or name == geography.names[-1]:
            chosen[name] = rng.sample(queries, rng.randint(1, 4))
    shares: dict[str, dict[str, Any]] = {
        name: {"share": Fraction(1, len(chosen)), **dict.fromkeys(some, Fraction(1, len(some)))}
        for name, some in chosen.items()
    }
    fact = rng.choice(["total", "halves", "b", queries[-1]])
    leaves = np.random.default_rng(rng.randrange(1000)).poisson(
        4, (geography.nodes(geography.depth - 1), len(values) * len(attributes["b"]))
    )
    if leaves.size > 100:
        return None
    return TopDown(
        dataset="mixed",
        version="1",
        ledger=":memory:",
        source=leaves,
        geography=geography,
        attributes=attributes,
        recodes=recodes,
        shares=shares,
        rho=rng.choice(["1/10", "2"]),
        unit=Replace(),
        invariants=[(rng.choice(geography.names), fact)] if rng.random() < 0.7 else [],
        freed="dropped" if rng.random() < 0.5 else "given",
    )


def test_values_and_variances_are_those_of_dense_least_squares(ci: bool) -> None:
    known = unknown = exact = worlds = 0
    for number in range(120 if ci else 24):
        try:
            planned = mixed_world(f"mixed {number}")
        except ParameterError:
            # An invariant that determines all that would be measured.
            continue
        if planned is None:
            continue
        worlds += 1
        with keyed(key_of(f"mixed {number}")):
            measured = planned.measure()
        answer = by_hand(planned, measured)
        for level, best in enumerate(least_squares(planned.basis, planned.geography, measured.answers, measured.facts)):
            for name in ("total", "detailed", "a", "halves", *(each for each, _ in planned.schema.recodes)):
                query = planned.schema.query(name)
                found = best.of(query)
                value, variance, estimable = answer(level, query)
                # Known is what can be estimated, neither more nor less.
                assert (np.isfinite(found.variance.reshape(-1)) == estimable).all()
                assert np.allclose(found.value.reshape(-1)[estimable], value[estimable], rtol=1e-7, atol=1e-6)
                assert np.allclose(found.variance.reshape(-1)[estimable], variance[estimable], rtol=1e-7, atol=1e-9)
                known, unknown = known + int(estimable.sum()), unknown + int((~estimable).sum())
                exact += int((found.variance.reshape(-1)[estimable] == 0).sum())
    assert worlds > (40 if ci else 6)
    assert known > (4_000 if ci else 500)
    assert min(unknown, exact) > (200 if ci else 20)


def test_where_every_query_is_diagonal_they_are_single_coordinates(tmp_path: Path, ci: bool) -> None:
    compared = 0
    for number in range(60 if ci else 15):
        folder = tmp_path / str(number)
        folder.mkdir()
        planned, _, _ = random_world(f"dense {number}", folder)
        used = [*(line.query for line in planned.budget), *(each.query for each in planned.invariants)]
        if any(planned.basis.weights(query) is None for query in used):
            continue
        with keyed(key_of(f"dense {number}")):
            measured = planned.measure()
        blocks = least_squares(planned.basis, planned.geography, measured.answers, measured.facts)
        for one, other in zip(planned.best(measured), blocks, strict=True):
            for name in ("total", "detailed", *planned.schema.names):
                single, block = one.of(planned.schema.query(name)), other.of(planned.schema.query(name))
                assert (np.isfinite(single.variance) == np.isfinite(block.variance)).all()
                assert np.allclose(single.value, block.value, rtol=1e-8, atol=1e-7)
                assert np.allclose(single.variance, block.variance, rtol=1e-8, atol=1e-9)
                compared += single.value.size
    assert compared > 300


def test_a_recode_makes_intervals_shorter_and_they_cover_what_they_say() -> None:
    """3,000 places: 90 % within five standard errors of a share (false alarm below 1e-6, and the key is fixed)."""
    places = Geography.of([("r", f"b{i:04d}") for i in range(3000)], ["root", "block"], "block")
    truth = np.random.default_rng(6).integers(5, 60, (3000, 4))
    found = {}
    for name, shares in {
        "with": {"share": "1/2", "detailed": "1/2", "most": "1/2"},
        "without": {"share": "1/2", "detailed": "1/2", "total": "1/2"},
    }.items():
        planned = TopDown(
            dataset="cover",
            version="1",
            ledger=":memory:",
            source=truth,
            geography=places,
            attributes={"a": list("wxyz")},
            recodes={"most": {"attribute": "a", "groups": [["w"], ["x", "y", "z"]]}},
            shares={"root": {"share": "1/2", "total": 1}, "block": shares},
            rho="1/5",
            unit=Replace(),
        )
        with keyed(key_of(f"cover {name}")):
            best = planned.best(planned.measure())[1]
        query = planned.schema.query("most")
        found[name] = best.of(query)
        exact = planned.schema.answers(query, truth)
        inside = np.abs(found[name].value - exact) <= half_width(planned.confidence) * np.sqrt(found[name].variance)
        assert np.abs(inside.mean(axis=0) - 0.9).max() < 5 * np.sqrt(0.09 / 3000)
    assert (found["with"].variance < 0.8 * found["without"].variance).all()


@pytest.mark.parametrize("groups", [[["w"], ["x", "y", "z"]], [["w", "x"], ["y", "z"]]])
def test_a_recode_that_is_measured_is_in_the_estimates_of_the_release(groups: list[list[str]]) -> None:
    """Alone it is what was measured, noise and all: nothing else says anything about it."""
    planned = TopDown(
        dataset="alone",
        version="1",
        ledger=":memory:",
        source=np.array([[5, 1, 0, 9], [3, 3, 3, 3]]),
        geography=Geography.of([("l1",), ("l2",)], ["leaf"], "leaf"),
        attributes={"a": list("wxyz")},
        recodes={"r": {"attribute": "a", "groups": groups}},
        shares={"leaf": {"share": 1, "r": 1}},
        rho=1,
        unit=Replace(),
    )
    with keyed(key_of("alone")):
        release = planned.run()
    (line, answers) = release.measured.answers[0]
    found = release.estimate("leaf", "r")
    assert np.allclose(found.value, answers)
    assert np.allclose(found.variance, variance_of(line))
    assert np.isinf(release.estimate("leaf", "detailed").variance[:, -1]).all()
