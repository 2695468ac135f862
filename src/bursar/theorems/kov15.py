"""The three-branch bound for different (εᵢ, δᵢ).

Statement: with T = Σεᵢ tanh(εᵢ/2) and S = Σεᵢ², for every δ̃ in (0, 1] the adaptive composition is
    (ε̃, 1 − (1−δ̃)Π(1−δᵢ))-DP with ε̃ = min{Σεᵢ, T + √(2S·ln(e + √S/δ̃)), T + √(2S·ln(1/δ̃))}.
Hypotheses: each mechanism promises pure or approximate privacy; δ̃ > 0 is left after the leaks.
Source: Kairouz, Oh and Viswanath 2015, Thm 3.5. A public script prints √S·δ̃ for √S/δ̃, which is unsound.
Code/paper: ``mean`` is T, ``squares`` is S.
Rounding: balls throughout; the smallest of three proved bounds is proved; the float at the end is rounded up.
Checked: 2.5, 4.1280233682271 and 4.17042658041037 for ε = 10 × 0.1, 5 × 0.2, 0.5 at δ̃ = 1e-6; enumeration for
    small k.
"""

from __future__ import annotations

from flint import arb

from bursar.composition import Composition
from bursar.numerics.balls import Ball, minimum
from bursar.theorems._advanced import Sums, answer_by, gaussian_delta, gaussian_epsilon
from bursar.theorems._base import Abstain, Adaptivity, Bound, Question, Theorem


def branches(s: Sums, delta: Ball) -> tuple[Ball, Ball, Ball]:
    """The three ε's, each of them proved."""
    second = s.mean + (2 * s.squares * (arb.const_e() + s.squares.sqrt() / delta).log()).sqrt()
    return s.total, second, gaussian_epsilon(s, delta)


def delta_of(s: Sums, epsilon: Ball) -> Ball:
    """The smallest δ̃ at which one of the branches reaches ε."""
    if epsilon >= s.total:
        return arb(0)
    ways = [gaussian_delta(s, epsilon)]
    if s.squares > 0 and epsilon > s.mean:
        room = ((epsilon - s.mean) * (epsilon - s.mean) / (2 * s.squares)).exp() - arb.const_e()
        if room > s.squares.sqrt():
            ways.append(s.squares.sqrt() / room)
    return minimum(*ways)


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """The smallest branch and its inverse."""
    return answer_by(
        composition,
        question,
        mean=lambda epsilon: epsilon * (epsilon / 2).tanh(),
        epsilon=lambda s, delta: minimum(*branches(s, delta)),
        delta=delta_of,
        because=lambda s: f"T = {float(s.mean):.4g}, S = {float(s.squares):.4g}: the smallest of three branches",
    )


THEOREM = Theorem(
    id="kov15",
    title="three-branch bound (KOV15, Thm 3.5)",
    citations=("KOV15",),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
)
