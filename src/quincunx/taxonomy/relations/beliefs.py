"""Implications about attackers with priors, about beliefs, and about simulators."""

from __future__ import annotations

from typing import Final

from quincunx.taxonomy.relations import maps as m
from quincunx.taxonomy.relations.edge import Edge, Map
from quincunx.taxonomy.relations.losses import _divergence, _pure

SECURITY: Final = "a family over a security parameter: no finite world decides it"
PRIORS: Final = "the priors are infinitely many; compared at some of them in a test of its own"


def _edge(source: str, target: str, words: str, basis: str, origin: str, found: Map | None, *conditions: str) -> Edge:
    return Edge(source=source, target=target, words=words, basis=basis, origin=origin, map=found, conditions=conditions)


def _part(source: str, target: str, *conditions: str) -> Edge:
    return _edge(source, target, "ε", "definition", "", m.same, *conditions)


def _slack(source: str, target: str, *conditions: str) -> Edge:
    return _edge(source, target, "ε, for δ' ≥ δ", "definition", "", m.no_less("delta"), *conditions)


def _untested(source: str, target: str, words: str, origin: str, found: Map | None, why: str, *conditions: str) -> Edge:
    return Edge(
        source=source, target=target, words=words, basis="paper", origin=origin, map=found, conditions=conditions,
        untested=why,
    )  # fmt: skip


EDGES: Final = (
    _edge("DP", "NPr", "ε", "paper", "DMKB19", m.same, "independent"),
    _edge("DP", "CausDP", "ε", "paper", "DMKB19", m.same),
    _edge("NPr", "CausDP", "ε", "paper", "DMKB19", m.same, "independent", "supported"),
    _edge("CausDP", "NPr", "ε", "paper", "DMKB19", m.same, "independent"),
    *(_edge("FLPr", target, "ε", "proof", "mixtures", m.same)
      for target in ("NPr", "CausDP", "PFPr", "BayDP-LL12", "DnPr", "MPr")),
    _edge("uBoDP", "SamDP", "ln(1 + β(e^ε − 1))", "paper", "LQS12", m.sampled),
    _part("PFPr", "NPr", "values are secrets"),
    _part("NPr", "PFPr", "values are secrets"),
    _part("NPr", "APKDP", "no leak"),
    _edge("APKDP", "NPr", "ε, for δ = 0", "definition", "", m.exactly, "no leak"),
    _edge("APKDP", "PPKDP", "ε, δ", "paper", "DMKB19", m.no_less("delta")),
    _slack("DnPr", "PBDP"),
    _slack("PBDP", "DnPr"),
    _edge("PDnPr", "DnPr", "ε, δ", "paper", "Mei18", m.no_less("delta")),
    _edge("DnPr", "PDnPr", "ε − ln(1 − δ/δ'), δ' > δ", "paper", "ZWB+19", m.to_probabilistic),
    _edge("DnPr", "DDnPr", "the divergence of randomized response, for δ = 0", "proof", "pure",
          lambda g, t: m.by_standard(_pure, _divergence)(g, t) if g["delta"] == 0 else None),
    _edge("DnPr", "EDnPr", "ε, for δ = 0", "definition", "", m.exactly, "unit distance"),
    _part("EDnPr", "DnPr", "unit distance"),
    _edge("DDnPr", "EDDnPr", "ε, same f", "definition", "", m.equal("f"), "unit distance"),
    _edge("EDDnPr", "DDnPr", "ε, same f", "definition", "", m.equal("f"), "unit distance"),
    _edge("uBoDP", "SemPr", "tanh(ε/2)", "proof", "semantic", m.to_semantic),
    _edge("SemPr", "uBoDP", "2·ln((1 + ε)/(1 − ε))", "proof", "semantic", m.from_semantic, "positive"),
    _edge("NPr", "ANPr", "ε", "paper", "BBG+11", m.same, "public size"),
    _edge("ANPr", "NPr", "2ε", "paper", "BBG+11", m.times(2)),
    _part("MPr", "PMPr"),
    _part("MPr", "NMPr"),
    _edge("PMPr", "AdvPr", "ε", "definition", "", m.same),
    _slack("AdvPr", "AdvPr"),
    _edge("BoDP", "MPr", "ε", "paper", "LQS+13", m.same, "two values"),
    _edge("uBoDP", "MPr", "ε", "paper", "LQS+13", m.same, "presence"),
    _untested("PMPr", "BoDP", "ε", "LQS+13", m.same, PRIORS, "two values"),
    _untested("NMPr", "BoDP", "ε", "LQS+13", m.same, PRIORS, "two values"),
    _untested("MPr", "uBoDP", "ε", "LQS+13", m.same, PRIORS, "presence"),
    _untested("AdvPr", "BoDP", "the smallest (1 − π)(e^ε·π + δ)/(π(1 − e^ε·π − δ))", "RHMS09", m.adversarial_to_pure,
              PRIORS, "two values"),
    _edge("FLPr", "InfPr", "ε", "proof", "mixtures", m.same),
    _edge("InfPr", "FLPr", "2ε", "paper", "dPCF12", m.times(2), "supported"),
    _edge("InfPr", "ANPr", "ε", "proof", "information", m.same),
    _edge("DP", "ZKPr", "ε", "paper", "GLP11", m.same, "others"),
    _edge("FLPr", "ZKPr", "ε", "proof", "mixtures", m.same),
    _edge("ZKPr", "BoDP", "2ε", "paper", "GLP11", m.times(2)),
    _slack("ADP", "SubDP"),
    _edge("ADP", "BLDP", "ε, δ", "paper", "LPR20", m.no_less("delta"), "independent leak"),
    _edge("BLDP", "ADP", "ε, δ", "paper", "LPR20", m.no_less("delta"), "constant leak"),
    _edge("FLPr", "CWPr", "ε", "proof", "mixtures", m.same),
    _edge("CWPr", "IBCWPr", "2ε", "proof", "beliefs", m.times(2)),
    _edge("BoDP", "IBDDP", "2ε", "proof", "beliefs", m.times(2), "public size", "product"),
    _edge("FLPr", "TypSt", "ε", "proof", "mixtures", m.same),
    _untested("DP", "SimCDP", "ε", "MPRV09", m.same, SECURITY),
    _untested("SimCDP", "IndCDP", "ε", "MPRV09", m.same, SECURITY),
    _untested("ZKPr", "CZKPr", "ε", "GLP11", m.same, SECURITY + "; the simulator must be feasible", "feasible"),
    _untested("OCDP", "RLDP", "the linkage function", "HMFS17", None, SECURITY, "linkage"),
    _untested("OCDP", "IndCDP", "one party and all neighbours", "HMFS17", None, SECURITY, "constant"),
)  # fmt: skip
