"""Zero-concentrated privacy.

Statement: ρᵢ-zCDP mechanisms, adaptively composed, are (Σρᵢ)-zCDP; and ρ-zCDP implies δ(ε) ≤ inf over α > 1 of
    e^{(α−1)(αρ−ε)}·(1/α)(1−1/α)^{α−1}. With δᵢ-approximate promises, 1 − Π(1−δᵢ) is set aside first.
Hypotheses: each mechanism is (δᵢ-approximately) ρᵢ-zCDP: by its own claim, or because it promises ε-DP
    (ρ = ε·tanh(ε/2)) or (ε, δ)-DP.
Source: Bun and Steinke 2016, Lemmas 1.7 and 8.2; Canonne, Kamath and Steinke 2020, Cor. 13; for ε·tanh(ε/2): Steinke
    2024, Thm 5.
Code/paper: ``total.rho`` is Σρᵢ, exact where the claims are.
Rounding: the order α is found in floats, and any order is valid; at that order the bound is evaluated in balls and
    rounded up.
Checked: 5.22153444453017 for ρ = 0.5 at δ = 1e-6; between the Gaussian's exact value and Bun and Steinke's Lemma 3.6.
"""

from __future__ import annotations

from bursar.composition import Composition
from bursar.guarantees import ZCDP
from bursar.theorems._base import Abstain, Adaptivity, Bound, Question, Theorem, collected, converted


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Add the ρ's, then convert once."""
    promises = collected(composition, ZCDP)
    if isinstance(promises, Abstain):
        return promises
    total = ZCDP.compose(promises)
    return converted(total, question, f"the ρ's add up to {float(total.rho):.6g}")


THEOREM = Theorem(
    id="zcdp",
    title="zero-concentrated privacy",
    citations=("BS16", "CKS20", "Ste24"),
    adaptivity=Adaptivity.ADAPTIVE,
    answer=answer,
)
