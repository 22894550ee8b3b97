"""What the peers of agreement.py say: run in a peer's own environment, one process for each.

    python bench/agreement_peers.py dp-accounting

Cases come from standard input, one JSON line each: the terms, how often all of them are used, and δ. The answer is one
line: way of asking → [lower bound or null, upper bound] on ε, or why there is none.
"""

from __future__ import annotations

import contextlib
import json
import math
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

# Seconds after which an answer is not waited for.
PATIENCE = 300
Term = tuple[str, dict[str, str]]
# A lower bound, None where the peer gives none, and an upper bound.
Answer = tuple[float | None, float]
Way = Callable[[list[Term], int, float], Answer]


class UnsupportedError(Exception):
    """The peer has no such mechanism."""


def unsupported(*_: object, **__: object) -> NoReturn:
    raise UnsupportedError


def dp_accounting() -> dict[str, Way]:
    """Three ways: its distributions (both roundings), its accountant of events, its Rényi accountant."""
    import dp_accounting as dpa
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.pld import privacy_loss_distribution as pld
    from dp_accounting.rdp import RdpAccountant

    relation = dpa.NeighboringRelation

    def noise(probability: str, options: str) -> float:
        # Its noise parameter is the probability of a uniform answer: p = 1 − noise·(k − 1)/k.
        return (1 - float(probability)) * int(options) / (int(options) - 1)

    def one(kind: str, given: Mapping[str, str], above: bool) -> Any:
        numbers = {name: float(value) for name, value in given.items()}
        shared = {"pessimistic_estimate": above}
        dots = {**shared, "use_connect_dots": above}
        if kind == "laplace":
            return pld.from_laplace_mechanism(numbers["scale"], **dots)
        if kind == "discrete_laplace":
            steps = int(numbers.get("sensitivity", 1))
            return pld.from_discrete_laplace_mechanism(1 / numbers["scale"], sensitivity=steps, **dots)
        if kind in ("gaussian", "poisson"):
            return pld.from_gaussian_mechanism(numbers["sigma"], sampling_prob=numbers.get("rate", 1), **dots)
        if kind == "discrete_gaussian":
            return pld.from_discrete_gaussian_mechanism(numbers["sigma"], **dots)
        if kind == "response":
            return pld.from_randomized_response(noise(**given), int(given["options"]), **shared)
        return unsupported()

    def distributions(terms: list[Term], count: int, delta: float) -> Answer:
        ends = []
        for above in (False, True):
            total = None
            for kind, given in terms:
                composed = one(kind, given, above).self_compose(count)
                total = composed if total is None else total.compose(composed)
            ends.append(float(total.get_epsilon_for_delta(delta)))
        return ends[0], ends[1]

    def event(kind: str, given: Mapping[str, str]) -> Any:
        made: dict[str, Callable[..., Any]] = {
            "laplace": lambda scale: dpa.LaplaceDpEvent(float(scale)),
            "discrete_laplace": lambda scale, sensitivity="1": dpa.dp_event.DiscreteLaplaceDpEvent(
                1 / float(scale), int(sensitivity)
            ),
            "gaussian": lambda sigma: dpa.GaussianDpEvent(float(sigma)),
            "poisson": lambda sigma, rate: dpa.PoissonSampledDpEvent(float(rate), dpa.GaussianDpEvent(float(sigma))),
            "without_replacement": lambda sigma, rate: dpa.SampledWithoutReplacementDpEvent(
                10**6, round(float(rate) * 10**6), dpa.GaussianDpEvent(float(sigma))
            ),
            "response": lambda probability, options: dpa.RandomizedResponseDpEvent(
                noise(probability, options), int(options)
            ),
        }
        return made.get(kind, unsupported)(**given)

    def accountant(kind: Any) -> Way:
        def spent(terms: list[Term], count: int, delta: float) -> Answer:
            replaced = any(name in ("response", "without_replacement") for name, _ in terms)
            account = kind(neighboring_relation=relation.REPLACE_ONE if replaced else relation.ADD_OR_REMOVE_ONE)
            composed = dpa.SelfComposedDpEvent(dpa.ComposedDpEvent([event(*term) for term in terms]), count)
            if not account.supports(composed):
                unsupported()
            return None, float(account.compose(composed).get_epsilon(delta))

        return spent

    return {
        "dp-accounting distributions": distributions,
        "dp-accounting events": accountant(PLDAccountant),
        "dp-accounting Rényi": accountant(RdpAccountant),
    }


def prv_accountant() -> dict[str, Way]:
    """Its lower and upper bound at ε error 0.01 and δ error δ/1000."""
    from prv_accountant import PRVAccountant
    from prv_accountant import privacy_random_variables as laws

    def law(kind: str, given: Mapping[str, str]) -> Any:
        numbers = {name: float(value) for name, value in given.items()}
        if kind == "laplace":
            return laws.LaplaceMechanism(mu=1 / numbers["scale"])
        if kind == "gaussian":
            return laws.GaussianMechanism(noise_multiplier=numbers["sigma"])
        if kind == "poisson":
            return laws.PoissonSubsampledGaussianMechanism(
                sampling_probability=numbers["rate"], noise_multiplier=numbers["sigma"]
            )
        if kind == "response" and given["options"] == "2":
            return laws.PureDPMechanism(eps=math.log(numbers["probability"] / (1 - numbers["probability"])))
        # One step of the discrete law is randomized response.
        if kind == "discrete_laplace" and "sensitivity" not in given:
            return laws.PureDPMechanism(eps=1 / numbers["scale"])
        return unsupported()

    def bounds(terms: list[Term], count: int, delta: float) -> Answer:
        counts = [count] * len(terms)
        account = PRVAccountant(
            prvs=[law(*term) for term in terms], max_self_compositions=counts, eps_error=0.01, delta_error=delta / 1000
        )
        low, _, high = account.compute_epsilon(delta=delta, num_self_compositions=counts)
        return float(low), float(high)

    return {"prv-accountant": bounds}


def autodp() -> dict[str, Way]:
    """Two ways: Rényi curves, and characteristic functions integrated numerically (one number without a bound)."""
    from autodp import mechanism_zoo as zoo
    from autodp import transformer_zoo as transformers

    def curve(kind: str, given: Mapping[str, str]) -> Any:
        numbers = {name: float(value) for name, value in given.items()}
        made: dict[str, Callable[[], Any]] = {
            "laplace": lambda: zoo.LaplaceMechanism(b=numbers["scale"]),
            "gaussian": lambda: zoo.GaussianMechanism(sigma=numbers["sigma"]),
            "discrete_gaussian": lambda: zoo.DiscreteGaussianMechanism(sigma=numbers["sigma"]),
            "poisson": lambda: transformers.AmplificationBySampling(PoissonSampling=True)(
                zoo.GaussianMechanism(sigma=numbers["sigma"]), numbers["rate"], improved_bound_flag=True
            ),
            "without_replacement": lambda: transformers.AmplificationBySampling(PoissonSampling=False)(
                _replace_one(zoo.GaussianMechanism(sigma=numbers["sigma"])), numbers["rate"], improved_bound_flag=True
            ),
            "response": lambda: (
                zoo.RandresponseMechanism(p=numbers["probability"]) if given["options"] == "2" else unsupported()
            ),
        }
        return made.get(kind, unsupported)()

    def renyi(terms: list[Term], count: int, delta: float) -> Answer:
        composed = transformers.Composition()([curve(*term) for term in terms], [count] * len(terms))
        return None, float(composed.get_approxDP(delta))

    def fourier(terms: list[Term], count: int, delta: float) -> Answer:
        if len(terms) == 1 and terms[0][0] == "poisson":
            given = {"prob": float(terms[0][1]["rate"]), "sigma": float(terms[0][1]["sigma"]), "coeff": count}
            ways = [
                zoo.SubsampleGaussianMechanism(given, phi_off=False, RDP_off=True, neighboring=side)
                for side in ("add_only", "remove_only")
            ]
            return None, max(float(way.get_approxDP(delta)) for way in ways)

        def phi(kind: str, given: Mapping[str, str]) -> Any:
            numbers = {name: float(value) for name, value in given.items()}
            if kind == "laplace":
                return zoo.LaplaceMechanism(b=numbers["scale"], phi_off=False, RDP_off=True)
            if kind == "gaussian":
                return zoo.GaussianMechanism(sigma=numbers["sigma"], phi_off=False, RDP_off=True, approxDP_off=True)
            if kind == "response" and given["options"] == "2":
                return zoo.RandresponseMechanism(p=numbers["probability"], phi_off=False, RDP_off=True)
            return unsupported()

        composed = transformers.ComposeAFA()([phi(*term) for term in terms], [count] * len(terms))
        return None, float(composed.get_approxDP(delta))

    def _replace_one(mechanism: Any) -> Any:
        mechanism.neighboring = "replace_one"
        return mechanism

    return {"autodp Rényi": renyi, "autodp Fourier": fourier}


WORKERS: dict[str, Callable[[], dict[str, Way]]] = {
    "dp-accounting": dp_accounting,
    "prv-accountant": prv_accountant,
    "autodp": autodp,
}


def work(peer: str) -> None:
    """Answer cases from standard input, one JSON line each, by every way of the peer."""
    ways = WORKERS[peer]()
    for line in sys.stdin:
        terms, count, delta = json.loads(line)
        found: dict[str, object] = {}
        for name, way in ways.items():
            signal.alarm(PATIENCE)
            try:
                # One of them prints while it searches.
                with contextlib.redirect_stdout(sys.stderr):
                    low, high = way([(kind, given) for kind, given in terms], count, float(delta))
                found[name] = [low, high] if math.isfinite(high) else "no finite figure"
            except UnsupportedError:
                found[name] = "not supported"
            except TimeoutError:
                found[name] = f"no answer in {PATIENCE} s"
            except Exception as error:  # what a peer cannot do is part of the report
                found[name] = f"{type(error).__name__}: {error}"[:120]
            finally:
                signal.alarm(0)
        print(json.dumps(found), flush=True)


def _too_long(*_: object) -> NoReturn:
    raise TimeoutError


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, _too_long)
    work(sys.argv[1])
