"""Rényi privacy, at the best order.

Statement: if each mechanism has D_α ≤ γᵢ(α) both ways, the adaptive composition has D_α ≤ Σγᵢ(α); and D_α ≤ γ bounds
    δ(ε) by the largest value that any two-point pair with that divergence has. For parameters fixed in advance the
    order may be chosen afterwards.
Hypotheses: each mechanism has a Rényi curve by claim or conversion; δ > 0.
Source: Mironov 2017, Prop. 1; the optimal conversion: Asoodeh, Liao, Calmon, Kosut and Sankar 2020; the simple one:
    Canonne, Kamath and Steinke 2020, Prop. 12. As a filter only with the order fixed in advance (Feldman and Zrnic
    2021), so the choice of the best order is not one.
Code/paper: ``curve.best_epsilon`` chooses α; `bursar.guarantees.order` converts.
Rounding: α and the tangent point are found in floats; that they prove the bound is checked in balls (see `order`);
    the float at the end is rounded up.
Checked: golden values of both conversions; never below the exact values of Gaussians, randomized responses and the
    optimum.
"""

from __future__ import annotations

from bursar.composition import Composition
from bursar.guarantees import Renyi
from bursar.guarantees.renyi import RenyiCurve
from bursar.numerics.balls import ball
from bursar.theorems._base import (
    Abstain,
    Adaptivity,
    Bound,
    ForEpsilon,
    Question,
    Theorem,
    bounded,
    collected,
    many_or_integrals,
)


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Add the curves, then convert at the best order."""
    promises = collected(composition, Renyi)
    if isinstance(promises, Abstain):
        return promises
    curve = Renyi.compose(promises)
    if isinstance(question, ForEpsilon):
        if not question.delta > 0:
            return Abstain("a Rényi divergence bounds no loss with certainty, so it needs δ > 0")
        order, epsilon = curve.best_epsilon(ball(question.delta))
        if not epsilon.is_finite():
            return Abstain(f"no order proves a finite ε at δ = {question.delta.text()}")
        return bounded(_said(curve, order), upper=epsilon)
    order, delta = curve.best_delta(ball(question.epsilon))
    return bounded(_said(curve, order), upper=delta, most=1.0)


def _said(curve: RenyiCurve, order: float) -> str:
    """What decided; floats may lose all digits of a tiny divergence, which is never negative."""
    return f"order {order:.6g}, where the divergences add up to {max(curve.rough(order), 0.0):.6g}"


THEOREM = Theorem(
    id="renyi",
    title="Rényi privacy, best order",
    citations=("Mir17", "ALCKS20", "CKS20"),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
    dear=many_or_integrals,
)
