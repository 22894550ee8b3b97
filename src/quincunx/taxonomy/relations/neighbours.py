"""Implications between neighbourhoods, and between ways in which the loss varies across inputs."""

from __future__ import annotations

from typing import Final

from quincunx.taxonomy.relations import maps as m
from quincunx.taxonomy.relations.edge import Edge, Map
from quincunx.taxonomy.relations.losses import CURVE


def _edge(source: str, target: str, words: str, basis: str, origin: str, found: Map | None, *conditions: str) -> Edge:
    return Edge(source=source, target=target, words=words, basis=basis, origin=origin, map=found, conditions=conditions)


def _part(source: str, target: str, *conditions: str) -> Edge:
    """A definition about part of the pairs."""
    return _edge(source, target, "ε", "definition", "", m.same, *conditions)


EDGES: Final = (
    _part("DP", "uBoDP"),
    _part("DP", "BoDP"),
    _edge("uBoDP", "BoDP", "2ε", "paper", "KM11", m.times(2), "absence"),
    _edge("uBoDP", "DP", "2ε", "paper", "KM11", m.times(2), "absence"),
    _part("BoDP", "DP", "public size"),
    _edge("BoDP", "GrDP", "cε", "paper", "Dwo08", m.group, "public size", "product"),
    _edge("DP", "GrDP", "cε", "paper", "Dwo08", m.group, "product"),
    _part("GrDP", "DP"),
    _edge("GrDP", "DepDP", "ε, for c' ≤ c", "definition", "", m.no_more("size")),
    _part("DepDP", "BoDP"),
    _part("FLPr", "DP"),
    _part("FLPr", "GrDP"),
    _part("FLPr", "ClDP"),
    _part("FLPr", "DepDP"),
    _part("FLPr", "GcDP-KM11"),
    _part("FLPr", "ConsDP"),
    _part("FLPr", "SIDP"),
    _part("FLPr", "INDP"),
    *(_edge("FLPr", target, "ε", "proof", "mixtures", m.same) for target in ("BayDP-YSN15", "CorDP", "PriDP")),
    _part("DP", "InDP"),
    _part("InDP", "PIDP"),
    _part("ClDP", "ElDP"),
    _part("ElDP", "DP"),
    _part("BoDP", "OSDP"),
    _part("OSDP", "BoDP", "all sensitive"),
    _part("uBoDP", "AsDP"),
    _part("BoDP", "BFPr"),
    _part("BFPr", "BoDP", "complete policy"),
    _part("DP", "GcDP-KM11", "all neighbours"),
    _part("GcDP-KM11", "DP", "all neighbours"),
    _part("ConsDP", "GcDP-KM11", "within"),
    _part("GcDP-KM11", "ConsDP", "within"),
    _edge("ConsDP", "DlPr-ZLW09", "ε, for Δ' ≤ Δ", "definition", "", m.no_more("radius")),
    _part("PriDP", "BayDP-YSN15", "one prior"),
    _part("BayDP-YSN15", "CorDP", "nothing known"),
    # V: where a definition has many numbers, ε is the largest.
    _part("uBoDP", "PerDP"),
    _part("PerDP", "uBoDP"),
    _part("PerDP", "TaiDP"),
    _part("TaiDP", "PerDP"),
    _part("TaiDP", "OutPr"),
    _part("OutPr", "TaiDP"),
    _part("DP", "IDDP"),
    _part("DP", "ParDP"),
    _part("DP", "RanDP"),
    _edge("RanDP", "RanDP", "ε, for γ' ≥ γ", "definition", "", m.no_less("gamma")),
    _edge("RanDP", "BoDP", "ε, for γ = 0", "proof", "drawn",
          lambda g, _t: m.num(g, "epsilon") if g["gamma"] == 0 else None, "independent", "supported", "public size"),
    _part("FLPr", "DlPr-Rot10"),
    _edge("DlPr-Rot10", "DlPr-Rot10", "ε, for γ' ≥ γ", "definition", "", m.no_less("gamma")),
    _part("dD-Pr", "SmoDP"),
    _part("SmoDP", "dD-Pr"),
    _part("DP", "dD-Pr", "unit distance"),
    _part("dD-Pr", "DP", "unit distance"),
    _edge("BoDP", "dD-Pr", "ε", "paper", "CABP13", m.same, "hamming"),
    _part("dD-Pr", "BoDP", "hamming"),
    _part("dD-Pr", "PsDP"),
    _edge("PsDP", "PsDP", "ε, for δ' ≥ δ", "definition", "", m.no_less("delta")),
    _edge("ADP", "PsDP", "ε, δ", "definition", "", m.no_less("delta"), "unit distance"),
    _edge("PsDP", "ADP", "ε, δ", "definition", "", m.no_less("delta"), "unit distance"),
    _edge("DivDP", "EDivDP", "ε, same f", "definition", "", m.equal("f"), "unit distance"),
    _edge("EDivDP", "DivDP", "ε, same f", "definition", "", m.equal("f"), "unit distance"),
    _edge("ADP", "WBDP", "ε, δ", "proof", "drawn", m.no_less("delta")),
    _edge("KLPr", "avgKLPr", "ε", "proof", "drawn", m.same),
    _edge("ProDP", "BayDP-TF20", "ε, δ", "proof", "drawn", m.no_less("delta")),
    Edge(source="GcDP-KL10", target="AbsDP", words="M as a predicate", basis="definition", origin="", map=None,
         untested="the parameter is a predicate, compared in a test of its own"),
    Edge(source="ADP", target="GcDP-KL10", words="M(x) = min(1, e^ε·x + δ, 1 − e^−ε(1 − x − δ))", basis="proof",
         origin="slack", map=None, conditions=("all neighbours",), untested=CURVE),
    Edge(source="GcDP-KL10", target="ADP", words="M(x) = min(1, e^ε·x + δ, 1 − e^−ε(1 − x − δ))", basis="proof",
         origin="slack", map=None, conditions=("all neighbours",), untested=CURVE),
)  # fmt: skip
