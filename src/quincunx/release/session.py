"""A session: one dataset, its guarantee and its ledger, ready for questions. Planning reads no private row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self

from quincunx.data import FrameT
from quincunx.errors import ParameterError
from quincunx.ledger import Budgets
from quincunx.numbers import Log, Number, positive_integer
from quincunx.release import batch
from quincunx.release.account import Account
from quincunx.release.answer import Answer
from quincunx.release.answering import answer_quote
from quincunx.release.dataset import declared
from quincunx.release.explanation import GROUP_SIZE, Cost, Explanation, OutputError, output_errors
from quincunx.release.invariants import InvariantTexts
from quincunx.release.plan_file import ReleaseEntry, read_plan
from quincunx.release.pricing import Budgeted
from quincunx.release.quote import Price, cost, explained, quoted
from quincunx.release.reveal import answer_of, lasting_notes, reveal_facts
from quincunx.release.tidy import check_tidy, read_tidy
from quincunx.spec import AddRemove, Replace, Specification
from quincunx.table import Engine, Table, open_engine

if TYPE_CHECKING:
    import duckdb


class Session(Generic[FrameT]):
    """A dataset under one guarantee.

    dataset: the name that owns the budget for ever. version: the curator's name for the state of the data; raise it
    when they change. ledger: the path of the ledger; ":memory:" forgets everything at the end and must be typed.
    tables: name → Table, private and public. unit: AddRemove or Replace. standard: Pure, Approximate or ZCDP.
    intensity: all that may ever be spent on this dataset, in the standard's parameter. budgets: {"plan": …,
    "analysts": {…}}, smaller budgets in the same parameter. confidence: of all intervals. analyst: who asks.
    invariants: facts that are published exactly, as {name: SQL} or a list of SQL texts: counts and sums by keys. They
    are registered as the scope of the guarantee, which protects nothing that follows from them.
    """

    __slots__ = ("_account", "_dataset", "_engine", "_releases")

    def __init__(
        self,
        *,
        dataset: str,
        version: str,
        ledger: str | os.PathLike[str],
        tables: Mapping[str, Table[FrameT]],
        unit: AddRemove | Replace,
        standard: Budgeted,
        intensity: Number | Log,
        budgets: Budgets | None = None,
        confidence: Number = "0.95",
        analyst: str | None = None,
        invariants: InvariantTexts = (),
    ) -> None:
        self._dataset = declared(
            dataset=dataset,
            version=version,
            tables=tables,
            unit=unit,
            standard=standard,
            intensity=intensity,
            budgets=budgets,
            confidence=confidence,
            invariants=invariants,
        )
        self._account = Account(path=ledger, registration=self._dataset.registration, analyst=analyst)
        self._engine: Engine | None = None
        self._releases: tuple[ReleaseEntry, ...] = ()

    @classmethod
    def open(cls, path: str | Path, *, analyst: str | None = None) -> Session[duckdb.DuckDBPyRelation]:
        """The session of a plan file. Errors say file and line."""
        plan = read_plan(path)
        with plan.located():
            session: Session[duckdb.DuckDBPyRelation] = Session(
                dataset=plan.dataset,
                version=plan.version,
                ledger=plan.ledger,
                tables={name: entry.open() for name, entry in plan.tables.items()},
                unit=plan.unit,
                standard=plan.standard,
                intensity=plan.intensity,
                budgets=plan.budgets,
                confidence=plan.confidence,
                analyst=analyst,
                invariants=plan.invariants,
            )
        session._releases = plan.releases
        return session

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger and the engine. A ledger in memory is forgotten."""
        self._account.close()
        if self._engine is not None:
            self._engine.close()

    def __repr__(self) -> str:
        return f"<Session: {self.dataset}, version {self._dataset.version}, {self.specification.stated[0][1]}>"

    @property
    def dataset(self) -> str:
        """The name that owns the budget."""
        return self._dataset.name

    @property
    def specification(self) -> Specification:
        """The guarantee: five blocks, the intensity being the total."""
        return self._dataset.registration.specification

    @property
    def remaining(self) -> Fraction:
        """The largest spend that every budget in the way admits: the dataset's, the plan's, the analyst's if named."""
        with self._account.looking() as look:
            return look.affordable

    @property
    def spent(self) -> Fraction:
        """What everyone has spent on the dataset so far."""
        with self._account.looking() as look:
            return look.standing.total.spent

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about the tables and the ledger."""
        with self._account.looking() as look:
            return lasting_notes(self._dataset, self._account, look.standing)

    def sql(
        self,
        text: str,
        *,
        spend: Number | None = None,
        delta: Number | None = None,
        within: Mapping[str, Number] | None = None,
        tidy: Iterable[str] = (),
    ) -> Answer[FrameT]:
        """Ask, pay and answer. A question that was asked before costs nothing and gets its stored answer.

        spend: in the standard's parameter, or within: {output: half-width}. delta: where keys are unknown; under (ε, δ)
        also where they are public: then noise is Laplace or Gaussian, and δ is charged if it lowers the error. tidy:
        "non-negative", "integer".
        """
        wanted = read_tidy(tidy)
        with self._account.looking() as look:
            quote = quoted(self._dataset, look, text, Price(spend=spend, delta=delta, within=within))
            check_tidy(quote.program, wanted)
            found = answer_quote(self._account, look, self._connect, quote)
        return answer_of(self._dataset, self._account, quote, found, found.content, wanted)

    def invariants(self) -> dict[str, Answer[FrameT]]:
        """Every invariant by its name, exactly, at cost 0. It is read from the data once, and then from the ledger."""
        return reveal_facts(self._dataset, self._account, self._connect)

    def explain(
        self,
        text: str,
        *,
        spend: Number | None = None,
        delta: Number | None = None,
        within: Mapping[str, Number] | None = None,
        group_size: Number = GROUP_SIZE,
    ) -> Explanation:
        """What the question would do: the plan in words, and its cost and errors if a spend is given. Free.

        group_size: the number of rows for which the errors of means are worked out.
        """
        size, given = positive_integer(group_size, "group_size"), self._dataset
        if spend is None and within is None:
            program = given.program(text)
            return explained(given, text, program, self._connect().sql(program))
        with self._account.looking() as look:
            quote = quoted(given, look, text, Price(spend=spend, delta=delta, within=within))
            price = cost(given, look, quote.priced, quote.question)
        return explained(given, text, quote.program, self._connect().sql(quote.program), quote.priced, price, size)

    def cost(
        self,
        text: str,
        *,
        spend: Number | None = None,
        delta: Number | None = None,
        within: Mapping[str, Number] | None = None,
    ) -> Cost:
        """What the question would cost, and whether the budgets cover it. Free."""
        with self._account.looking() as look:
            quote = quoted(self._dataset, look, text, Price(spend=spend, delta=delta, within=within))
            return cost(self._dataset, look, quote.priced, quote.question)

    def error(
        self,
        text: str,
        *,
        spend: Number | None = None,
        delta: Number | None = None,
        within: Mapping[str, Number] | None = None,
        group_size: Number = GROUP_SIZE,
    ) -> tuple[OutputError, ...]:
        """How far each output would be off. Free."""
        with self._account.looking() as look:
            quote = quoted(self._dataset, look, text, Price(spend=spend, delta=delta, within=within))
        return output_errors(quote.priced, self._dataset.confidence, positive_integer(group_size, "group_size"))

    def check(self) -> batch.Check:
        """What can be wrong before the first row is read: every release of the plan, its costs, the budgets. Free."""
        return batch.check(self._dataset, self._account, self._connect, self._releases)

    def release(self, out: str | Path, *, progress: Callable[[str], None] | None = None) -> batch.Release:
        """Answer every [[release]] of the plan and write them to the folder `out`. `check` is its dry run.

        progress: called with the name of each stage of the work, which depends on the plan alone.
        """
        if not self._releases and not self._dataset.invariants:
            hint = "Write [[release]] entries in a plan file and open it with Session.open."
            raise ParameterError("there is no release", where="release", hint=hint)
        told = progress or (lambda _: None)
        return batch.release(self._dataset, self._account, self._connect, self._releases, Path(out), told)

    def _connect(self) -> Engine:
        """The engine, connected when it is first needed."""
        if self._engine is None:
            self._engine = open_engine(self._dataset.tables, self._dataset.schema)
        return self._engine
