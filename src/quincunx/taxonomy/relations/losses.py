"""Implications between ways to quantify the loss. They hold for any two laws, so for any neighbourhood."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from quincunx.spec import standard as s
from quincunx.taxonomy.relations import maps as m
from quincunx.taxonomy.relations.edge import Edge, Map
from quincunx.taxonomy.relations.language import Given

CURVE: Final = "the parameter is a curve, compared in a test of its own"


def _pure(_: Given) -> s.Standard:
    return s.Pure()


def _approximate(g: Given) -> s.Standard:
    return s.Approximate(m.setting(g, "delta"))


def _concentrated(g: Given) -> s.Standard:
    return s.ZCDP(m.setting(g, "delta") if "delta" in g else Fraction(0))


def _renyi(g: Given) -> s.Standard:
    return s.Renyi(m.setting(g, "alpha"))


def _divergence(g: Given) -> s.Standard:
    return s.Divergence(str(g["f"]))


def _gaussian(_: Given) -> s.Standard:
    return s.GaussianDP()


def _tv(_: Given) -> s.Standard:
    return s.TV()


def _edge(source: str, target: str, words: str, basis: str, origin: str, found: Map | None, untested: str = "") -> Edge:
    return Edge(source=source, target=target, words=words, basis=basis, origin=origin, map=found, untested=untested)


EDGES: Final = (
    _edge("DP", "ADP", "e^ε' = e^ε − δ(1 + e^ε)", "proof", "slack", m.pure_to_approximate),
    _edge("ADP", "ADP", "e^ε' = e^ε − (δ' − δ)(1 + e^ε)/(1 − δ)", "proof", "slack", m.approximate),
    _edge("ADP", "DP", "ε, for δ = 0", "definition", "", m.exactly),
    _edge("ProDP", "ADP", "(ε, δ)", "paper", "Mei18", m.no_less("delta")),
    _edge("ADP", "ProDP", "ε − ln(1 − δ/δ'), δ' > δ", "paper", "ZWB+19", m.to_probabilistic),
    _edge("DP", "ProDP", "ε", "definition", "", m.same),
    _edge("ProDP", "RelDP", "ε, δ_p ≥ δ", "definition", "",
          lambda g, t: m.num(g, "epsilon") if m.setting(t, "outside") >= m.setting(g, "delta") else None),
    _edge("ADP", "RelDP", "ε, δ_a ≥ δ", "definition", "", m.no_less("delta")),
    _edge("RelDP", "ADP", "ε, δ = δ_a + δ_p", "proof", "relaxed", m.relaxed_to_approximate),
    _edge("DP", "KLPr", "ε·tanh(ε/2)", "proof", "pure", m.by_standard(_pure, lambda _: s.KL())),
    _edge("DP", "TVPr", "tanh(ε/2)", "proof", "pure", m.by_standard(_pure, _tv)),
    _edge("ADP", "TVPr", "(e^ε − 1 + 2δ)/(e^ε + 1)", "proof", "slack", m.by_standard(_approximate, _tv)),
    _edge("KLPr", "TVPr", "min(√(ε/2), √(1 − e^−ε))", "proof", "mean", m.by_standard(lambda _: s.KL(), _tv)),
    _edge("TVPr", "ADP", "0, for δ ≥ ε", "definition", "", m.by_standard(_tv, _approximate)),
    _edge("KLPr", "ADP", "0, for δ ≥ min(√(ε/2), √(1 − e^−ε))", "proof", "mean", m.kl_to_approximate),
    _edge("DP", "RenyiDP", "the divergence of randomized response", "proof", "pure", m.by_standard(_pure, _renyi)),
    _edge("RenyiDP", "RenyiDP", "ε, for α' ≤ α", "paper", "Mir17", m.no_more("alpha")),
    _edge("RenyiDP", "KLPr", "ε", "paper", "Mir17", m.same),
    _edge("RenyiDP", "ADP", "ε + ln(1/(αδ))/(α − 1) + ln(1 − 1/α)", "proof", "order",
          m.by_standard(_renyi, _approximate)),
    _edge("RenyiDP", "kDivDP", "√(e^ε − 1), for k ≤ 2 ≤ α", "paper", "DR18", m.renyi_to_power),
    _edge("kDivDP", "RenyiDP", "ln(1 + ε²), for α ≤ 2 ≤ k", "paper", "DR18", m.power_to_renyi),
    _edge("kDivDP", "kDivDP", "ε, for k' ≤ k", "proof", "powers", m.no_more("k")),
    _edge("kDivDP", "TVPr", "ε/2", "proof", "powers", m.half),
    _edge("DP", "kDivDP", "the k-th mean of randomized response, at most e^ε − 1", "proof", "powers", m.pure_to_power),
    _edge("DP", "DivDP", "the divergence of randomized response", "proof", "pure", m.by_standard(_pure, _divergence)),
    _edge("RenyiDP", "DivDP", "e^ε − 1, for chi-squared and α ≥ 2", "definition", "", m.renyi_to_divergence),
    _edge("DivDP", "RenyiDP", "ln(1 + ε), for chi-squared and α ≤ 2", "definition", "", m.divergence_to_renyi),
    _edge("DivDP", "KLPr", "ε, for f = kl", "definition", "", m.of_shape("kl")),
    _edge("KLPr", "DivDP", "ε, for f = kl", "definition", "", m.to_shape("kl")),
    _edge("DivDP", "TVPr", "ε, for f = total-variation", "definition", "", m.of_shape("total-variation")),
    _edge("TVPr", "DivDP", "ε, for f = total-variation", "definition", "", m.to_shape("total-variation")),
    _edge("DivDP", "CBDP", "ε, same f", "proof", "functions", m.equal("f")),
    _edge("DP", "mCoDP", "(ε·tanh(ε/2), ε)", "proof", "concentrated", m.pure_to_mean),
    _edge("mCoDP", "KLPr", "μ", "definition", "", lambda g, _t: m.num(g, "mu")),
    _edge("mCoDP", "zCoDP", "τ²/2 + max(0, μ − τ²/2 − ξ)", "proof", "concentrated", m.mean_to_concentrated),
    _edge("zCoDP", "mCoDP", "(ξ + ρ, O(√(ξ + 2ρ)))", "paper", "BS16", None, "no constant is stated for τ"),
    _edge("DP", "zCoDP", "(1 − ξ/ε)·ε·tanh(ε/2)", "proof", "concentrated", m.pure_to_concentrated),
    _edge("zCoDP", "DP", "ξ, for ρ = 0", "paper", "BS16", m.concentrated_to_pure),
    _edge("zCoDP", "zCoDP", "ρ + max(0, ξ − ξ')", "proof", "concentrated", m.concentrated),
    _edge("zCoDP", "RenyiDP", "ξ + ρα", "definition", "", m.concentrated_to_renyi),
    _edge("zCoDP", "KLPr", "ξ + ρ", "definition", "", m.concentrated_to_kl),
    _edge("zCoDP", "TVPr", "from KL = ξ + ρ", "proof", "mean", m.concentrated_to_tv),
    _edge("zCoDP", "ADP", "ξ + the best order's ρα + ln(1/(αδ))/(α − 1) + ln(1 − 1/α)", "proof", "order",
          m.concentrated_to_approximate),
    _edge("zCoDP", "bCoDP", "ρ + max(0, ξ − ξ')", "definition", "", m.concentrated),
    _edge("bCoDP", "bCoDP", "ρ + max(0, ξ − ξ'), for ω' ≤ ω", "definition", "", m.bounded),
    _edge("bCoDP", "tCoDP-BDRS18", "ρ + ξ, for ω' ≤ ω", "definition", "",
          lambda g, t: m.bounded(g, {**t, "xi": Fraction(0)})),
    _edge("tCoDP-BDRS18", "bCoDP", "ρ, for ω' ≤ ω", "definition", "", m.no_more("omega", "rho")),
    _edge("bCoDP", "RenyiDP", "ξ + ρα, for α ≤ ω", "definition", "", m.concentrated_to_renyi),
    _edge("bCoDP", "ADP", "the best order up to ω", "proof", "order", m.concentrated_to_approximate),
    _edge("tCoDP-BDRS18", "ADP", "the best order up to ω", "paper", "BDRS18", m.concentrated_to_approximate),
    _edge("DP", "tCoDP-Col16", "(ε, ε·tanh(ε/2))", "proof", "concentrated", m.pure_to_doubly),
    _edge("tCoDP-Col16", "DP", "η", "proof", "concentrated", lambda g, _t: m.num(g, "eta")),
    _edge("tCoDP-Col16", "zCoDP", "(1 − ξ/η)·τ", "proof", "concentrated", m.doubly_to_concentrated),
    _edge("ADP", "AzCoDP", "ε·tanh(ε/2), δ' ≥ δ", "proof", "approximate concentrated",
          m.by_standard(_approximate, _concentrated)),
    _edge("zCoDP", "AzCoDP", "ρ + ξ", "definition", "", lambda g, _t: m.concentrated(g, {"xi": Fraction(0)})),
    _edge("AzCoDP", "AzCoDP", "ρ, for δ' ≥ δ", "definition", "", m.no_less("delta", "rho")),
    _edge("AzCoDP", "ADP", "zCDP at (δ' − δ)/(1 − δ)", "proof", "approximate concentrated",
          m.by_standard(_concentrated, _approximate, "rho")),
    _edge("AzCoDP", "TVPr", "δ + (1 − δ)·TV", "proof", "approximate concentrated",
          m.by_standard(_concentrated, _tv, "rho")),
    _edge("DP", "GaussDP", "2Φ⁻¹(e^ε/(1 + e^ε))", "proof", "pure", m.by_standard(_pure, _gaussian)),
    _edge("GaussDP", "ADP", "Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2) = δ", "paper", "DRS21",
          m.by_standard(_gaussian, _approximate, "mu")),
    _edge("GaussDP", "zCoDP", "μ²/2", "proof", "gaussian",
          m.by_standard(_gaussian, lambda _: s.ZCDP(), "mu")),
    _edge("GaussDP", "RenyiDP", "αμ²/2", "proof", "gaussian", m.by_standard(_gaussian, _renyi, "mu")),
    _edge("GaussDP", "KLPr", "μ²/2", "proof", "gaussian", m.by_standard(_gaussian, lambda _: s.KL(), "mu")),
    _edge("GaussDP", "TVPr", "2Φ(μ/2) − 1", "proof", "gaussian", m.by_standard(_gaussian, _tv, "mu")),
    _edge("DP", "RBPr", "2ε", "paper", "DR19", m.times(2)),
    _edge("RBPr", "DP", "ε", "paper", "DR19", m.same),
    _edge("DP", "IndPr", "ε", "definition", "", m.same),
    _edge("IndPr", "DP", "ε", "definition", "", m.same),
    _edge("ADP", "f-DP", "max(0, 1 − δ − e^ε·x, e^−ε(1 − δ − x))", "paper", "DRS21", None, CURVE),
    _edge("GaussDP", "f-DP", "Φ(Φ⁻¹(1 − x) − μ)", "definition", "", None, CURVE),
    _edge("f-DP", "ADP", "δ(ε) = 1 + f*(−e^ε)", "paper", "DRS21", None, CURVE),
    _edge("sFDP", "wFDP", "f", "definition", "", None, CURVE),
)  # fmt: skip
