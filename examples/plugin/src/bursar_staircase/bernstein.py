"""Composition by Bernstein's inequality.

Statement: releases whose privacy losses have mean mᵢ and variance vᵢ and never exceed their mean by more than c are,
    run kᵢ times each, (ε, δ)-DP with ε = M + c·ln(1/δ)/3 + √((c·ln(1/δ)/3)² + 2V·ln(1/δ)), M = Σkᵢmᵢ, V = Σkᵢvᵢ.
Hypotheses: each release has a known law of its loss, bounded and without mass at infinity; parameters fixed in advance.
Source: Bernstein's inequality for sums of independent variables bounded above (Boucheron, Lugosi and Massart 2013, Thm
    2.10), with the lemma that P(L > ε) ≤ δ implies (ε, δ)-DP; a product of dominating pairs dominates (Zhu, Dong and
    Wang 2022).
Code/paper: ``mean`` is M, ``variance`` V, ``excess`` c, ``log`` ln(1/δ).
Rounding: balls throughout; the float at the end is rounded up.
Checked: by `bursar.testing.check`, and against the numerical theorem on staircases.
"""

from __future__ import annotations

from flint import arb

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.losses import Directions, Loss
from bursar.numerics.balls import Ball, ball, maximum, up
from bursar.theorems import Abstain, Adaptivity, Bound, ForEpsilon, Question, Theorem

BECAUSE = "mean {:.4g}, variance {:.4g} and excess {:.4g} by Bernstein's inequality"


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """The worse of the two directions."""
    pairs: list[tuple[Directions, int]] = []
    for mechanism, count in composition.terms:
        try:
            losses = mechanism.losses()
        except LossUnknown as unknown:
            return Abstain(str(unknown))
        if not losses.infinite_mass() <= 0 or not losses.largest_loss().is_finite():
            return Abstain(f"the loss of {mechanism.text()} is not bounded")
        pairs.append((losses, count))
    sides = [[(pair.remove, n) for pair, n in pairs], [(pair.add, n) for pair, n in pairs]]
    return _answer([_sums(side) for side in sides], question)


def _sums(side: list[tuple[Loss, int]]) -> tuple[Ball, Ball, Ball]:
    mean = sum((count * loss.mean() for loss, count in side), arb(0))
    variance = sum((count * loss.variance() for loss, count in side), arb(0))
    return mean, variance, maximum(*(loss.support()[1] - loss.mean() for loss, _ in side))


def _answer(sides: list[tuple[Ball, Ball, Ball]], question: Question) -> Bound | Abstain:
    said = BECAUSE.format(*(float(part) for part in sides[0]))
    if isinstance(question, ForEpsilon):
        if question.delta.low <= 0:
            return Abstain("without δ a tail bound proves nothing")
        log = -ball(question.delta).log()
        found = maximum(*(m + c * log / 3 + ((c * log / 3) ** 2 + 2 * v * log).sqrt() for m, v, c in sides))
        return Bound(0.0, max(up(found), 0.0), said)
    tails = []
    for mean, variance, excess in sides:
        beyond = ball(question.epsilon) - mean
        if not beyond > 0:
            return Abstain("ε is not certainly above the mean loss")
        tails.append((-(beyond**2) / (2 * (variance + excess * beyond / 3))).exp())
    return Bound(0.0, min(max(up(maximum(*tails)), 0.0), 1.0), said)


BERNSTEIN = Theorem(
    id="bernstein",
    title="Bernstein's inequality for bounded losses",
    citations=("ZDW22",),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
)
