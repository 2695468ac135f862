"""Numerical composition of loss distributions, with certified ends.

Statement: if pairs (Pᵢ, Qᵢ), fixed in advance, dominate the mechanisms whatever came before, then their product
    dominates the adaptive composition: δ(ε) is at most E[(1 − e^{ε−L})₊] for L the sum of the pairs' losses, in the
    worse of the two directions; and it is exactly that where the mechanisms attain their pairs.
Hypotheses: every mechanism's loss distributions are known; there is more than one release (one release has its own
    exact profile).
Source: Zhu, Dong and Wang 2022, Thm 10, for the composition; proofs/contour.md for the numbers.
Code/paper: `bursar.losses.contour` sums along a line in the complex plane where some factor is smooth.
Rounding: every error term (aliasing, truncation, quadrature, cut, rounding) is bounded and lies inside the interval;
    see ``report.explain(error=True)``.
Checked: the golden compositions down to δ = 1e-300; an independent evaluation in balls on random compositions; closed
    forms.
"""

from __future__ import annotations

from dataclasses import replace

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.losses import Directions
from bursar.losses.contour.engine import NoContour
from bursar.losses.contour.solve import Answer, Losses, at_most, delta_at, epsilon_at
from bursar.numerics.balls import ball
from bursar.theorems._base import Abstain, Adaptivity, Bound, ForEpsilon, Question, Theorem


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Ask the engine about both directions and keep the worse."""
    if composition.count == 1:
        return Abstain("one release needs no composition")
    try:
        pairs = [(term.mechanism.losses(), term.count) for term in composition.terms]
    except LossUnknown as unknown:
        return Abstain(str(unknown))
    try:
        found = _ask(_directions(pairs), question)
    except (NoContour, ArithmeticError, ValueError) as limit:  # whatever the floats stumble over, fail closed
        return Abstain(f"the contour engine does not serve this: {limit}")
    attained = all(directions.attained for directions, _ in pairs)
    because = f"{found.nodes} nodes of the contour engine enclose it"
    return Bound(found.lower if attained else 0.0, found.upper, because, found.errors.terms())


def _directions(pairs: list[tuple[Directions, int]]) -> list[Losses]:
    """The composed losses of a record removed and of one added; once where they are the same."""
    removed = [(directions.remove, count) for directions, count in pairs]
    if all(directions.same for directions, _ in pairs):
        return [removed]
    return [removed, [(directions.add, count) for directions, count in pairs]]


def _ask(directions: list[Losses], question: Question) -> Answer:
    if not isinstance(question, ForEpsilon):
        return _worst([delta_at(losses, ball(question.epsilon)) for losses in directions])
    delta = ball(question.delta)
    first = epsilon_at(directions[0], delta)
    answers = [first]
    for losses in directions[1:]:
        # Mostly the other direction is the cheaper one, which is easier to show than to solve.
        if not at_most(losses, first.upper, delta, first.tilt):
            answers.append(epsilon_at(losses, delta))
    return _worst(answers)


def _worst(answers: list[Answer]) -> Answer:
    """The larger of both lower and of both upper ends; the budget of the one that decides the upper."""
    top = max(answers, key=lambda found: found.upper)
    return replace(top, lower=max(found.lower for found in answers))


THEOREM = Theorem(
    id="numerical",
    title="numerical composition, certified",
    citations=("ZDW22",),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
)
