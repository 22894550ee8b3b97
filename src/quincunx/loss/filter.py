"""Accounts for several releases: losses chosen along the way, and losses fixed in advance.

`Filter` holds a budget while each loss is chosen from the answers so far. `Odometer` adds up pure ε without a budget.
`Batch` holds losses that are fixed before the first answer, and it alone answers for the composed δ(ε) curve. Why each
may do what it does, and why a filter may not stop on a curve: filter.md.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NoReturn

from quincunx.errors import BudgetError, DataError, MisuseError, ParameterError, PrivacyError, kind_of
from quincunx.loss.loss import Loss
from quincunx.loss.spend import cost, rounded_up
from quincunx.numbers import (
    Ball,
    Exact,
    Log,
    Number,
    amount,
    at_most,
    ball,
    delta_parameter,
    exact_fraction,
    number,
    precision,
    stated,
)
from quincunx.spec import Additive, Pure, Standard, adds_up

_DECIMALS: Final = 10**12
_KNOWN: Final = "Pure(), Approximate(delta), ZCDP(), GaussianDP() or Renyi(alpha)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The receipt of one admitted loss: what it cost, and the account after it.

    cost, spent, remaining: in the standard's additive parameter (ε, ρ, μ², or D_α at the fixed order), exact.
    delta, spent_delta, remaining_delta: in δ, exact.
    """

    cost: Fraction
    delta: Fraction
    spent: Fraction
    spent_delta: Fraction
    remaining: Fraction
    remaining_delta: Fraction


class _Account:
    """A running account: one lock, one process and no copies, because a copy would not see what the other spends."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock: AbstractContextManager[object] = threading.Lock()
        self._process = os.getpid()

    def _here(self) -> None:
        # A forked child holds a copy of the account; the parent would not see what it spends.
        if os.getpid() != self._process:
            hint = "Let one process own it and ask that process."
            raise PrivacyError("belongs to the process that made it", where=type(self).__name__, hint=hint)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        what = "cannot be copied or stored: a copy would not see what the other spends"
        raise PrivacyError(what, where=type(self).__name__, hint="Share the object itself.")


class Filter(_Account):
    """A budget for losses that are chosen from the answers so far.

    standard: Pure, Approximate, ZCDP, GaussianDP or Renyi; every other is refused. intensity: its customary parameter.
    The budget is the intensity, for GaussianDP its square μ²; an irrational one is rounded down to 12 decimals.
    Whatever is admitted, in whatever order and for whatever reason, all the answers together satisfy `standard` at
    `intensity`. Threads may share a filter; processes may not.
    """

    __slots__ = ("_account", "_budget", "_intensity", "_standard")

    def __init__(self, standard: Additive, intensity: Number | Log) -> None:
        super().__init__()
        self._standard = _additive(standard)
        self._intensity = number(intensity)
        standard.check(self._intensity)
        self._budget = _budget(standard, self._intensity)
        self._account = self._state(Fraction(0), Fraction(0), Fraction(0), Fraction(0))

    @property
    def standard(self) -> Additive:
        """The standard whose parameter is budgeted."""
        return self._standard

    @property
    def intensity(self) -> Exact:
        """The intensity that all answers together satisfy."""
        return self._intensity

    @property
    def budget(self) -> Fraction:
        """The whole budget in the additive parameter."""
        return self._budget

    @property
    def account(self) -> Admission:
        """The state after the last admitted loss; before the first, a receipt of nothing."""
        return self._account

    def admit(self, loss: Loss, *, delta: Number = 0) -> Admission:
        """Charge `loss` and return the receipt, or raise BudgetError and change nothing. Ask before you release.

        delta: the share of δ that this loss may use, for an Approximate filter: the loss costs (ε(delta), delta). With
        0 it costs its pure ε and the δ it states itself.
        """
        self._here()
        price, share = self._charge(_loss(loss, "admit"), delta)
        with self._lock:
            admission = self._decide(price, share)
            self._account = admission
        return admission

    def _charge(self, loss: Loss, delta: object) -> tuple[Fraction, Fraction]:
        standard, share = self._standard, delta_parameter(delta)
        if share and not standard.shares_delta:
            got, hint = amount(share), "Other standards take the δ that a loss states itself."
            raise ParameterError("only an Approximate filter shares out δ", where="delta", got=got, hint=hint)
        used = share or loss.stated_delta()
        # With a share the loss is (ε(δ), δ) by its own curve; without one, its parameters are added.
        return rounded_up(Ball(loss.epsilon(share)), standard) if share else cost(standard, loss), used

    def _decide(self, price: Fraction, share: Fraction) -> Admission:
        spent, spent_delta = self._account.spent + price, self._account.spent_delta + share
        if spent > self._budget:
            raise _refusal(self._standard.additive, price, self._account.spent, self._account.remaining)
        if spent_delta > self._standard.delta_budget:
            raise _refusal("δ", share, self._account.spent_delta, self._account.remaining_delta)
        return self._state(price, share, spent, spent_delta)

    def _state(self, price: Fraction, share: Fraction, spent: Fraction, spent_delta: Fraction) -> Admission:
        return Admission(
            cost=price,
            delta=share,
            spent=spent,
            spent_delta=spent_delta,
            remaining=self._budget - spent,
            remaining_delta=self._standard.delta_budget - spent_delta,
        )

    def __repr__(self) -> str:
        account, delta = self._account, self._standard.delta_budget
        rest = f", δ = {amount(account.spent_delta)} of {amount(delta)}" if delta else ""
        return f"<Filter: spent {self._standard.additive} = {amount(account.spent)} of {amount(self._budget)}{rest}>"


class Odometer(_Account):
    """A running total of pure ε, for losses chosen from the answers so far and a stop that depends on them.

    On every course of events the answers given are at most e^total times as likely under one dataset as under its
    neighbour, with the `total` of that very course. No other standard has this, so others are refused. It refuses
    nothing that is pure: a bound that holds for all courses needs a Filter. Threads may share it.
    """

    __slots__ = ("_total",)

    def __init__(self) -> None:
        super().__init__()
        self._total = Fraction(0)

    @property
    def total(self) -> Fraction:
        """The pure ε recorded so far, exact or rounded up to 12 decimals per loss."""
        return self._total

    def record(self, loss: Loss) -> Fraction:
        """Add `loss` and return the new total. Raises PrivacyError, and adds nothing, if the loss is not pure."""
        self._here()
        if stated := _loss(loss, "record").stated_delta():
            got, hint = f"δ = {amount(stated)}", "Use a Filter with a δ."
            raise PrivacyError("the loss is private only up to δ", where="Odometer", got=got, hint=hint)
        price = cost(Pure(), loss)
        with self._lock:
            self._total += price
            return self._total

    def __repr__(self) -> str:
        return f"<Odometer: ε = {amount(self._total)}>"


@dataclass(frozen=True, slots=True)
class Batch:
    """Losses fixed before the first answer. Only for such may the composed δ(ε) curve be used.

    losses: any number of losses. Which mechanism spends which loss, in which order, and when to stop, may depend on the
    answers; the losses may not. So a batch is a value: it has no way to grow, and no `admit`.
    """

    losses: tuple[Loss, ...]

    def __init__(self, losses: Iterable[Loss]) -> None:
        given: object = losses
        if not isinstance(given, Iterable):
            got, hint = type(given).__name__, "Write Batch([loss])."
            raise DataError("expected several losses", where="Batch", got=got, hint=hint)
        object.__setattr__(self, "losses", tuple(_loss(loss, "Batch") for loss in given))

    @property
    def loss(self) -> Loss:
        """The loss of all of them together."""
        return Loss(tuple(term for loss in self.losses for term in loss.terms))

    def epsilon(self, delta: Number) -> float:
        """An ε such that all answers together are (ε, δ); never below the certified bound."""
        return self.loss.epsilon(delta)

    def epsilon_bounds(self, delta: Number) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest ε at 0 ≤ `delta` < 1."""
        return self.loss.epsilon_bounds(delta)

    def delta(self, epsilon: Number) -> float:
        """A δ such that all answers together are (ε, δ); never below the certified bound."""
        return self.loss.delta(epsilon)

    def delta_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest δ at `epsilon` ≥ 0."""
        return self.loss.delta_bounds(epsilon)


def _additive(standard: object) -> Additive:
    if adds_up(standard):
        return standard
    got = type(standard).__name__
    if isinstance(standard, Standard):
        what = f"no filter for this standard: {standard.unadded}"
        raise MisuseError(what, where="standard", got=got, hint=f"Use {_KNOWN}.")
    hint = f"Use {_KNOWN}; a composed δ(ε) curve is for a Batch, whose losses are fixed in advance."
    raise MisuseError("a filter is built on a standard, not on a loss or a curve", where="standard", got=got, hint=hint)


def _budget(standard: Additive, intensity: Exact) -> Fraction:
    if isinstance(intensity, Fraction):
        return intensity**standard.power
    with precision(256):
        lowest = exact_fraction((ball(intensity) ** standard.power).lower())
    return Fraction(lowest * _DECIMALS // 1, _DECIMALS)


def _refusal(symbol: str, requested: Fraction, spent: Fraction, remaining: Fraction) -> BudgetError:
    return BudgetError(
        "the budget does not cover this loss; nothing was spent",
        where="Filter",
        got=f"{stated(symbol, requested)}, with {amount(spent)} spent and {amount(remaining)} remaining",
        hint=f"The largest affordable is {symbol} = {at_most(remaining)}.",
        symbol=symbol,
        requested=requested,
        spent=spent,
        remaining=remaining,
        affordable=remaining,
    )


def _loss(loss: object, where: str) -> Loss:
    if isinstance(loss, Loss):
        return loss
    hint = "A mechanism has .loss, a batch has .loss."
    raise DataError("expected a Loss", where=where, got=kind_of(loss), hint=hint)
