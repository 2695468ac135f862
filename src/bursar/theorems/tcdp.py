"""Truncated concentrated privacy.

Statement: (ρᵢ, ωᵢ)-tCDP mechanisms, adaptively composed, are (Σρᵢ, min ωᵢ)-tCDP; and (ρ, ω)-tCDP implies (ε, δ)-DP by
    the conversions of Rényi orders α ≤ ω, among them ε = ρ + 2√(ρ ln(1/δ)) if ln(1/δ) ≤ (ω−1)²ρ, else
    ρω + ln(1/δ)/(ω−1).
Hypotheses: each mechanism is tCDP by claim or conversion, and at least one is so only below some order (else `zcdp`
    says the same).
Source: Bun, Dwork, Rothblum and Steinke 2018, Lemma 6. Public code prints two misread forms of it; one is too small.
Code/paper: ``total.rho``, ``total.omega``.
Rounding: the order is found in floats, and any order up to ω is valid; evaluated in balls and rounded up.
Checked: 2.4507880004768 (ω = 20) and 3.95387763949107 (ω = 5) for ρ = 0.1 at δ = 1e-6 by the closed form; the best
    order is never above it.
"""

from __future__ import annotations

from bursar.composition import Composition
from bursar.guarantees import TCDP, Guarantee, Renyi
from bursar.guarantees.tcdp import EVERY_ORDER
from bursar.theorems._base import Abstain, Adaptivity, Bound, Question, Theorem, collected, converted


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Add the ρ's, keep the smallest ω, convert once."""
    if not any(_truncated(claim.guarantee) for mechanism, _ in composition.terms for claim in mechanism.stated()):
        return Abstain("no release is concentrated only below some order")
    promises = collected(composition, TCDP)
    if isinstance(promises, Abstain):
        return promises
    total = TCDP.compose(promises)
    return converted(
        total, question, f"the ρ's add up to {float(total.rho):.6g} at orders below {float(total.omega):.6g}"
    )


def _truncated(promise: Guarantee) -> bool:
    if isinstance(promise, TCDP):
        return promise.omega < EVERY_ORDER
    return isinstance(promise, Renyi) and bool(promise.orders)


THEOREM = Theorem(
    id="tcdp",
    title="truncated concentrated privacy",
    citations=("BDRS18",),
    adaptivity=Adaptivity.ADAPTIVE,
    answer=answer,
)
