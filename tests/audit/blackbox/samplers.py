"""Mechanisms as samplers in bulk, and the neighbours and claims of those that are tight."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from quincunx import noise
from quincunx.audit.blackbox.sampler import Sampler
from quincunx.mechanisms import DiscreteLaplace, Exponential, Laplace, PermuteAndFlip, RandomizedResponse
from quincunx.spec.standard import Pure


def bulk(mechanism: Any) -> Sampler:
    """A mechanism on arrays: one value or one vector, many times."""
    return Sampler.many(lambda x, size: mechanism.sample(np.full((size, *np.shape(x)), x)), type(mechanism).__name__)


def flipped(epsilon: str) -> Sampler:
    """Permute-and-flip between two candidates, in bulk: a fair order, and one coin for the worse candidate."""
    scale = PermuteAndFlip.calibrate(epsilon=epsilon).scale

    def draw(scores: list[int], size: int) -> np.ndarray:
        worse = int(scores[1] < scores[0])
        first = np.asarray(noise.bernoulli("1/2", size))
        taken = np.asarray(noise.bernoulli_exp(abs(scores[0] - scores[1]) / scale, size))
        return np.where(first & taken, worse, 1 - worse)

    return Sampler.many(draw, "PermuteAndFlip")


def selected(epsilon: str) -> Sampler:
    """The exponential mechanism in bulk: its own choice, `size` times."""
    scale = Exponential.calibrate(epsilon=epsilon).scale
    return Sampler.many(lambda scores, size: noise.choice([s / scale for s in scores], size), "Exponential")


def own_epsilon(mechanism: Exponential, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> Fraction:
    """ε of one pair of scores: the exponential mechanism attains its ε in the limit alone."""
    model = mechanism.finite(pair)
    laws = [[model.probability(x, y) for y in model.outputs] for x in pair]
    return Fraction(math.ceil(float(Pure().least(*laws).upper) * 10**9), 10**9)


def tight(epsilon: str) -> dict[str, tuple[Sampler, Any, str]]:
    """Mechanisms whose ε is attained by one event, with the worst neighbours and the claim."""
    scores = ((0, 0), (1, -1))
    exponential = Exponential.calibrate(epsilon=epsilon)
    return {
        "discrete Laplace": (bulk(DiscreteLaplace(scale=1 / Fraction(epsilon))), (0, 1), f"epsilon={epsilon}"),
        "Laplace": (bulk(Laplace(scale=1 / Fraction(epsilon), step="1/1024")), (0, 1024), f"epsilon={epsilon}"),
        "randomized response": (bulk(RandomizedResponse.calibrate(epsilon=epsilon)), (0, 1), f"epsilon={epsilon}"),
        "with four options": (
            bulk(RandomizedResponse.calibrate(epsilon=epsilon, options=4)),
            (0, 3),
            f"epsilon={epsilon}",
        ),
        "permute-and-flip": (flipped(epsilon), scores, f"epsilon={epsilon}"),
        "exponential, of this pair": (selected(epsilon), scores, f"epsilon={own_epsilon(exponential, scores)}"),
    }
