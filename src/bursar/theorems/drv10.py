"""Advanced composition as it was first proved.

Statement: k mechanisms that are (ε, δ)-DP, adaptively composed, are (ε', kδ + δ')-DP with
    ε' = ε√(2k ln(1/δ')) + kε(e^ε − 1), for every δ' in (0, 1].
Hypotheses: all mechanisms promise one and the same (ε, δ); δ' > 0 is left after the leaks.
Source: Dwork, Rothblum and Vadhan 2010, Thm III.3; Dwork and Roth 2014, Thm 3.20. In one published summary ε stands
    under the root: that form is wrong.
Code/paper: ``mean`` is kε(e^ε − 1); the leaks are composed to 1 − (1−δ)^k, which is at most kδ.
Rounding: balls throughout; the float at the end is rounded up.
Checked: 6.30823095051341 for k = 100, ε = 0.1, δ' = 1e-6; never below `strong`.
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
        mean=lambda epsilon: epsilon * epsilon.expm1(),
        check=one_parameter,
        because=lambda s: f"kε(e^ε − 1) = {float(s.mean):.4g} plus a deviation of √(2·{float(s.squares):.4g}·ln(1/δ'))",
    )


THEOREM = Theorem(
    id="drv10",
    title="advanced composition (DR14, Thm 3.20)",
    citations=("DRV10", "DR14"),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
)
