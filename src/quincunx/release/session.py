"""A session: one dataset, its guarantee and its ledger, ready for questions. Planning reads no private row."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Literal, Self

from quincunx.data import FrameT
from quincunx.errors import BudgetError, ParameterError, kind_of
from quincunx.ledger import Budgets
from quincunx.numbers import Log, Number, positive, positive_integer, stated
from quincunx.release import batch
from quincunx.release.account import Account
from quincunx.release.answer import Answer
from quincunx.release.answering import answer_quote
from quincunx.release.bias import About, covering, with_bias
from quincunx.release.dataset import Dataset, declared
from quincunx.release.explanation import GROUP_SIZE, Cost, Explanation, OutputError, output_errors
from quincunx.release.invariants import InvariantTexts
from quincunx.release.limits import (
    LimitsReport,
    beyond_of,
    chosen_columns,
    count_text,
    questions,
    reported,
)
from quincunx.release.plan_file import ReleaseEntry, read_plan
from quincunx.release.proposal import Proposal
from quincunx.release.quote import Price, cost, explained, quoted
from quincunx.release.reveal import answer_of, lasting_notes, reveal_facts
from quincunx.release.tidy import check_tidy, read_tidy
from quincunx.spec import AddRemove, Budgeted, Replace, Specification
from quincunx.table import Engine, KeptFile, Limits, Table, keep_rows, open_engine, question_limits

if TYPE_CHECKING:
    import duckdb


class Session(Generic[FrameT]):
    """A dataset under one guarantee.

    dataset: the name that owns the budget for ever. version: the curator's name for the state of the data; raise it
    when they change. ledger: the path of the ledger; ":memory:" forgets everything at the end and must be typed.
    tables: name → Table, private and public. unit: AddRemove or Replace. standard: Pure, Approximate,
    ZCDP, Renyi or GaussianDP (whose questions spend μ²).
    intensity: all that may ever be spent on this dataset, in the standard's parameter. budgets: {"plan": …,
    "analysts": {…}}, smaller budgets in the same parameter. confidence: of all intervals. analyst: who asks.
    invariants: facts that are published exactly, as {name: SQL} or a list of SQL texts: counts and sums by keys. They
    are registered as the scope of the guarantee, which protects nothing that follows from them. snapshot: whether each
    private table is read once, by the first question that needs it, and kept in the memory of the process until the
    session is closed; None: CSV files are. A path: they are, and where `keep` has made that file, they come from there.
    No answer, price or identity depends on it.
    """

    __slots__ = ("_account", "_dataset", "_engine", "_releases", "_reports", "_snapshot")

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
        snapshot: bool | str | os.PathLike[str] | None = None,
    ) -> None:
        self._snapshot = _read_snapshot(snapshot)
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
        self._reports: list[LimitsReport] = []

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
                snapshot=plan.snapshot,
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
        weights: Mapping[str, Number] | None = None,
        assume: Mapping[str, Number] | None = None,
        limits: Mapping[str, Number] | Literal["auto"] | None = None,
        tidy: Iterable[str] = (),
        interval: bool = True,
        about: About = "bounded",
    ) -> Answer[FrameT]:
        """Ask, pay and answer. A question that was asked before costs nothing and gets its stored answer.

        spend: in the standard's parameter, or within: {output: half-width}. delta: where keys are unknown; under (ε, δ)
        also where they are public: then noise is Laplace or Gaussian, and δ is charged if it lowers the error. tidy:
        "non-negative", "integer". weights: {output: weight}, how the spend is divided; 1 for every other. interval:
        whether a part of the spend may pay for intervals, as of quantiles. about: what intervals are about, the
        "bounded" statistic, or the "truth" where a limits report of this session covers it.
        assume: {"rows": 1000}, the size of the group for which half-widths of means and the like are reached.
        limits: {"rows": 30}, how much of one person may count here, instead of what follows from the tables' limits;
        "auto" where the question chooses privately how much does.
        """
        wanted = read_tidy(tidy)
        own = _read_limits(limits)
        price = Price(
            spend=spend, delta=delta, within=within, weights=weights, assume=assume, interval=interval, limits=own
        )
        with self._account.looking() as look:
            quote = quoted(self._dataset, look, text, price)
            check_tidy(quote.program, wanted)
            report = covering(quote.program, self._reports, about)
            found = answer_quote(self._account, look, self._connect, quote)
        answer: Answer[FrameT] = answer_of(self._dataset, self._account, quote, found, found.content, wanted)
        return with_bias(answer, quote.program, report, about)

    def limits(
        self, table: str, *, by: str | Sequence[str] | None = None, spend: Number, beyond: int | None = None
    ) -> LimitsReport:
        """How far the limits of a table are from its people: who is over them, and which rows they lose.

        by: columns with public keys whose groups are looked at; all that have public keys, if nobody says. spend: for
        the whole report, in equal parts. beyond: how many rows beyond the limit are looked at, of each person. Stored
        like any answer: the same report again costs nothing.
        """
        dataset = self._dataset
        known, key = reported(dataset.schema, table)
        columns = chosen_columns(known, by)
        counted = dataset.program(count_text(known, columns))
        if counted.climb is not None:
            hint = "Each question chooses its own, and says which. State limits to see what they would do."
            what = "a limits report is about limits that are stated"
            raise ParameterError(what, where="limits", got="auto", hint=hint)
        reach = beyond_of(beyond, counted)
        asked = questions(known, key, columns, counted, reach)
        share = positive(spend, "spend") / len(asked)
        limited = {each.name: (dataset.limited(known.name, each.limits), each.sql) for each in asked}
        self._check_affordable(limited.values(), share)
        answers = {name: self._asked(given, text, share) for name, (given, text) in limited.items()}
        report = LimitsReport(
            table=known.name,
            by=tuple(each.name for each in columns),
            present=known.limits,
            bound=math.sqrt(counted.measures[0].vector.bound2),
            beyond=reach,
            people={name: answer for name, answer in answers.items() if name != "lost"},
            lost=answers["lost"],
            spent=sum((answer.spent for answer in answers.values()), Fraction(0)),
            symbol=dataset.registration.symbol,
            counted=counted,
        )
        self._reports.append(report)
        return report

    def _check_affordable(self, asked: Iterable[tuple[Dataset, str]], share: Fraction) -> None:
        """All of a report or nothing: refused before its first question is paid for."""
        with self._account.looking() as look:
            quotes = [quoted(dataset, look, text, Price(spend=share)) for dataset, text in asked]
            wanted = sum((each.priced.spend for each in quotes if not look.paid(each.question)), Fraction(0))
            if wanted > look.affordable:
                symbol, left = self._dataset.registration.symbol, look.affordable
                raise BudgetError(
                    "the budget does not cover the report",
                    where="spend",
                    got=stated(symbol, wanted),
                    hint=f"The largest affordable spend is {stated(symbol, left)}.",
                    symbol=symbol,
                    requested=wanted,
                    affordable=left,
                )

    def _asked(self, dataset: Dataset, text: str, spend: Fraction) -> Answer[FrameT]:
        with self._account.looking() as look:
            quote = quoted(dataset, look, text, Price(spend=spend))
            found = answer_quote(self._account, look, self._connect, quote)
        return answer_of(dataset, self._account, quote, found, found.content, ())

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
        weights: Mapping[str, Number] | None = None,
        assume: Mapping[str, Number] | None = None,
        limits: Mapping[str, Number] | Literal["auto"] | None = None,
        group_size: Number = GROUP_SIZE,
        interval: bool = True,
    ) -> Explanation:
        """What the question would do: the plan in words, and its cost and errors if a spend is given. Free.

        group_size: the number of rows for which errors of means and quantiles are worked out. interval: as in `sql`.
        """
        size, given = positive_integer(group_size, "group_size"), self._dataset
        own = _read_limits(limits)
        price = Price(
            spend=spend, delta=delta, within=within, weights=weights, assume=assume, interval=interval, limits=own
        )
        if spend is None and within is None:
            program = given.program(text, interval=interval, limits=price.limits)
            return explained(given, text, program, self._connect())
        with self._account.looking() as look:
            quote = quoted(given, look, text, price)
            costs = cost(given, look, quote.priced, quote.question)
        return explained(given, text, quote.program, self._connect(), quote.priced, costs, size)

    def cost(
        self,
        text: str,
        *,
        spend: Number | None = None,
        delta: Number | None = None,
        within: Mapping[str, Number] | None = None,
        weights: Mapping[str, Number] | None = None,
        assume: Mapping[str, Number] | None = None,
        limits: Mapping[str, Number] | Literal["auto"] | None = None,
    ) -> Cost:
        """What the question would cost, and whether the budgets cover it. Free."""
        price = Price(
            spend=spend, delta=delta, within=within, weights=weights, assume=assume, limits=_read_limits(limits)
        )
        with self._account.looking() as look:
            quote = quoted(self._dataset, look, text, price)
            return cost(self._dataset, look, quote.priced, quote.question)

    def error(
        self,
        text: str,
        *,
        spend: Number | None = None,
        delta: Number | None = None,
        within: Mapping[str, Number] | None = None,
        weights: Mapping[str, Number] | None = None,
        assume: Mapping[str, Number] | None = None,
        limits: Mapping[str, Number] | Literal["auto"] | None = None,
        group_size: Number = GROUP_SIZE,
    ) -> tuple[OutputError, ...]:
        """How far each output would be off. Free."""
        price = Price(
            spend=spend, delta=delta, within=within, weights=weights, assume=assume, limits=_read_limits(limits)
        )
        with self._account.looking() as look:
            quote = quoted(self._dataset, look, text, price)
        return output_errors(quote.priced, self._dataset.confidence, positive_integer(group_size, "group_size"))

    def check(self) -> batch.Check:
        """What can be wrong before the first row is read: every release of the plan, its costs, the budgets. Free."""
        return batch.check(self._dataset, self._account, self._connect, self._releases)

    def propose(self, within: Mapping[str, Number], *, assume: Mapping[str, Number] | None = None) -> Proposal:
        """Spends for the [[release]] entries of the plan that reach half-widths. Free, and reads no private row.

        within: {"release.output": half-width}, or {"output": half-width} for every release that has it; entries that
        are not named spend what the plan says. assume: {"rows": 1000}, the size of the group for which half-widths
        hold, for all but counts and sums.
        """
        return batch.propose(self._dataset, self._account, self._releases, within, assume)

    def release(self, out: str | Path, *, progress: Callable[[str], None] | None = None) -> batch.Release:
        """Answer every [[release]] of the plan and write them to the folder `out`. `check` is its dry run.

        progress: called with the name of each stage of the work, which depends on the plan alone.
        """
        if not self._releases and not self._dataset.invariants:
            hint = "Write [[release]] entries in a plan file and open it with Session.open."
            raise ParameterError("there is no release", where="release", hint=hint)
        told = progress or (lambda _: None)
        return batch.release(self._dataset, self._account, self._connect, self._releases, Path(out), told)

    def keep(self) -> str:
        """Read every private table into the snapshot's file, in the place of what it held, for sessions to come.

        For the curator: nothing is asked or spent, and private rows then rest in that file. Returns its path.
        """
        file = self._file()
        keep_rows(self._dataset.tables, self._dataset.schema, file)
        return file.path

    def _connect(self) -> Engine:
        """The engine, connected when it is first needed."""
        if self._engine is None:
            kept = self._file() if isinstance(self._snapshot, str) else self._snapshot
            self._engine = open_engine(self._dataset.tables, self._dataset.schema, snapshot=kept)
        return self._engine

    def _file(self) -> KeptFile:
        if not isinstance(self._snapshot, str):
            hint = 'Name one: snapshot = "visits.snapshot" in the plan, or snapshot="visits.snapshot".'
            raise ParameterError("no file is named for a snapshot", where="snapshot", hint=hint)
        return KeptFile(path=self._snapshot, dataset=self._dataset.name, version=self._dataset.version)


def _read_limits(given: Mapping[str, Number] | Literal["auto"] | None) -> Limits | None:
    return None if given is None else question_limits(given)


def _read_snapshot(given: object) -> bool | str | None:
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, str | os.PathLike) and os.fsdecode(given).endswith(KeptFile.ENDING):
        return os.path.abspath(os.fsdecode(given))
    hint = f'Write True, False or "visits{KeptFile.ENDING}"; left out, CSV files are kept and other sources are not.'
    what = f"expected True, False or the path of a file that ends in {KeptFile.ENDING}"
    raise ParameterError(what, where="snapshot", got=kind_of(given), hint=hint)
