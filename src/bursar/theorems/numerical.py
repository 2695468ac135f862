"""Numerical composition of loss distributions, with certified ends.

Statement: if pairs (Pᵢ, Qᵢ), fixed in advance, dominate the mechanisms whatever came before, then their product
    dominates the adaptive composition: δ(ε) is at most E[(1 − e^{ε−L})₊] for L the sum of the pairs' losses, in the
    worse of the two directions; and it is exactly that where the mechanisms attain their pairs.
Hypotheses: every mechanism's loss distributions are known; there is more than one release (one release has its own
    exact profile).
Source: Zhu, Dong and Wang 2022, Thm 10, for the composition; for the numbers proofs/contour.md, proofs/envelope.md,
    proofs/densities.md, proofs/lattice.md and proofs/allocation.md.
Code/paper: `bursar.losses.engines.contour` sums along a line in the complex plane where noise is Gaussian;
    `bursar.losses.engines.envelope` sums polynomials on either side of the hockey stick, whatever the losses are;
    `bursar.losses.engines.lattice` puts every loss on one grid.
Rounding: every error term (aliasing, truncation, envelope, quadrature, discretisation, rounding) is bounded and lies
    inside the interval; see ``report.explain(error=True)``.
Checked: the golden compositions down to δ = 1e-300, by every engine that serves them; an independent evaluation in
    balls on random compositions; enumeration; each engine against the others; closed forms.
"""

from __future__ import annotations

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.losses import Directions, Loss
from bursar.losses.engines import meet as engines
from bursar.losses.engines.answer import Answer, Losses
from bursar.mechanisms._base import Mechanism
from bursar.numerics.balls import ball
from bursar.theorems._base import Abstain, Adaptivity, Bound, ForEpsilon, Question, Theorem, never
from bursar.theorems._width import why_wide

Pairs = list[tuple[Directions, int]]


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Ask the engines about both directions and keep the worse."""
    try:
        pairs = [(term.mechanism.losses(), term.count) for term in composition.terms]
    except LossUnknown as unknown:
        return Abstain(str(unknown))
    if composition.count == 1 and pairs[0][0].remove.copies()[1] == 1:
        return Abstain("one release needs no composition")
    try:
        found = _asked(pairs, question)
    except engines.NoEngine as limit:
        return Abstain(f"no engine serves this: {limit}")
    pieces = composed(pairs)
    asked = max(map(engines.usual_width, pieces)) if question.precision.width is None else question.precision.width
    attained = all(directions.attained for directions, _ in pairs)
    points = "grid points" if found.engine == "lattice" else "moments"
    because = f"the {found.engine} engine encloses it to {found.width:.0e} of itself ({found.nodes} {points})"
    because += why_wide(found, asked, question.precision.effort, len(pairs))
    lower = found.lower if attained else _least(composition, question)
    return Bound(min(lower, found.upper), found.upper, because, found.errors)


def _asked(pairs: Pairs, question: Question) -> Answer:
    if isinstance(question, ForEpsilon):
        return engines.epsilon_at(composed(pairs), ball(question.delta), question.precision)
    return engines.delta_at(composed(pairs), ball(question.epsilon), question.precision)


def _least(composition: Composition, question: Question) -> float:
    """The most that pairs cost which the mechanisms attain, where each of them has one."""
    ways = [attained_pairs(term.mechanism) for term in composition.terms]
    least = 0.0
    for i in range(max(map(len, ways)) if all(ways) else 0):
        pairs = [(way[min(i, len(way) - 1)], term.count) for way, term in zip(ways, composition.terms, strict=True)]
        try:
            least = max(least, _asked(pairs, question).lower)
        except (engines.NoEngine, LossUnknown):
            continue
    return least


def attained_pairs(mechanism: Mechanism) -> tuple[Directions, ...]:
    """Its own losses where it attains them, else what it attains at least."""
    losses = mechanism.losses()
    return (losses,) if losses.attained else mechanism.attained()


def composed(pairs: Pairs) -> list[Losses]:
    """The composed losses of a record removed and of one added; once where they are the same."""
    removed = [_single(directions.remove, count) for directions, count in pairs]
    if all(directions.same for directions, _ in pairs):
        return [removed]
    return [removed, [_single(directions.add, count) for directions, count in pairs]]


def _single(loss: Loss, count: int) -> tuple[Loss, int]:
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
