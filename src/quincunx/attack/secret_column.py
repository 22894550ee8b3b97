"""People with one secret bit each, questions about them, and curators who answer: roughly, or with Quincunx."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from quincunx.attack.decoding import Bits, reconstruct
from quincunx.attack.programs import Floats
from quincunx.meaning import posterior_bounds
from quincunx.mechanisms import DiscreteLaplace, Gaussian
from quincunx.spec import Specification, domain, scope, standard, unit

PEOPLE, QUESTIONS = 200, 1_000
DELTA: Final = Fraction(1, 10**6)
EPSILONS: Final = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(5), Fraction(10), Fraction(100))
# The errors' standard deviation as a share of √n.
ROUGHNESS: Final = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
KINDS: Final = ("normal", "bounded", "rounded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """People who do not exist, one bit each from a fair coin, and random questions about them.

    bits: the secret column. questions: each person is in each with probability ½.
    """

    bits: Bits
    questions: Bits

    @property
    def touched(self) -> int:
        """In how many questions the person asked about most often is: what one changed bit can move, in ℓ1 and ℓ2²."""
        return int(self.questions.sum(axis=0).max())

    def recovered(self, answers: object) -> float:
        """The share of people whose bit the linear program finds from these answers."""
        return float((reconstruct(self.questions, answers) == self.bits).mean())


def column(source: np.random.Generator, people: int = PEOPLE, questions: int = QUESTIONS) -> Column:
    """A new column with new questions."""
    return Column(bits=source.integers(0, 2, people), questions=source.integers(0, 2, (questions, people)))


def rough_answers(secret: Column, kind: str, sigma: float, source: np.random.Generator) -> Floats:
    """Answers whose errors have the standard deviation sigma, in people: what a curator without accounting might do.

    normal: rounded normal noise. bounded: rounded uniform noise within ±√3·sigma. rounded: the truth to the nearest
    multiple of √12·sigma, no noise at all.
    """
    truth = (secret.questions @ secret.bits).astype(np.float64)
    if kind == "rounded":
        unit_of_rounding = max(1.0, np.sqrt(12.0) * sigma)
        return np.asarray(np.rint(truth / unit_of_rounding) * unit_of_rounding)
    if kind == "bounded":
        reach = np.sqrt(3.0) * sigma
        return np.asarray(np.rint(truth + source.uniform(-reach, reach, truth.size)))
    return np.asarray(np.rint(truth + source.normal(0.0, sigma, truth.size)))


def private_noise(secret: Column, epsilon: Fraction) -> tuple[DiscreteLaplace, Gaussian]:
    """The least noise for all questions together: ε with Laplace noise, (ε, 10^-6) with normal noise.

    Replacing one person's bit moves the answers to the questions about them by 1 each: k in ℓ1, √k in ℓ2.
    """
    return _noise(secret.touched, epsilon)


@cache
def _noise(k: int, epsilon: Fraction) -> tuple[DiscreteLaplace, Gaussian]:
    laplace = DiscreteLaplace.calibrate(sensitivity=k, epsilon=epsilon)
    return laplace, Gaussian.calibrate(sensitivity2=k, epsilon=epsilon, delta=DELTA)


def ceiling(epsilon: Fraction) -> float:
    """The share of bits from fair coins that no attack exceeds on average under pure ε: e^ε/(1 + e^ε)."""
    stated = Specification(
        domain=domain.Tables(columns={"person": "integer", "secret": "integer"}),
        scope=scope.Everything(),
        unit=unit.Replace(),
        standard=standard.Pure(),
        intensity=epsilon,
    )
    return posterior_bounds(Fraction(1, 2), stated).high


def by_roughness(source: np.random.Generator, runs: int) -> dict[str, list[float]]:
    """For each kind of roughness the share recovered at each of ROUGHNESS."""
    found: dict[str, list[float]] = {}
    for kind in KINDS:
        found[kind] = []
        for share in ROUGHNESS:
            secrets = [column(source) for _ in range(runs)]
            told = [rough_answers(each, kind, share * PEOPLE**0.5, source) for each in secrets]
            found[kind].append(_mean([each.recovered(got) for each, got in zip(secrets, told, strict=True)]))
    return found


def by_epsilon(source: np.random.Generator, epsilons: tuple[Fraction, ...], runs: int) -> dict[str, list[float]]:
    """For both kinds of noise the share recovered at each ε for all questions together."""
    found: dict[str, list[float]] = {"laplace": [], "gaussian": []}
    for epsilon in epsilons:
        shares: dict[str, list[float]] = {"laplace": [], "gaussian": []}
        for _ in range(runs):
            secret = column(source)
            truth = secret.questions @ secret.bits
            for name, noise in zip(shares, private_noise(secret, epsilon), strict=True):
                shares[name].append(secret.recovered(noise.sample(truth)))
        for name, each in shares.items():
            found[name].append(_mean(each))
    return found


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
