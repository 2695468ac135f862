"""Advanced composition through concentrated privacy.

Statement: (εᵢ, δᵢ)-DP mechanisms, adaptively composed, are (½Σεᵢ² + √(2 ln(1/δ')Σεᵢ²), 1 − (1−δ')Π(1−δᵢ))-DP for
    every δ' in (0, 1].
Hypotheses: each mechanism promises pure or approximate privacy; δ' > 0 is left after the leaks.
Source: Bun and Steinke 2016, Prop. 1.3 with Prop. 1.4; Steinke 2022. Valid as a filter too: Whitehouse, Ramdas,
    Rogers and Wu 2023, Thm 2 (there with Σδᵢ).
Code/paper: ε-DP is ½ε²-zCDP; ``mean`` is ½Σεᵢ², ``squares`` is Σεᵢ².
Rounding: balls throughout; the float at the end is rounded up.
Checked: 5.75652176975693 for k = 100, ε = 0.1; 4.17334087962568 for ε = 10 × 0.1, 5 × 0.2, 0.5; both at δ' = 1e-6.
"""

from __future__ import annotations

from bursar.composition import Composition
from bursar.theorems._advanced import answer_by
from bursar.theorems._base import Abstain, Adaptivity, Bound, Question, Theorem


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """The closed form and its inverse."""
    return answer_by(
        composition,
        question,
        mean=lambda epsilon: epsilon * epsilon / 2,
        because=lambda s: f"½Σε² = {float(s.mean):.4g} plus a deviation of √(2·{float(s.squares):.4g}·ln(1/δ'))",
    )


THEOREM = Theorem(
    id="steinke",
    title="advanced composition (zCDP form)",
    citations=("BS16", "Ste22", "WRRW23"),
    adaptivity=Adaptivity.ADAPTIVE,
    answer=answer,
)
