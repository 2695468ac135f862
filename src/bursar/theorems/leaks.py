"""What the releases certainly leak.

Statement: if release i makes an event certain to tell the neighbours apart (one that has probability lᵢ with one of
    them and none with the other), then δ(ε) ≥ 1 − Π(1 − lᵢ) at every ε, in the worse direction; so no finite ε holds
    at a smaller δ, whatever else is released.
Hypotheses: some release attains a pair of which one side has mass where the other has none, or is a declared promise
    with a δ, whose worst case publishes the record with that probability. Nothing is asked of the other releases.
Source: Kairouz, Oh and Viswanath 2015, Thm 3.3, for the product; that forgetting the other outputs costs nothing is
    post-processing (Dwork and Roth 2014, Prop. 2.1).
Code/paper: `Mechanism.leaks` is lᵢ by direction. Sampling keeps rate·lᵢ with the record against without it; absence is
    never certain, and where records are not left out only the record's own publication stays certain.
Rounding: the lower end of every lᵢ counts, products are balls, and a leak that δ may reach is not said to exceed it.
Checked: exact enumeration of small tables; leaks that exceed δ alone, only together, and not at all.
"""

from __future__ import annotations

import math

from bursar.composition import Composition
from bursar.numerics.balls import Ball, ball, down
from bursar.theorems._base import Abstain, Adaptivity, Bound, ForEpsilon, Question, Theorem, never


def leaked(composition: Composition) -> Ball:
    """A lower bound of what the whole leaks, in the worse direction."""
    leaks = composition.leaks()
    return leaks.removed.max(leaks.added)


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Infinity at a δ below the leak; the leak at every ε."""
    leak = leaked(composition)
    if not leak > 0:
        return Abstain("no release is known to reveal everything with positive probability")
    because = f"the releases reveal everything with probability {float(leak):.6g} at least"
    if not isinstance(question, ForEpsilon):
        return Bound(min(max(down(leak), 0.0), 1.0), 1.0, because)
    if ball(question.delta) < leak:
        return Bound(math.inf, math.inf, f"{because}, which δ = {question.delta.text()} does not cover")
    return Abstain(f"δ covers what the releases certainly leak, {float(leak):.6g}")


THEOREM = Theorem(
    id="leaks",
    title="what is certainly leaked",
    citations=("KOV15", "DR14"),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
    dear=never,
)
