"""Strong composition, the lecture's Theorem 1.1.

Statement: k mechanisms that are (ε, δ)-DP, adaptively composed, are (ε̃, 1 − (1−δ)^k(1−δ'))-DP with
    ε̃ = ε√(2k ln(1/δ')) + kε·tanh(ε/2), for every δ' in (0, 1].
Hypotheses: all mechanisms promise one and the same (ε, δ); δ' > 0 is left after the leaks.
Source: Kairouz, Oh and Viswanath 2015, Thm 3.4, third branch; Dwork, Rothblum and Vadhan 2010 for the idea.
Code/paper: tanh(ε/2) = (e^ε − 1)/(e^ε + 1) is the mean loss of randomized response divided by ε; ``mean`` is
    kε·tanh(ε/2), ``squares`` is kε².
Rounding: balls throughout; the float at the end is rounded up.
Checked: 5.75610551933573 for k = 100, ε = 0.1, δ' = 1e-6; never below the exact optimum.
"""

from __future__ import annotations

from bursar.composition import Composition
from bursar.theorems._advanced import answer_by, one_parameter
from bursar.theorems._base import Abstain, Adaptivity, Bound, Question, Theorem


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """The closed form and its inverse."""
    return answer_by(
        composition,
        question,
        mean=lambda epsilon: epsilon * (epsilon / 2).tanh(),
        check=one_parameter,
        because=lambda s: f"the mean loss {float(s.mean):.4g} plus a deviation of √(2·{float(s.squares):.4g}·ln(1/δ'))",
    )


THEOREM = Theorem(
    id="strong",
    title="strong composition (Theorem 1.1)",
    citations=("KOV15", "DRV10"),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
)
