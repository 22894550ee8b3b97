"""The 89 definitions of the survey's table (with ε-DP) as seven choices each. Numbers in them are examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from quincunx.taxonomy import adversary as a
from quincunx.taxonomy import background as b
from quincunx.taxonomy import computation as c
from quincunx.taxonomy import formalism as f
from quincunx.taxonomy import neighbourhood as n
from quincunx.taxonomy import quantification as q
from quincunx.taxonomy import random_inputs as drawn
from quincunx.taxonomy import relativisation as r
from quincunx.taxonomy import variation as v
from quincunx.taxonomy.definition import Definition
from quincunx.taxonomy.semantic import Semantic


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """short: the survey's abbreviation, made unique. name: in full. letters: the dimensions that its table prints.
    definition: our seven choices. note: where they differ from the table's, or what they follow."""

    short: str
    name: str
    letters: str
    definition: Definition
    note: str = ""


_HALF = Fraction(1, 10)
_PRIOR = b.Noiseless()


def _rows() -> Sequence[tuple[str, str, str, Definition, str]]:
    d, pairs = Definition, n.Distributions()
    far = n.Distributions(metric=True)
    approximate, tested = q.Approximate(), f.Testing()
    removal = "The survey compares D with D without record i, which is the unbounded neighbourhood."
    predicate = q.Region.approximate(3, "1/10")
    return [
        ("DP", "ε-differential privacy", "", d(), ""),
        ("ADP", "(ε, δ)-approximate DP", "Q", d(quantification=approximate), ""),
        ("ProDP", "(ε, δ)-probabilistic DP", "Q", d(quantification=q.Probabilistic()), ""),
        ("RelDP", "(ε, δa, δp)-relaxed DP", "Q", d(quantification=q.Relaxed()), ""),
        ("KLPr", "ε-Kullback–Leibler privacy", "Q", d(quantification=q.KullbackLeibler()), ""),
        ("RenyiDP", "(α, ε)-Rényi DP", "Q", d(quantification=q.Renyi()), ""),
        ("mCoDP", "(μ, τ)-mean-concentrated DP", "Q", d(quantification=q.MeanConcentrated()), ""),
        ("zCoDP", "(ξ, ρ)-zero-concentrated DP", "Q", d(quantification=q.ZeroConcentrated()), ""),
        ("AzCoDP", "(ξ, ρ, δ)-approximate zero-concentrated DP", "Q", d(quantification=q.ZeroConcentrated(delta=_HALF)), "Enclosed for ρ > 0."),
        ("bCoDP", "(ξ, ρ, ω)-bounded concentrated DP", "Q", d(quantification=q.ZeroConcentrated(xi=_HALF, omega=Fraction(8))), ""),
        ("tCoDP-Col16", "(η, τ)-truncated concentrated DP", "Q", d(quantification=q.DoublyTruncated()), ""),
        ("tCoDP-BDRS18", "(ρ, ω)-truncated concentrated DP", "Q", d(quantification=q.ZeroConcentrated(omega=Fraction(8))), ""),
        ("DivDP", "(f, ε)-divergence DP", "Q", d(quantification=q.Divergence()), "Averaged over the second law; the print has the first."),
        ("kDivDP", "(f_k, ε)-divergence DP", "Q", d(quantification=q.Power()), ""),
        ("CBDP", "(H, f, ε)-capacity-bounded DP", "Q", d(quantification=q.Capacity()), ""),
        ("uBoDP", "ε-unbounded DP", "N", d(neighbourhood=n.Unbounded()), ""),
        ("BoDP", "ε-bounded DP", "N", d(neighbourhood=n.Bounded()), ""),
        ("OSDP", "(P, ε)-one-sided DP", "N", d(neighbourhood=n.OneSided()), ""),
        ("AsDP", "(P, ε)-asymmetric DP", "N", d(neighbourhood=n.Asymmetric()), ""),
        ("ClDP", "ε-client DP", "N", d(neighbourhood=n.Client()), ""),
        ("ElDP", "ε-element DP", "N", d(neighbourhood=n.Element()), ""),
        ("GrDP", "(c, ε)-group DP", "N", d(neighbourhood=n.Group()), ""),
        ("DepDP", "(R, c, ε)-dependent DP", "N", d(neighbourhood=n.Dependent()), ""),
        ("BayDP-YSN15", "(A, ε)-Bayesian DP", "N", d(neighbourhood=a.Adversary()), "Stated as in Yang, Sato and Nakagawa 2015."),
        ("CorDP", "(A, ε)-correlated DP", "N", d(neighbourhood=a.Correlated()), "Bayesian DP with nothing known."),
        ("PriDP", "(A, ε)-prior DP", "N", d(neighbourhood=a.PriorFamily()), "Bayesian DP for a family of priors."),
        ("FLPr", "ε-free lunch privacy", "N", d(neighbourhood=n.FreeLunch()), ""),
        ("InDP", "(D, ε)-individual DP", "N", d(neighbourhood=n.Individual()), ""),
        ("PIDP", "(D, t, ε)-per-instance DP", "N", d(neighbourhood=n.PerInstance()), ""),
        ("GcDP-KM11", "(R, ε)-generic DP", "N", d(neighbourhood=n.Listed()), ""),
        ("ConsDP", "(d, Δ, ε)-constrained DP", "N", d(neighbourhood=n.Constrained()), ""),
        ("DlPr-ZLW09", "(d, Δ, S_D, ε)-distributional privacy", "N", d(neighbourhood=n.Constrained(common=True)), ""),
        ("SIDP", "(f, ε)-sensitivity-induced DP", "N", d(neighbourhood=n.SensitivityInduced()), "Neighbours differ in f by at most what one record changes."),
        ("INDP", "(I_Q, ε)-induced-neighbours DP", "N", d(neighbourhood=n.Induced()), ""),
        ("BFPr", "(G, I_Q, ε)-blowfish privacy", "N", d(neighbourhood=n.Blowfish()), ""),
        ("PerDP", "Ψ-personalised DP", "V", d(neighbourhood=n.Unbounded(), variation=v.Personalised()), removal),
        ("TaiDP", "Ψ-tailored DP", "V", d(neighbourhood=n.Unbounded(), variation=v.Tailored()), removal),
        ("IDDP", "(Ψ, ε̄)-input-discriminative DP", "V", d(variation=v.InputDiscriminative()), ""),
        ("OutPr", "ε(·)-outlier privacy", "V", d(neighbourhood=n.Unbounded(), variation=v.Outlier()), removal),
        ("ParDP", "(ε, p, r)-Pareto DP", "V", d(variation=v.Pareto(most=2)), "People of low frequency have at most r records."),
        ("RanDP", "(π, γ, ε)-random DP", "V", d(variation=drawn.Random()), ""),
        ("dD-Pr", "d_D-privacy", "NV", d(neighbourhood=n.Metric(), variation=v.Proportional()), ""),
        ("SmoDP", "(d_D, ε)-smooth DP", "NV", d(neighbourhood=n.Metric(), variation=v.Proportional()), "The same as d_D-privacy with a scale."),
        ("DlPr-Rot10", "(ε, γ)-distributional privacy", "NV", d(neighbourhood=n.FreeLunch(), variation=drawn.Random()), "For the world's priors, not for all."),
        ("WBDP", "(π, ε, δ)-weak Bayesian DP", "QV", d(quantification=approximate, variation=drawn.OtherRecord()), "Stated as in Triastcyn and Faltings 2020."),
        ("avgKLPr", "(Θ, ε)-on-average KL privacy", "QV", d(quantification=q.KullbackLeibler(), variation=drawn.Average()), ""),
        ("BayDP-TF20", "(π, ε, δ)-Bayesian DP", "QV", d(quantification=q.Probabilistic(), variation=drawn.OtherRecord()), ""),
        ("PsDP", "(d_D, ε, δ)-pseudo-metric DP", "QNV", d(quantification=q.Approximate(_HALF), neighbourhood=n.Metric(), variation=v.Proportional()), ""),
        ("EDivDP", "(f, d, ε)-extended divergence DP", "QNV", d(quantification=q.Divergence(), neighbourhood=n.Metric(), variation=v.Proportional()), ""),
        ("GcDP-KL10", "(R, M)-generic DP", "QNV", d(quantification=predicate, neighbourhood=n.Listed()), "One M for all pairs; the parameter is M itself."),
        ("AbsDP", "(R, q)-abstract DP", "QNV", d(quantification=q.Predicate(_same_support), neighbourhood=n.Listed()), "The parameter is the predicate itself."),
        ("NPr", "(Θ, ε)-noiseless privacy", "B", d(background=_PRIOR), ""),
        ("CausDP", "(Θ, ε)-causal DP", "B", d(background=b.Causal()), ""),
        ("SamDP", "(β, ε)-DP under sampling", "QB", d(neighbourhood=n.Unbounded(), background=b.Sampled()), "Stated for adding or removing a record."),
        ("APKDP", "(Θ, ε, δ)-active partial knowledge DP", "QB", d(quantification=approximate, background=b.PartialKnowledge()), ""),
        ("PPKDP", "(Θ, ε, δ)-passive partial knowledge DP", "QB", d(quantification=approximate, background=b.PartialKnowledge(active=False)), ""),
        ("PFPr", "(Θ, Φ, ε)-pufferfish privacy", "NB", d(neighbourhood=n.Secrets(), background=_PRIOR), ""),
        ("BayDP-LL12", "(π, k, ε)-Bayesian DP", "NB", d(neighbourhood=a.PartlyFixed()), "The prior is part of the neighbourhood here."),
        ("DnPr", "(Θ, ε, δ)-distribution privacy", "QNB", d(quantification=approximate, neighbourhood=pairs, background=_PRIOR), ""),
        ("PBDP", "(Θ, ε, δ)-profile-based DP", "QNB", d(quantification=approximate, neighbourhood=pairs, background=_PRIOR), "Distribution privacy whose distributions are profiles."),
        ("PDnPr", "(Θ, ε, δ)-probabilistic distribution privacy", "QNB", d(quantification=q.Probabilistic(), neighbourhood=pairs, background=_PRIOR), ""),
        ("DDnPr", "(f, Θ, ε)-divergence distribution privacy", "QNB", d(quantification=q.Divergence(), neighbourhood=pairs, background=_PRIOR), ""),
        ("EDnPr", "(d, Θ, ε)-extended distribution privacy", "NVB", d(neighbourhood=far, variation=v.Proportional(), background=_PRIOR), ""),
        ("EDDnPr", "(d, f, Θ, ε)-extended divergence distribution privacy", "QNVB", d(quantification=q.Divergence(), neighbourhood=far, variation=v.Proportional(), background=_PRIOR), ""),
        ("IndPr", "ε-indistinguishable privacy", "F", d(formalism=f.Odds()), ""),
        ("SemPr", "ε-semantic privacy", "F", d(formalism=Semantic()), ""),
        ("RBPr", "ε-range-bounded privacy", "F", d(quantification=q.RangeBounded()), "The range of the loss is a quantification here."),
        ("f-DP", "f-DP", "QF", d(quantification=q.TradeOff(), formalism=tested), ""),
        ("GaussDP", "Gaussian DP", "QF", d(quantification=q.Gaussian(), formalism=tested), ""),
        ("wFDP", "weak federated f-DP", "QF", d(quantification=q.TradeOff(), formalism=f.Federated()), "The clients' views are part of the world."),
        ("sFDP", "strong federated f-DP", "QF", d(quantification=q.TradeOff(), formalism=f.Federated(strong=True)), "The joint views are part of the world."),
        ("ANPr", "(Θ, ε)-a posteriori noiseless privacy", "BF", d(background=_PRIOR, formalism=f.APosteriori()), ""),
        ("PMPr", "(Θ, ε)-positive membership privacy", "BF", d(background=_PRIOR, formalism=f.Membership(negative=False)), ""),
        ("NMPr", "(Θ, ε)-negative membership privacy", "BF", d(background=_PRIOR, formalism=f.Membership(positive=False)), ""),
        ("MPr", "(Θ, ε)-membership privacy", "BF", d(background=_PRIOR, formalism=f.Membership()), ""),
        ("AdvPr", "(Θ, ε, δ)-adversarial privacy", "QBF", d(quantification=approximate, background=_PRIOR, formalism=f.Adversarial()), ""),
        ("InfPr", "(Θ, ε)-information privacy", "NBF", d(neighbourhood=n.FreeLunch(), background=_PRIOR, formalism=f.APosteriori()), ""),
        ("ZKPr", "(Agg, ε)-zero-knowledge privacy", "R", d(relativisation=r.ZeroKnowledge()), ""),
        ("SubDP", "(P_V, ε, δ)-subspace DP", "QR", d(quantification=approximate, relativisation=r.Subspace()), ""),
        ("BLDP", "(P, ε, δ)-bounded leakage DP", "QR", d(quantification=approximate, relativisation=r.BoundedLeakage()), ""),
        ("CWPr", "(Θ, Γ, ε)-coupled-worlds privacy", "NBR", d(neighbourhood=n.PrivateValue(), background=_PRIOR, relativisation=r.CoupledWorlds()), ""),
        ("IBCWPr", "(Θ, Γ, ε, δ)-inference-based coupled-worlds privacy", "QNBFR", d(neighbourhood=n.PrivateValue(), background=_PRIOR, formalism=f.APosteriori(), relativisation=r.CoupledWorlds()), "For δ = 0."),
        ("IBDDP", "(Θ, Γ, ε, δ)-inference-based distributional DP", "QNBFR", d(background=_PRIOR, formalism=f.APosteriori(), relativisation=r.CoupledWorlds()), "For δ = 0; private is one record, public all the others."),
        ("TypSt", "(Θ, γ, ε, δ)-typical stability", "QVR", d(quantification=q.Approximate(_HALF), variation=drawn.Random(_HALF), relativisation=r.Typical()), ""),
        ("SimCDP", "ε_κ-SIM-computational DP", "C", d(computation=c.LooksPrivate()), ""),
        ("IndCDP", "ε_κ-IND-computational DP", "C", d(computation=c.PolynomialDistinguisher()), ""),
        ("CZKPr", "(Agg, ε)-computational zero-knowledge privacy", "RC", d(relativisation=r.ZeroKnowledge(), computation=c.PolynomialSimulator()), ""),
        ("OCDP", "(ε, δ, f)-output constrained DP", "NVC", d(quantification=approximate, neighbourhood=n.Listed(), computation=c.TwoParties()), ""),
        ("RLDP", "(ε, δ)-DP for record linkage", "NVC", d(quantification=approximate, neighbourhood=n.Listed(), computation=c.TwoParties(linkage=True)), ""),
    ]  # fmt: skip


def _same_support(p: tuple[Fraction, ...], q_: tuple[Fraction, ...]) -> bool:
    """An example of a predicate: both laws have the same possible outputs."""
    return all(bool(x) == bool(y) for x, y in zip(p, q_, strict=True))


@cache
def entries() -> tuple[Entry, ...]:
    """All 89, in the order of the survey's table."""
    return tuple(
        Entry(short=short, name=name, letters=letters, definition=definition, note=note)
        for short, name, letters, definition, note in _rows()
    )


def names() -> list[str]:
    """The abbreviations."""
    return [entry.short for entry in entries()]


def named(short: str) -> Entry:
    """One of the 89 by its abbreviation; in another case too, where that is not the name of another (InDP, INDP)."""
    from quincunx.errors import SpecificationError
    from quincunx.taxonomy.reading import nearest

    alike = [entry for entry in entries() if entry.short.lower() == short.lower()]
    found = next((entry for entry in alike if entry.short == short), alike[0] if len(alike) == 1 else None)
    if found is None:
        raise SpecificationError(
            "unknown definition", where="taxonomy", got=repr(short)[:40], hint=nearest(short, names())
        )
    return found
