"""What is agreed about a dataset before the first question: the five blocks with the total, and smaller budgets."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from quincunx.errors import (
    ParameterError,
    PrivacyError,
    QuincunxWarning,
    RegistrationError,
    SpecificationError,
    kind_of,
    under,
)
from quincunx.ledger.canonical import canonical, name
from quincunx.ledger.names import CURATOR, check_new
from quincunx.ledger.spending import SHARE, exact, rounded
from quincunx.loss import Filter
from quincunx.numbers import Number, at_least, non_negative, number, positive, stated
from quincunx.spec import Additive, Specification

# {"plan": limit, "analysts": {name: limit}, "smallest_spend": amount}, each optional.
Budgets: TypeAlias = Mapping[str, Number | Mapping[str, Number] | None]
_KEYS: Final = {"plan", "analysts", "smallest_spend"}
# The last specification and its four blocks as text: one place, so that both are read and written at once.
_LAST: Final[list[tuple[Specification | None, str]]] = [(None, "")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A dataset's name, its specification and its budgets.

    dataset: the name that owns the budget, for ever and across versions of the data.
    specification: the five blocks; the intensity is the total of all that may ever be spent, in the standard's
    parameter (ε for pure and approximate, ρ for zCDP, μ for Gaussian), the standard's δ the total of δ.
    plan: what each plan may spend in the additive parameter (ε, ρ, μ²); None: no limit but the dataset's.
    analysts: (name, limit) of each analyst who has one, sorted. If any has, an analyst who is not named has 0, save the
    curator, who has no limit but the dataset's.
    smallest_spend: the least that one question may spend, if the curator registered it; otherwise 1e-6 of the total.
    symbol: the parameter that is budgeted: ε, ρ or μ². total: the dataset's budget in it; an irrational intensity is
    rounded down to 12 decimals. delta: the dataset's budget of δ. guarantee: domain, scope, unit and standard as
    canonical JSON, which every question of the dataset must share.
    """

    dataset: str
    specification: Specification
    plan: Fraction | None
    analysts: tuple[tuple[str, Fraction], ...]
    smallest_spend: Fraction | None
    # Worked out once, because every spend asks for them.
    symbol: str = field(init=False, compare=False)
    total: Fraction = field(init=False, compare=False)
    delta: Fraction = field(init=False, compare=False)
    guarantee: str = field(init=False, compare=False)

    def __init__(self, *, dataset: str, specification: Specification, budgets: Budgets | None = None) -> None:
        given: object = specification
        if not isinstance(given, Specification):
            raise SpecificationError("expected a Specification", where="register", got=kind_of(given))
        if specification.varies:
            hint = "State one number for all universes; what is spent is charged in every universe."
            raise SpecificationError("a ledger needs one total", where="intensity", hint=hint)
        # A filter knows which standards have a parameter that adds up, and what the budget in it is.
        account = Filter(cast(Additive, specification.standard), specification.largest)
        with under("budgets"):
            plan, analysts, smallest = _budgets({} if budgets is None else budgets)
        with under("dataset"):
            object.__setattr__(self, "dataset", name(dataset, "dataset"))
        object.__setattr__(self, "specification", specification)
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "analysts", analysts)
        object.__setattr__(self, "smallest_spend", smallest)
        object.__setattr__(self, "symbol", account.standard.additive)
        object.__setattr__(self, "total", account.budget)
        object.__setattr__(self, "delta", account.account.remaining_delta)
        object.__setattr__(self, "guarantee", guarantee(specification))

    def __repr__(self) -> str:
        given = f"dataset={self.dataset!r}, specification={self.specification!r}, budgets={self.budgets!r}"
        return f"Registration({given})"

    @property
    def budgets(self) -> Budgets:
        """The smaller budgets as `register` takes them."""
        # What is left out has no text, so that registrations from before it existed stay what they were.
        smallest = {} if self.smallest_spend is None else {"smallest_spend": self.smallest_spend}
        return {"plan": self.plan, "analysts": dict(self.analysts), **smallest}

    @property
    def smallest(self) -> Fraction:
        """The least that one question may spend."""
        return self.total * SHARE if self.smallest_spend is None else self.smallest_spend

    def check_size(self, cost: Fraction) -> None:
        """Raise ParameterError for a spend that is smaller than the smallest; a cost of 0 is none."""
        if 0 < cost < self.smallest:
            hint = f"The smallest spend is {self.symbol} = {at_least(self.smallest)}; the curator can register another."
            got = stated(self.symbol, cost)
            raise ParameterError("the spend is too small", where=f"dataset {self.dataset!r}", got=got, hint=hint)

    def check_spend(
        self, cost: Fraction, delta: Fraction, remaining: Callable[[], Collection[Fraction | None]]
    ) -> None:
        """Raise ParameterError for a spend that is too small, or whose fraction is too long to be added up.

        remaining: tells what is left of each budget in the way; all of it may be spent, whatever its fraction is.
        """
        self.check_size(cost)
        for spent, total, sign in ((cost, self.total, self.symbol), (delta, self.delta, "δ")):
            if not exact(spent, total) and spent not in remaining():
                hint = f"Rounded up it is {sign} = {at_least(rounded(spent, total, spent - 1))}."
                where, got = f"dataset {self.dataset!r}", stated(sign, spent)
                raise ParameterError("the fraction of this spend is too long", where=where, got=got, hint=hint)

    def budget(self, kind: str, holder: str) -> Fraction | None:
        """What a holder may spend of the "dataset", a "plan" or as an "analyst"; None: no limit of their own."""
        if kind == "analyst":
            return self.limit(holder)
        return self.total if kind == "dataset" else self.plan

    def limit(self, analyst: str) -> Fraction | None:
        """What the analyst may spend: None without any analyst budgets and for the curator, who answers for the total;
        0 for one who is not named in them."""
        unnamed = None if analyst == CURATOR else Fraction(0)
        return dict(self.analysts).get(analyst, unnamed) if self.analysts else None

    def to_dict(self) -> dict[str, object]:
        """What is recorded."""
        return {"dataset": self.dataset, "specification": self.specification.to_dict(), "budgets": self.budgets}

    def text(self) -> str:
        """The registration as canonical JSON."""
        return canonical(self.to_dict(), "registration")

    @staticmethod
    def from_text(text: str) -> Registration:
        """The registration that `text` wrote. What is not known is refused."""
        return _read(text)

    def check_analyst(self, analyst: str | None, others: Iterable[str]) -> None:
        """Where analysts have budgets everyone says who asks; a new name does not look like that of one of the others.

        others: the analysts who have spent.
        """
        limits = dict(self.analysts)
        if analyst is None and limits:
            hint = f'Write analyst="{next(iter(limits))}", or analyst="{CURATOR}" for whoever answers for the total.'
            raise PrivacyError("analysts have budgets here, so a question says who asks", where="analyst", hint=hint)
        known = [CURATOR, *limits, *others]
        if analyst is not None and analyst not in known:
            check_new(analyst, known, "analyst")

    def check_names(
        self, datasets: Iterable[str], before: Registration | None = None, analysts: Iterable[str] = ()
    ) -> None:
        """Raise RegistrationError for a name that is new and looks like another.

        datasets: all that are registered. before: what was registered of this one, whose names go on working.
        analysts: those who have spent.
        """
        limits = {} if before is None else dict(before.analysts)
        old = [CURATOR, *limits, *analysts]
        if before is None:
            check_new(self.dataset, datasets, "dataset")
        if CURATOR in dict(self.analysts) and CURATOR not in limits:
            hint = "Leave it out: the curator is bounded by the total, and has a line of their own in the ledger."
            raise RegistrationError("this name is reserved", where="analysts", got=repr(CURATOR), hint=hint)
        for analyst, _ in self.analysts:
            if analyst not in old:
                check_new(analyst, old, "analysts")
                old.append(analyst)

    def check_same(self, other: Registration) -> None:
        """Raise RegistrationError, line by line, unless `other` says the same."""
        lines = differences(self, other)
        if lines:
            hint = "Go on with what is registered, or let the curator amend it, with a reason."
            where = f"dataset {self.dataset!r}"
            what = "this differs from what the ledger has registered for the dataset; nothing was spent"
            raise RegistrationError(what, where=where, got="; ".join(lines), hint=hint)


def guarantee(specification: Specification) -> str:
    """The four blocks that an answer shares with its dataset, as canonical JSON: all but the intensity."""
    before, text = _LAST[0]
    # Question after question names the same object. Equal ones could have two texts: 1 and true are equal.
    if before is not specification:
        blocks = specification.to_dict()
        del blocks["intensity"]
        text = canonical(blocks, "specification")
        _LAST[0] = (specification, text)
    return text


def differences(registered: Registration, given: Registration) -> list[str]:
    """One line for each place where the two differ, with both values."""
    texts = [registered.text(), given.text()]
    if texts[0] == texts[1]:
        return []
    old, new = (dict(_lines(json.loads(each), "")) for each in texts)
    places = [place for place in {**old, **new} if old.get(place) != new.get(place)]
    lines = [
        f"{place.removeprefix('specification.')}: registered {_said(registered, place, old.get(place))}, "
        f"given {_said(given, place, new.get(place))}"
        for place in places
    ]
    return lines or ["their JSON forms differ"]


def _said(registration: Registration, place: str, value: str | None) -> str:
    if value is None:
        return "nothing"
    is_amount = place == "specification.intensity" or place.startswith("budgets.")
    return stated(registration.symbol, number(value)) if is_amount else value


def _lines(value: object, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lines(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _lines(item, f"{place}[{i}]")
    elif value is not None:
        yield place, str(value) if isinstance(value, str) else json.dumps(value)


def _budgets(
    budgets: Mapping[str, Any],
) -> tuple[Fraction | None, tuple[tuple[str, Fraction], ...], Fraction | None]:
    given: object = budgets
    if not isinstance(given, Mapping) or not set(given) <= _KEYS:
        got = f"{sorted(map(str, set(given) - _KEYS))}" if isinstance(given, Mapping) else type(given).__name__
        hint = 'Write {"plan": "1/4", "analysts": {"alice": "1/10"}, "smallest_spend": "1e-4"}; each may be left out.'
        raise ParameterError("cannot read the budgets", where="budgets", got=got, hint=hint)
    plan, analysts = budgets.get("plan"), budgets.get("analysts") or {}
    if not isinstance(analysts, Mapping):
        hint = 'Write {"alice": "1/10"}.'
        raise ParameterError("expected names with limits", where="analysts", got=kind_of(analysts), hint=hint)
    pairs = [(name(key, "analysts"), non_negative(value, f"analysts[{key!r}]")) for key, value in analysts.items()]
    least = budgets.get("smallest_spend")
    smallest = None if least is None else positive(least, "smallest_spend")
    return None if plan is None else non_negative(plan, "plan"), tuple(sorted(pairs)), smallest


@lru_cache(maxsize=64)
def _read(text: str) -> Registration:
    data = json.loads(text)
    with warnings.catch_warnings():
        # The warning was given when it was registered.
        warnings.simplefilter("ignore", QuincunxWarning)
        specification = Specification.from_json(json.dumps(data["specification"]))
    return Registration(dataset=data["dataset"], specification=specification, budgets=data["budgets"])
