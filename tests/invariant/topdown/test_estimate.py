"""Least squares on the tree against least squares on one large dense matrix, values and variances."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from quincunx.invariant.topdown import Measured, TopDown
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.estimate import Estimate, combined
from quincunx.invariant.topdown.measure import variance_of
from quincunx.invariant.topdown.schema import Query, Schema
from quincunx.noise.testing import key_of, keyed
from tests.invariant.topdown.worlds import random_world


def dense(planned: TopDown, level: int, query: Query) -> np.ndarray:
    """The query at a level as a matrix on all cells of all leaves, built from its definition."""
    geography, schema = planned.geography, planned.schema
    owner = np.arange(geography.nodes(geography.depth - 1))
    for step in range(geography.depth - 1, level, -1):
        owner = geography.parents[step][owner]
    groups = schema.groups(query)
    rows = np.zeros((geography.nodes(level), query.cells, len(owner), schema.cells))
    for leaf, place in enumerate(owner):
        rows[place, groups, leaf, np.arange(schema.cells)] = 1
    return rows.reshape(geography.nodes(level) * query.cells, -1)


Answer = Callable[[int, Query], tuple[np.ndarray, np.ndarray, np.ndarray]]


def by_hand(planned: TopDown, measured: Measured) -> Answer:
    """Best linear unbiased estimates, variances, and whether each is estimable, by the null space of the facts."""
    used, facts = measured.answers, measured.facts
    a = np.vstack([dense(planned, line.level, line.query) / np.sqrt(variance_of(line)) for line, _ in used])
    b = np.concatenate([y.reshape(-1) / np.sqrt(variance_of(line)) for line, y in used])
    size = a.shape[1]
    start, free = np.zeros(size), np.eye(size)
    if facts:
        c = np.vstack([dense(planned, fact.level, fact.query) for fact, _ in facts])
        d = np.concatenate([y.reshape(-1) for _, y in facts])
        start = np.linalg.lstsq(c, d, rcond=None)[0]
        _, s, vt = np.linalg.svd(c)
        free = vt[(s > 1e-9).sum() :].T
    inside = a @ free
    # Where the facts fix all that was measured only roundings are left, and they say nothing.
    inside[np.abs(inside) < 1e-9] = 0.0
    inverse = np.linalg.pinv(inside.T @ inside, rcond=1e-10, hermitian=True)
    best = start + free @ (inverse @ (inside.T @ (b - a @ start)))
    seen = inverse @ inside.T @ inside

    def answer(level: int, query: Query) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        wanted = dense(planned, level, query)
        on = wanted @ free
        # Estimable: the row lies in the span of what was measured.
        estimable = np.abs(on - on @ seen).max(axis=1, initial=0.0) < 1e-6
        return wanted @ best, ((on @ inverse) * on).sum(axis=1), estimable

    return answer


def test_values_and_variances_are_those_of_dense_least_squares(tmp_path: Path, ci: bool) -> None:
    compared = exact = unknown = 0
    for number in range(60 if ci else 15):
        folder = tmp_path / str(number)
        folder.mkdir()
        planned, _, _ = random_world(f"dense {number}", folder)
        geography, schema = planned.geography, planned.schema
        if geography.nodes(geography.depth - 1) * schema.cells > (400 if ci else 150):
            continue
        with keyed(key_of(f"dense {number}")):
            release = planned.run()
        answer = by_hand(planned, release.measured)
        for level, name in enumerate(geography.names):
            for query in ("total", "detailed", *schema.names):
                found = release.estimate(name, query)
                value, variance, estimable = answer(level, schema.query(query))
                known = np.isfinite(found.variance.reshape(-1))
                # Tree passes keep whole coordinates: what they call known is estimable.
                assert not (known & ~estimable).any()
                scale = 1 + np.abs(value[known])
                assert (np.abs(found.value.reshape(-1)[known] - value[known]) < 1e-6 * scale).all()
                assert np.allclose(found.variance.reshape(-1)[known], variance[known], rtol=1e-6, atol=1e-9)
                compared += int(known.sum())
                exact += int((found.variance.reshape(-1)[known] == 0).sum())
                unknown += int((~known).sum())
    assert compared > (400 if ci else 150)
    assert exact > 20


def test_combining_is_exact_at_nothing_and_everything() -> None:
    def one(value: float, variance: float) -> Estimate:
        return Estimate(value=np.array([[value]]), variance=np.array([[variance]]))

    cases = [
        ((1.0, 2.0), (4.0, 4.0), (2.0, 4 / 3)),
        ((1.0, np.inf), (4.0, 4.0), (4.0, 4.0)),
        ((1.0, 2.0), (0.0, np.inf), (1.0, 2.0)),
        ((0.0, np.inf), (0.0, np.inf), (0.0, np.inf)),
        ((7.0, 0.0), (4.0, 4.0), (7.0, 0.0)),
        ((7.0, 3.0), (4.0, 0.0), (4.0, 0.0)),
        ((7.0, 0.0), (7.0, 0.0), (7.0, 0.0)),
    ]
    for first, second, (value, variance) in cases:
        found = combined(one(*first), one(*second))
        assert found.value[0, 0] == pytest.approx(value)
        assert found.variance[0, 0] == pytest.approx(variance)


@pytest.mark.parametrize(
    "schema",
    [
        Schema(attributes={"a": ["x", "y", "z"]}),
        Schema(attributes={"a": ["x", "y"], "b": list("pqrs"), "c": list("123")}),
        Schema(
            attributes={"a": list("wxyz"), "b": ["0", "1"]},
            recodes={"half": {"attribute": "a", "groups": [["w", "z"], ["x", "y"]]}},
        ),
        Schema(attributes={"a": [str(i) for i in range(63)], "b": list("01"), "c": list("01")}),
    ],
)
def test_queries_are_diagonal_in_the_basis(schema: Schema) -> None:
    basis = Basis.of(schema)
    turn = basis.coordinates(np.eye(schema.cells))
    assert np.allclose(turn @ turn.T, np.eye(schema.cells), atol=1e-12)
    assert np.allclose(basis.tables(turn), np.eye(schema.cells), atol=1e-12)
    names = ["total", "detailed", *schema.names, "*".join(schema.names[:2]), *(name for name, _ in schema.recodes)]
    for name in dict.fromkeys(names):
        query = schema.query(name)
        matrix = schema.answers(query, np.eye(schema.cells)).T
        gram = turn.T @ matrix.T @ matrix @ turn
        assert np.allclose(gram, np.diag(basis.weights(query)), atol=1e-10)
        x = np.random.default_rng(1).normal(size=(5, schema.cells))
        assert np.allclose(basis.answers(query, basis.coordinates(x)), schema.answers(query, x))
        y = np.random.default_rng(2).normal(size=(5, query.cells))
        assert np.allclose(basis.back(query, y), y @ matrix @ turn)
        variance = np.random.default_rng(3).random((1, schema.cells))
        assert np.allclose(basis.variances(query, variance)[0], ((matrix @ turn) ** 2) @ variance[0])


def test_a_recode_with_unequal_groups_has_no_weights() -> None:
    schema = Schema(attributes={"a": list("xyz")}, recodes={"r": {"attribute": "a", "groups": [["x"], ["y", "z"]]}})
    assert Basis.of(schema).weights(schema.query("r")) is None
    assert schema.answers(schema.query("r"), np.array([[1, 2, 3]])).tolist() == [[1, 5]]
