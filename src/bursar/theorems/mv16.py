"""The optimum for different (εᵢ, δᵢ).

Statement: OptComp is the least ε_g ≥ 0 with
    Σ_S (Π_{i∈S}e^{εᵢ} − e^{ε_g}Π_{i∉S}e^{εᵢ})₊/Π(1+e^{εᵢ}) ≤ 1 − (1−δ_g)/Π(1−δᵢ):
    the composition is (ε_g, δ_g)-DP, and for the worst such mechanisms nothing smaller holds.
    Approximately: rounding each εᵢ up to a multiple aᵢε₀ of ε₀ = ln(1+β), β = η/(k + Σεᵢ + 1), aᵢ = ⌈εᵢ(1/β+1)⌉,
    gives a value between OptComp(δ_g) and OptComp(e^{−η/2}δ_g) + η.
Hypotheses: each mechanism promises pure or approximate privacy. Exact where at most 16384 different totals occur;
    approximate where η can be made small against ε on a lattice of 2048 points; from below also: each mechanism
    attains its promise's worst pair.
Source: Murtagh and Vadhan 2016, Thm 1.5 and Thm 1.7 (their journal form: 2018). A comment in public code prints
    2^{−η/2} for e^{−η/2}.
Code/paper: the law of the total loss of randomized responses, as a list of (loss, P, Q), or as a polynomial whose
    coefficient at s is P(Σ_{i∉S} aᵢ = s).
Rounding: every probability is a ball, and δ_g(x) = Σ (P − e^x Q)₊ is evaluated in balls; floats only guide the
    search. For the approximation the lower end uses the guarantee: OptComp(δ) ≥ value(e^{η/2}δ) − η.
Checked: enumeration of all leaky outcomes for k ≤ 12; golden values; the approximation against the exact optimum.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from flint import arb, arb_poly

from bursar.composition import Composition
from bursar.guarantees import ApproxDP, PureDP
from bursar.numerics.balls import Ball, ball, positive_part, up
from bursar.numerics.interval import Interval
from bursar.numerics.real import Real
from bursar.numerics.search import crossing
from bursar.theorems._base import (
    Abstain,
    Adaptivity,
    Bound,
    ForEpsilon,
    Question,
    Theorem,
    bounded,
    collected,
    leaks_of,
    rest_of_delta,
    told_exactly,
    too_leaky,
    whole_delta,
)

MOST_TOTALS = 1 << 14
MOST_POINTS = 1 << 11
WORTHWHILE = 0.05


class TotalLoss:
    """The law of the summed loss: each total with its probability under P and Q; η says by how much losses were rounded
    up in all.
    """

    def __init__(self, rows: list[tuple[float, Ball, Ball]], eta: Ball) -> None:
        self.eta = eta
        self.rows = sorted(rows, key=lambda row: -row[0])
        self.keys = [-loss for loss, _, _ in self.rows]
        # The losses are floats that only sort: what lies within this margin of ε is decided by its own balls.
        self.margin = 1e-9 * (1 + max(abs(self.keys[0]), abs(self.keys[-1])))
        a, b = arb(0), arb(0)
        self.sums = [(a, b)]
        for _, p, q in self.rows:
            a, b = a + p, b + q
            self.sums.append((a, b))

    def delta_at(self, x: Ball) -> Ball:
        """Σ (P − e^x Q)₊: whole sums where the sign is clear, single balls near the border."""
        near, odds = float(x), x.exp()
        start = bisect_left(self.keys, -near - self.margin)
        stop = bisect_right(self.keys, -near + self.margin)
        a, b = self.sums[start]
        border = sum((positive_part(p - odds * q) for _, p, q in self.rows[start:stop]), arb(0))
        return positive_part(a - odds * b) + border

    def epsilon_at(self, delta: Ball, guess: float) -> Interval:
        """Where δ(x) = δ, both ends proved."""
        return crossing(lambda x: self.delta_at(arb(x)), delta, guess=guess)


Groups = list[tuple[Ball, int]]


def exact_total(groups: Groups) -> TotalLoss:
    """All totals of the groups' binomials."""
    rows = [(0.0, arb(1), arb(1))]
    for epsilon, k in groups:
        truth, lie, near = 1 / (1 + (-epsilon).exp()), 1 / (1 + epsilon.exp()), float(epsilon)
        ways = [
            ((k - 2 * j) * near, choose * truth ** (k - j) * lie**j, choose * lie ** (k - j) * truth**j)
            for j, choose in enumerate(_ways(k, k))
        ]
        rows = [(loss + more, p * a, q * b) for loss, p, q in rows for more, a, b in ways]
    return TotalLoss(rows, arb(0))


def _ways(k: int, last: int) -> Iterator[Ball]:
    """In how many ways 0, 1, …, ``last`` of k are chosen, each from the one before."""
    ways = 1
    for j in range(last + 1):
        yield arb(ways)
        ways = ways * (k - j) // (j + 1)


def lattice_total(groups: Groups, eta: float) -> TotalLoss:
    """The approximation: each ε rounded up to the lattice, and the total's law by multiplying polynomials."""
    count = sum(k for _, k in groups)
    total = sum((k * epsilon for epsilon, k in groups), arb(0))
    beta = arb(eta) / (count + total + 1)
    step = beta.log1p()
    rounded = [(math.ceil(up(epsilon * (1 / beta + 1))), k) for epsilon, k in groups]
    size = sum(a * k for a, k in rounded)
    half = size // 2 + 1  # totals beyond the middle have negative loss and never count at x ≥ 0
    product = arb_poly([1])
    for a, k in rounded:
        truth, lie = 1 / (1 + (-step * a).exp()), 1 / (1 + (step * a).exp())
        coefficients = [arb(0)] * (min(a * k, half) + 1)
        for j, choose in enumerate(_ways(k, min(k, half // a))):
            coefficients[j * a] = choose * truth ** (k - j) * lie**j
        product = arb_poly((product * arb_poly(coefficients)).coeffs()[: half + 1])
    near, rows = float(step), []
    for s, p in enumerate(product.coeffs()):
        rows.append(((size - 2 * s) * near, positive_part(p), positive_part(p) * (-step * (size - 2 * s)).exp()))
    return TotalLoss(rows, arb(eta))


def total_loss(groups: Groups, epsilon_scale: float) -> TotalLoss | Abstain:
    """Exact where it is small, approximate where that is worth it."""
    totals = math.prod(k + 1 for _, k in groups)
    if totals <= MOST_TOTALS:
        return exact_total(groups)
    count = sum(k for _, k in groups)
    sum_epsilon = math.fsum(k * float(epsilon) for epsilon, k in groups)
    # the lattice has about Σε·(k + Σε + 1)/η points, plus one for every rounding up
    eta = sum_epsilon * (count + sum_epsilon + 1) / max(MOST_POINTS - count - sum_epsilon, 1)
    if count > MOST_POINTS / 2 or eta > WORTHWHILE * epsilon_scale:
        return Abstain(
            f"about 10^{len(str(totals)) - 1} different totals are too many to enumerate, "
            f"and the approximation would be off by η = {eta:.2g}"
        )
    return lattice_total(groups, eta)


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """The exact or the approximate optimum."""
    promises = collected(composition, ApproxDP)
    if isinstance(promises, Abstain):
        return promises
    leaks = leaks_of(promises)
    groups = [(ball(promise.epsilon), count) for promise, count in promises if promise.epsilon.high > 0]
    if len(promises) == 1 and composition.count > 1:
        return Abstain("the releases promise one and the same (ε, δ): see optimal")
    scale = math.sqrt(math.fsum(k * float(e) ** 2 for e, k in groups))
    law = total_loss(groups, scale)
    if isinstance(law, Abstain):
        return law
    exact = told_exactly(composition, PureDP, ApproxDP)
    if isinstance(question, ForEpsilon):
        return _epsilon(law, question, leaks, exact, scale)
    part = law.delta_at(ball(question.epsilon))
    delta = whole_delta(part, leaks)
    lower = None if not exact else delta if law.eta == 0 else whole_delta(_shifted(law, question), leaks)
    return bounded(_because(law), upper=delta, lower=lower, most=1.0)


def _epsilon(
    law: TotalLoss, question: ForEpsilon, leaks: list[tuple[Real, int]], exact: bool, scale: float
) -> Bound | Abstain:
    rest = rest_of_delta(question.delta, leaks)
    if rest < 0:
        reason = too_leaky(leaks, question.delta)
        return Bound(math.inf, math.inf, reason) if exact else Abstain(reason)
    if not rest > 0:
        return Abstain("it searches at δ > 0; basic composition is optimal where nothing of δ is left")
    guess = scale * math.sqrt(2 * max(-float(rest.log()), 0.1)) or 1.0
    found = law.epsilon_at(rest, guess)
    lower = found.lower
    if law.eta > 0:
        looser = rest * (law.eta / 2).exp()
        lower = max(0.0, law.epsilon_at(looser, guess).lower - up(law.eta)) if looser < 1 else 0.0
    return Bound(min(lower, found.upper) if exact else 0.0, found.upper, _because(law))


def _shifted(law: TotalLoss, question: Question) -> Ball:
    """From below, for the approximation: OptComp(e^{−η/2}δ) + η ≥ value(δ), read the other way round."""
    assert not isinstance(question, ForEpsilon)
    return law.delta_at(ball(question.epsilon) + law.eta) * (-law.eta / 2).exp()


def _because(law: TotalLoss) -> str:
    if law.eta == 0:
        return f"the exact optimum, by all {len(law.rows)} total losses"
    return f"the optimum to within η = {float(law.eta):.2g}, on a lattice of losses"


THEOREM = Theorem(
    id="mv16",
    title="optimum for different (ε, δ) (MV16)",
    citations=("MV16", "MV18"),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
)
