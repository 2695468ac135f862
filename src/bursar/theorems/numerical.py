"""Numerical composition of loss distributions, with certified ends.

Statement: if pairs (Pᵢ, Qᵢ), fixed in advance, dominate the mechanisms whatever came before, then their product
    dominates the adaptive composition: δ(ε) is at most E[(1 − e^{ε−L})₊] for L the sum of the pairs' losses, in the
    worse of the two directions; and it is exactly that where the mechanisms attain their pairs.
Hypotheses: every mechanism's loss distributions are known; there is more than one release (one release has its own
    exact profile), unless that profile is not resolved.
Source: Zhu, Dong and Wang 2022, Thm 10, for the composition; proofs/contour.md, envelope.md, densities.md, lattice.md,
    likeness.md, steady.md, largest.md and allocation.md there for the numbers.
Code/paper: `bursar.losses.engines.contour` sums along a line in the complex plane where noise is Gaussian;
    `bursar.losses.engines.envelope` sums polynomials on either side of the hockey stick, whatever the losses are;
    `bursar.losses.engines.lattice` puts every loss on one grid.
Rounding: every error term (aliasing, truncation, envelope, quadrature, discretisation, rounding) is bounded and lies
    inside the interval; see ``report.explain(error=True)``.
Checked: the golden compositions down to δ = 1e-300, by every engine that serves them; an independent evaluation in
    balls on random compositions; enumeration; each engine against the others; closed forms.
"""

from __future__ import annotations

import math

from bursar.composition import Composition
from bursar.losses import Directions, Loss
from bursar.losses.engines import meet as engines
from bursar.losses.engines.answer import Losses, NoEngine
from bursar.mechanisms._base import known_losses
from bursar.numerics.balls import ball
from bursar.theorems import single
from bursar.theorems._base import Abstain, Adaptivity, Bound, ForEpsilon, Question, Theorem, never
from bursar.theorems._width import why_wide

_CLOSE = 1e-6
_FROM_BELOW = {
    "drawn": "the number of samples that contain the record proves",
    "at least": "what a few of the releases show proves",
}

Pairs = list[tuple[Directions, int]]


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Ask the engines about both directions and keep the worse."""
    if composition.count == 1 and _told(composition, question):
        return Abstain("one release needs no composition")
    pairs: Pairs = []
    for mechanism, count in composition.terms:
        losses = known_losses(mechanism)
        if isinstance(losses, str):
            return Abstain(losses)
        pairs.append((losses, count))
    try:
        if isinstance(question, ForEpsilon):
            found = engines.epsilon_at(composed(pairs), ball(question.delta), question.precision)
        else:
            found = engines.delta_at(composed(pairs), ball(question.epsilon), question.precision)
    except NoEngine as limit:
        return Abstain(f"no engine serves this: {limit}")
    pieces = composed(pairs)
    asked = max(map(engines.usual_width, pieces)) if question.precision.width is None else question.precision.width
    attained = all(directions.attained for directions, _ in pairs)
    if found.upper == math.inf and not attained:
        return Abstain("no engine proves an upper end")
    points = "grid points" if found.engine == "lattice" else "moments"
    because = f"the {found.engine} engine encloses it to {found.width:.0e} of itself ({found.nodes} {points})"
    if found.upper == math.inf and found.engine in _FROM_BELOW:
        because = f"{_FROM_BELOW[found.engine]} a lower end, and no engine an upper one"
    else:
        because += why_wide(found, asked, question.precision.effort, len(pairs))
    return Bound(found.lower if attained else 0.0, found.upper, because, found.errors)


def _told(composition: Composition, question: Question) -> bool:
    """Whether the profile of the only release says enough: where its numbers are extreme the engines may say more."""
    losses = known_losses(composition.terms[0].mechanism)
    if not isinstance(losses, str) and losses.remove.copies()[1] > 1:
        return False
    found = single.THEOREM.ask(composition, question)
    return isinstance(found, Bound) and found.encloses(_CLOSE)


def composed(pairs: Pairs) -> list[Losses]:
    """The composed losses of a record removed and of one added; once where they are the same."""
    removed = [unrolled(directions.remove, count) for directions, count in pairs]
    if all(directions.same for directions, _ in pairs):
        return [removed]
    return [removed, [unrolled(directions.add, count) for directions, count in pairs]]


def unrolled(loss: Loss, count: int) -> tuple[Loss, int]:
    """The law that is repeated, and how often in all."""
    once, copies = loss.copies()
    return once, copies * count


THEOREM = Theorem(
    id="numerical",
    title="numerical composition, certified",
    citations=("ZDW22",),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
    dear=never,
)
