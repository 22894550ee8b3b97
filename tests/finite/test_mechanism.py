"""A finite mechanism holds exactly what was typed, and refuses everything that is not a law."""

from __future__ import annotations

import math
import pickle
import random
from decimal import Decimal
from fractions import Fraction

import pytest
import tables

from quincunx.errors import MatrixError, ParameterError
from quincunx.finite import Mechanism
from quincunx.numbers import Ball, ball, precision

F = Fraction
WORLD = {"x0": {"a": "3/4", "b": "1/4"}, "x1": {"b": 0.75, "c": Decimal("0.25")}}


def test_typed_decimals_are_exact() -> None:
    m = Mechanism({"x": {"a": 0.1, "b": "0.2", "c": F(3, 10), "d": Decimal("0.4"), "e": 0}})
    assert m.law("x") == (F(1, 10), F(1, 5), F(3, 10), F(2, 5), F(0))
    assert Mechanism({"x": {"a": 1}}).law("x") == (F(1),)
    assert m.exact


def test_outputs_are_the_union_in_the_order_first_seen() -> None:
    m = Mechanism(WORLD)
    assert m.inputs == ("x0", "x1")
    assert m.outputs == ("a", "b", "c")
    assert m.law("x0") == (F(3, 4), F(1, 4), F(0))
    assert m.law("x1") == (F(0), F(3, 4), F(1, 4))
    assert m.probability("x0", "c") == 0
    assert m.probability("x1", "b") == F(3, 4)


def test_any_hashable_is_a_label() -> None:
    m = Mechanism({(1, 2): {frozenset({3}): 1}, None: {3.5: 1}})
    assert m.inputs == ((1, 2), None)
    assert m.outputs == (frozenset({3}), 3.5)


def test_a_mechanism_is_immutable() -> None:
    table = {"x": {"a": F(1, 2), "b": F(1, 2)}}
    m = Mechanism(table)
    table["x"]["a"] = F(1)
    assert m.law("x") == (F(1, 2), F(1, 2))
    copy = m.table()
    copy["x"]["a"] = F(1)
    assert m.law("x") == (F(1, 2), F(1, 2))
    with pytest.raises(AttributeError, match="immutable"):
        m.inputs = ("y",)
    with pytest.raises(AttributeError, match="immutable"):
        del m.inputs
    with pytest.raises(TypeError):
        m.row("x")["a"] = F(1)


def test_equality_is_of_laws() -> None:
    one = Mechanism(WORLD)
    other = Mechanism({"x1": {"c": "1/4", "b": "3/4", "a": 0}, "x0": {"b": "0.25", "a": "0.75"}})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Mechanism({"x0": {"a": "3/4", "b": "1/4"}})
    assert one != Mechanism({**WORLD, "x1": {"b": "1/4", "c": "3/4"}})
    assert one != "x0"
    assert pickle.loads(pickle.dumps(one)) == one


def test_worlds_of_balls_are_equal_only_to_themselves() -> None:
    third = Ball(1, 1e-40) / 2
    one, other = (Mechanism({"x": {"a": third, "b": third}}) for _ in range(2))
    assert one == one
    assert one != other
    assert not one.exact
    assert len({one, other}) == 2


def test_repr_is_short() -> None:
    assert repr(Mechanism(WORLD)) == "<finite.Mechanism: 2 inputs, 3 outputs, exact>"
    assert "balls" in repr(Mechanism({"x": {"a": Ball(0.5), "b": F(1, 2)}}))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "at least one input"),
        ([], "at least one input"),
        (None, "at least one input"),
        ({"x": {}}, "at least one output"),
        ({"x": [1]}, "at least one output"),
        ({"x": {"a": "1/2", "b": "1/3"}}, "do not sum to 1; got 5/6"),
        ({"x": {"a": "2/3", "b": "2/3"}}, "do not sum to 1; got 4/3"),
        ({"x": {"a": 0}}, "do not sum to 1; got 0"),
        ({"x": {"a": 0.3333, "b": 0.6666}}, "do not sum"),
        ({"x": {"a": "3/2", "b": "-1/2"}}, "from 0 to 1"),
        ({"x": {"a": -0.5, "b": 1.5}}, "from 0 to 1"),
        ({"x": {"a": math.nan}}, "finite"),
        ({"x": {"a": math.inf}}, "finite"),
        ({"x": {"a": -math.inf}}, "finite"),
        ({"x": {"a": "nan"}}, "finite"),
        ({"x": {"a": "1/0"}}, "denominator 0"),
        ({"x": {"a": ""}}, "finite"),
        ({"x": {"a": None}}, "number"),
        ({"x": {"a": True}}, "number"),
        ({"x": {"a": [1]}}, "number"),
        ({"x": {"a": 1 + 0j}}, "number"),
        ({"x": {"a": "1e99999"}}, "too long"),
        ({"x": {"a": Ball(0.5), "b": Ball(0.25)}}, "ball around 1"),
        ({"x": {"a": Ball(0.5, 0.001), "b": Ball(0.5)}}, "ball around 1"),
        ({"x": {"a": Ball.nan(), "b": Ball(0.5)}}, "not a probability"),
        ({"x": {"a": Ball.pos_inf()}}, "not a probability"),
        ({"x": {"a": Ball(-0.5), "b": Ball(1.5)}}, "not a probability"),
    ],
)
def test_malformed_tables(table: object, said: str) -> None:
    with pytest.raises(MatrixError, match=said):
        Mechanism(table)


def test_the_message_names_the_row_and_the_output() -> None:
    with pytest.raises(MatrixError, match="row 'bad'"):
        Mechanism({"good": {"a": 1}, "bad": {"a": "1/2"}})
    with pytest.raises(MatrixError, match="row 'bad', output 'b'"):
        Mechanism({"good": {"a": 1}, "bad": {"a": 1, "b": "x"}})


def test_one_in_a_billion_short_is_refused() -> None:
    with pytest.raises(MatrixError, match="sum to 1"):
        Mechanism({"x": {"a": 1 - F(1, 10**30)}})
    with pytest.raises(MatrixError, match="ball"), precision(256):
        Mechanism({"x": {"a": ball(F(1, 3)), "b": ball(F(2, 3)) - Ball(10) ** -40}})


def test_balls_are_kept() -> None:
    with precision(256):
        half = Ball(1).exp() / (Ball(1).exp() * 2)
    m = Mechanism({"x": {"a": half, "b": F(1, 2)}, "y": {"a": F(1, 4), "b": F(3, 4)}})
    assert m.law("x")[0] is half
    assert m.law("y") == (F(1, 4), F(3, 4))


def test_unknown_labels() -> None:
    m = Mechanism({i: {"a": 1} for i in range(9)})
    with pytest.raises(MatrixError, match=r"unknown input; got 'x9'.*Known: 0, 1"):
        m.law("x9")
    with pytest.raises(MatrixError, match="unknown output"):
        m.probability(0, "z")


def test_too_many_entries_are_refused_before_they_are_built() -> None:
    coin = Mechanism({"x": {0: "1/2", 1: "1/2"}})
    with pytest.raises(MatrixError, match="too many entries"):
        coin.power(21)
    with pytest.raises(MatrixError, match="too many entries"):
        coin.power(10**6)
    assert len(coin.power(10).outputs) == 1024


@pytest.mark.parametrize("n", [0, -1, "1/2", math.nan, 1.5, None])
def test_power_needs_a_whole_number(n: object) -> None:
    with pytest.raises(ParameterError):
        tables.response().power(n)


def test_map_adds_up_merged_outputs() -> None:
    m = Mechanism(WORLD).map(lambda o: o in "ab")
    assert m.outputs == (True, False)
    assert m.law("x0") == (F(1), F(0))
    assert m.law("x1") == (F(3, 4), F(1, 4))


def test_post_is_a_matrix_product() -> None:
    rng = random.Random("post")
    for _ in range(30):
        m = tables.mechanism(rng)
        kernel = tables.mechanism(rng, tuple(m.outputs))
        after = m.post(kernel)
        for x in m.inputs:
            for o in after.outputs:
                expected = sum((m.probability(x, i) * kernel.probability(i, o) for i in m.outputs), F(0))
                assert after.probability(x, o) == expected


def test_post_needs_a_row_for_every_output() -> None:
    with pytest.raises(MatrixError, match="no row for an output; got 'c'"):
        Mechanism(WORLD).post(Mechanism({"a": {"u": 1}, "b": {"u": 1}}))


def test_on_runs_the_function_first() -> None:
    m = tables.response().on(lambda x: x % 2, range(5))
    assert m.inputs == (0, 1, 2, 3, 4)
    assert m.law(2) == m.law(0) == (F(3, 4), F(1, 4))
    with pytest.raises(MatrixError, match="unknown input"):
        tables.response().on(lambda x: x, [0, 7])
    with pytest.raises(MatrixError, match="at least one input"):
        tables.response().on(lambda x: x, [])


def test_power_is_independent_runs() -> None:
    m = tables.response().power(3)
    assert len(m.outputs) == 8
    assert m.probability(1, (1, 1, 0)) == F(9, 64)
    assert tables.response().power(1).outputs == ((0,), (1,))


def test_balls_flow_through_every_operation() -> None:
    with precision(256):
        p = Ball(1) / (1 + Ball(1).exp())
        m = Mechanism({0: {"a": p, "b": 1 - p, "c": 0}, 1: {"a": 1 - p, "b": p, "c": 0}})
    for made in (m.power(3), m.map(lambda _: "all"), m.post(Mechanism({o: {o: 1} for o in "abc"}))):
        for x in made.inputs:
            with precision(256):
                total = sum((ball(v) for v in made.law(x)), Ball(0))
                assert total.contains(1)
                assert total.rad() < 1e-60
    assert m.power(2).probability(0, ("a", "c")) == 0
