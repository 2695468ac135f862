"""Gaussian privacy.

Statement: μᵢ-GDP mechanisms, adaptively composed, are √(Σμᵢ²)-GDP; and μ-GDP is
    δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), exactly, for Gaussian noise.
Hypotheses: each mechanism is μᵢ-GDP by claim, or because it promises ε-DP (μ = −2Φ⁻¹(1/(1 + e^ε))). If each attains
    its Gaussian pair the answer is exact from both sides.
Source: Dong, Roth and Su 2022, Cor. 3.3 and Cor. 2.13; Balle and Wang 2018, Thm 8. As a filter: Koskela, Tobaben and
    Honkela 2022; Smith and Thakurta 2022.
Code/paper: ``square`` is Σμᵢ². The central-limit approximation of the same name is not a bound and is not used.
Rounding: balls throughout; the inverse is a certified search that returns both ends.
Checked: 4.88655411746221 for μ = 1 at δ = 1e-6, down to δ = 1e-300; quadrature of E[(1 − e^{ε−L})₊].
"""

from __future__ import annotations

import math

from flint import arb

from bursar.composition import Composition
from bursar.guarantees import GDP
from bursar.guarantees.gdp import gaussian_delta, gaussian_epsilon
from bursar.numerics.balls import Ball, ball, square
from bursar.theorems._base import (
    Abstain,
    Adaptivity,
    Bound,
    ForEpsilon,
    Question,
    Theorem,
    bounded,
    collected,
    many,
    told_exactly,
)


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Compose the μ's, then read the Gaussian profile."""
    promises = collected(composition, GDP)
    if isinstance(promises, Abstain):
        return promises
    mu = _root_of_squares(promises)
    exact = told_exactly(composition, GDP)
    because = f"together they are μ = {float(mu):.6g} Gaussian" + ("" if exact else " private at most")
    if isinstance(question, ForEpsilon):
        if question.delta.high == 0:
            return _without_delta(mu, exact)
        epsilon = gaussian_epsilon(mu, ball(question.delta))
        return Bound(epsilon.lower if exact else 0.0, epsilon.upper, because)
    delta = gaussian_delta(mu, ball(question.epsilon))
    return bounded(because, upper=delta, lower=delta if exact else None, most=1.0)


def _root_of_squares(promises: list[tuple[GDP, int]]) -> Ball:
    total = arb(0)
    for promise, count in promises:
        total += count * square(ball(promise.mu))
    return total.sqrt()


def _without_delta(mu: Ball, exact: bool) -> Bound | Abstain:
    if mu <= 0:
        return Bound(0.0, 0.0, "no release depends on the data")
    if exact:
        return Bound(math.inf, math.inf, "Gaussian losses are unbounded, so no finite ε holds at δ = 0")
    return Abstain("Gaussian losses are unbounded, so this proves nothing at δ = 0")


THEOREM = Theorem(
    id="gdp",
    title="Gaussian privacy",
    citations=("DRS22", "BW18"),
    adaptivity=Adaptivity.ADAPTIVE,
    answer=answer,
    dear=lambda composition: many(composition) and any(term.mechanism.name != "gaussian" for term in composition.terms),
)
