"""What docs/promise.md says is *not* promised, shown: each of these is a fact about this release, not a goal. And the
page itself: every test that it names is collected.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import quincunx as qx
from quincunx import noise
from quincunx.errors import BudgetError, PrivacyError
from quincunx.mechanisms import DiscreteLaplace, Laplace
from quincunx.noise.testing import key_of, keyed

ROOT = Path(__file__).parents[2]
ENORMOUS = "1e12"
COUNT = "SELECT COUNT(*) AS n FROM visits"


def table(rows: dict[str, list[Any]], **declared: Any) -> qx.Table:
    return qx.Table(pd.DataFrame(rows), **{"limits": {"rows": 3}, **declared})


def session(visits: qx.Table, **changes: Any) -> qx.Session:
    given: dict[str, Any] = {
        "dataset": "visits",
        "version": "1",
        "ledger": ":memory:",
        "tables": {"visits": visits},
        "unit": qx.unit.AddRemove(key="person_id"),
        "standard": qx.standard.ZCDP(),
        "intensity": ENORMOUS,
    }
    return qx.Session(**(given | changes))


# The page.


def named_tests(text: str) -> set[str]:
    return set(re.findall(r"`(tests/[^`]+::test_\w+)`", text))


def collected(names: set[str]) -> set[str]:
    """The tests that pytest finds in the files of `names`, without parameters."""
    files = sorted({name.partition("::")[0] for name in names})
    command = [sys.executable, "-m", "pytest", "--ci", "--collect-only", "-q", "-o", "addopts=-p no:cacheprovider"]
    found = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-2000:]
    return {line.partition("[")[0] for line in found.stdout.splitlines() if "::" in line}


def test_every_test_that_the_page_names_is_collected(request: pytest.FixtureRequest) -> None:
    names = named_tests((ROOT / "docs" / "promise.md").read_text(encoding="utf-8"))
    assert len(names) >= 80
    # A run of everything has collected them already; what is left is looked for.
    left = names - {item.nodeid.partition("[")[0] for item in request.session.items}
    assert sorted(left - (collected(left) if left else set())) == []


def test_a_test_that_is_not_collected_is_noticed() -> None:
    here = "tests/docs/test_promise.py"
    names = {f"{here}::test_a_call_that_does_not_exist", f"{here}::test_nothing_counts_what_was_spent"}
    assert named_tests(f"- A. `{here}::test_a`\n- B. tests/b.py::test_b\n") == {f"{here}::test_a"}
    assert names - collected(names) == {f"{here}::test_a_call_that_does_not_exist"}


# Mechanisms used by themselves.


def test_the_work_of_a_draw_depends_on_its_bits() -> None:
    # Two calls with the same parameters take different numbers of exact decisions.
    counts = set()
    for name in ("first", "second", "third"):
        with keyed(key_of(name)) as stream:
            noise.discrete_laplace(10**12, size=2000)
        counts.add(stream.fallbacks)
    assert len(counts) > 1


def test_the_true_values_stay_in_memory() -> None:
    values = np.array([3, 4, 5])
    Laplace(scale=2).sample(values)
    assert values.tolist() == [3, 4, 5]


def test_whoever_runs_the_program_sees_the_true_values() -> None:
    # The mechanism is a function of the true value, in the same process, and its noise is the difference.
    with keyed(key_of("operator")):
        noisy = DiscreteLaplace(scale=2).sample([100, 200])
    with keyed(key_of("operator")):
        zero = DiscreteLaplace(scale=2).sample([0, 0])
    assert (noisy - zero).tolist() == [100, 200]


def test_the_mechanism_believes_the_stated_sensitivity() -> None:
    # Nothing but the parameter enters the loss: the library has not seen the query.
    assert Laplace(scale=2, sensitivity=1).loss.pure() == 0.5
    assert "values" not in inspect.signature(Laplace).parameters


def test_nothing_counts_what_was_spent() -> None:
    mechanism = Laplace(scale=2)
    before = mechanism.loss
    for _ in range(10):
        mechanism.sample([1])
    assert mechanism.loss == before
    assert (10 * before).pure() == 5.0


# Tables.


def operators(plan: Any) -> Iterator[dict[str, Any]]:
    for each in plan:
        yield each
        yield from operators(each.get("children", ()))


def test_the_work_of_a_question_depends_on_the_rows(tmp_path: Path) -> None:
    work = []
    for rows in (10, 10_000):
        file = tmp_path / f"{rows}.parquet"
        duckdb.sql(f"SELECT i AS person_id FROM range({rows}) r(i)").write_parquet(str(file))
        with session(qx.Table(str(file), limits={"rows": 3})) as asked:
            statement = asked.explain(COUNT).engine_sql
        analysed = duckdb.sql(f"EXPLAIN (ANALYZE, FORMAT json) {statement}").fetchall()[0][1]
        work.append(sum(each["intermediate_rows"] for each in operators(json.loads(analysed)["operator"])))
    assert work[1] > 100 * work[0]


def test_bounds_limits_and_keys_are_believed() -> None:
    # Declarations copied from the rows are accepted: nothing compares them with the rows, or with the world.
    people = {"person_id": [1, 2, 3], "age": [31, 47, 96], "town": ["a", "b", "c"]}
    columns = {"age": {"bounds": (31, 96)}, "town": {"keys": ["a", "b", "c"]}}
    with session(table(people, columns=columns, limits={"rows": 1})) as asked:
        assert asked.notes == () or not any("bound" in note for note in asked.notes)
        answer = asked.sql("SELECT town, SUM(age) AS total FROM visits GROUP BY town", spend=ENORMOUS)
    assert [round(total) for total in answer["total"]] == [31, 47, 96]


def test_one_person_under_two_keys_is_two_people() -> None:
    with session(table({"person_id": ["Ada Lovelace", "A. Lovelace"]})) as asked:
        assert asked.sql("SELECT COUNT(DISTINCT person_id) AS n FROM visits", spend=ENORMOUS).value == 2


def shared_bill(links: dict[str, list[int]]) -> qx.Session:
    """One bill of an encounter, with those who were there."""
    bills = table({"encounter": [7], "amount": [30]}, owner={"via": "visits", "on": "encounter"})
    return session(table(links), tables={"visits": table(links), "bills": bills})


def test_a_shared_row_stays_with_the_others() -> None:
    """Ada and Bob were there together: the bill is still read when Ada is not in the data."""
    asked = "SELECT COUNT(*) AS n FROM bills WHERE amount = 30"
    for people in ([1, 2], [2]):
        with shared_bill({"person_id": people, "encounter": [7] * len(people)}) as found:
            assert found.sql(asked, spend=ENORMOUS).value == len(people)


def test_the_guarantee_says_what_a_person_is_in_several_tables() -> None:
    with shared_bill({"person_id": [1], "encounter": [7]}) as asked:
        words = asked.specification.domain.words()
    assert "one person is all their rows in all tables together" in words
    assert "a row that others share stays with them, and what it says about the one who left is not protected" in words
    with session(table({"person_id": [1]})) as single:
        assert "all tables" not in single.specification.domain.words()


def test_of_two_people_in_one_row_one_is_protected() -> None:
    """Three people bought from one seller: without the seller three people's rows are gone, not one's."""
    rows = {"person_id": [1, 2, 3, 4], "seller": [9, 9, 9, 8]}
    counts = []
    for gone in (None, 9):
        kept = [place for place, seller in enumerate(rows["seller"]) if seller != gone]
        with session(table({name: [values[i] for i in kept] for name, values in rows.items()})) as asked:
            counts.append(asked.sql(COUNT, spend=ENORMOUS).value)
            assert "seller" not in asked.specification.unit.words()
    assert counts == [4, 1]


def test_a_second_name_has_a_second_budget(tmp_path: Path) -> None:
    people, ledger = table({"person_id": [1, 2, 3]}), tmp_path / "ledger.db"
    for name in ("visits", "the same visits"):
        with session(people, dataset=name, ledger=ledger, intensity=1) as asked:
            assert asked.sql(COUNT, spend=1).remaining == 0
            with pytest.raises(BudgetError):
                asked.sql(COUNT, spend="1/2")


def test_the_version_is_believed(tmp_path: Path) -> None:
    # The data changed and the version did not: the stored answer comes back, and nobody can tell from it.
    ledger = tmp_path / "ledger.db"
    with session(table({"person_id": [1, 2, 3]}), ledger=ledger, intensity=10) as asked:
        first = asked.sql(COUNT, spend=1)
    with session(table({"person_id": list(range(1000))}), ledger=ledger, intensity=10) as asked:
        again = asked.sql(COUNT, spend=1)
    assert (again.rows, again.spent) == (first.rows, 0)
    with session(table({"person_id": list(range(1000))}), ledger=ledger, intensity=10, version="2") as asked:
        assert asked.sql(COUNT, spend=1).spent == 1


def test_analysts_who_share_know_the_sum_and_the_dataset_bounds_it(tmp_path: Path) -> None:
    people, ledger = table({"person_id": [1, 2, 3]}), tmp_path / "ledger.db"
    budgets = {"analysts": {"alice": "3/4", "bob": "3/4"}}
    given: dict[str, Any] = {"ledger": ledger, "intensity": 1, "budgets": budgets}
    with session(people, analyst="alice", **given) as alice, session(people, analyst="bob", **given) as bob:
        alice.sql(COUNT, spend="1/2")
        bob.sql(f"{COUNT} WHERE person_id > 0", spend="1/2")
        # Each is within their own budget; together they have all that there is.
        assert alice.spent == bob.spent == 1
        with pytest.raises(BudgetError, match="dataset's budget"):
            alice.sql(COUNT, spend="1/8")


def test_invariants_are_published_exactly() -> None:
    people = {"person_id": [1, 2, 3], "region": ["a", "a", "b"]}
    by_region = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
    with session(table(people, columns={"region": {"keys": ["a", "b"]}}), invariants={"by_region": by_region}) as asked:
        answer = asked.invariants()["by_region"]
        assert answer["n"] == (2, 1)
        assert asked.spent == 0
        assert "protect the published facts" in asked.specification.describe()
        # Nobody whom the table counts is hidden, and it is said who is.
        assert any("such as a person with one row in visits: region NULL" in note for note in asked.notes)


def test_invariants_that_leave_nothing_to_compare_are_refused() -> None:
    for text in ("SELECT COUNT(*) AS n FROM visits", "SELECT COUNT(DISTINCT person_id) AS n FROM visits"):
        with pytest.raises(PrivacyError, match="nothing to compare"):
            session(table({"person_id": [1]}), invariants=[text])


def test_invariants_about_single_people_are_refused() -> None:
    text = "SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id"
    with pytest.raises(PrivacyError, match="single people"):
        session(table({"person_id": [1]}), invariants=[text])


def test_sampling_error_is_not_in_the_intervals() -> None:
    # Without noise to speak of the interval is a point, though these ten people are a sample of some larger world.
    with session(table({"person_id": list(range(10)), "x": [0, 1] * 5}, columns={"x": {"bounds": (0, 1)}})) as asked:
        answer = asked.sql("SELECT AVG(x) AS m FROM visits", spend=ENORMOUS)
    assert answer["m_high"][0] - answer["m_low"][0] < 0.001
    assert "sampling error is not included" in " ".join(str(answer).split())


def test_each_interval_is_for_its_row_alone() -> None:
    with session(table({"person_id": [1]}), intensity=10) as asked:
        assert "row by row" in " ".join(str(asked.sql(COUNT, spend=1)).split())


def test_weighting_makes_counts_too_small_and_says_so() -> None:
    busy = {"person_id": [1] * 30 + [2, 3]}
    with session(table(busy)) as asked:
        answer = asked.sql(COUNT, spend=ENORMOUS)
    # Person 1 counts for 3 rows of 30, and the interval is about that number.
    assert answer.value == 5
    assert answer["n_high"][0] < 32
    assert any("weighted down" in bias for bias in answer.biases)


def test_rows_without_an_owner_are_left_out_and_it_is_said() -> None:
    with session(table({"person_id": ["a", "b", None, None]})) as asked:
        answer = asked.sql(COUNT, spend=ENORMOUS)
    assert answer.value == 2
    assert any("without person_id" in bias for bias in answer.biases)


def test_the_plan_is_public() -> None:
    # Names, bounds, keys and limits are told to whoever asks, and cost nothing.
    columns = {"age": {"bounds": (17, 93)}}
    with session(table({"person_id": [1], "age": [40]}, columns=columns)) as asked:
        shown = str(asked.explain("SELECT SUM(age) AS total FROM visits"))
    assert "17 to 93" in shown
    assert asked.specification.domain is not None


def test_an_enormous_intensity_is_accepted() -> None:
    # The curator chooses ρ; nothing here says which one is wise.
    with session(table({"person_id": [1, 2]})) as asked:
        assert asked.remaining == Fraction(10) ** 12
