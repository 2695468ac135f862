"""The simulation lemma: every (ε, δ)-close pair is a disguised leaky randomized response.

Statement: if X ≈ Y within (ε, δ), both ways, there is a randomized map F with F(U) ~ X and F(V) ~ Y, where U and V
    are the two laws of leaky randomized response on {0, 1, "U", "V"}:

        U = ((1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε), δ, 0)
        V = ((1−δ)/(1+e^ε), (1−δ)e^ε/(1+e^ε), 0, δ)

Proof: cut P_X at e^ε·P_Y and P_Y at e^ε·P_X to get A and B, whose ratio is within e^{±ε} everywhere, with masses
    1−δ_x and 1−δ_y of at least 1−δ. If the masses differ, mix the heavier with e^{−ε} times the lighter: the set of A
    with e^{−ε}B ≤ A ≤ e^ε B is convex and contains e^{−ε}B, so the ratio survives while the masses become equal.
    Scale both to 1−δ. Then F(·|0) and F(·|1) solve two linear equations, and are non-negative exactly because of the
    ratio; F(·|"U") and F(·|"V") carry what is left. Plain rescaling in place of the mixing is wrong whenever
    δ_x ≠ δ_y.
Source: Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2018, Lemma 3.2. Lecture notes print a map with five slips;
    this one is the corrected form.

With rational probabilities and rational odds e^ε everything here is exact, and the map is checked before it is
returned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bursar.errors import BursarError, InputError
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import listed, noise, probability, real, whole
from bursar.presented import Bare, Presented, Table, Tabled

if TYPE_CHECKING:
    import numpy as np

Law = tuple[Fraction, ...]


@dataclass(frozen=True, repr=False)
class SimulationMap(Tabled):
    """The map F: for each of the four inputs a law over the outcomes."""

    odds: Fraction
    delta: Fraction
    zero: Law
    one: Law
    reveal_u: Law
    reveal_v: Law

    def _facts(self) -> list[tuple[str, object]]:
        size = f"{len(self.zero)} outcomes"
        return [("odds", Bare(str(self.odds))), ("delta", Bare(str(self.delta))), ("", Bare(size))]

    def _table(self) -> Table:
        rows = [
            [str(place), *(str(row[place]) for row in (self.zero, self.one, self.reveal_u, self.reveal_v))]
            for place in range(len(self.zero))
        ]
        above = (f"what each of the four inputs becomes, at odds {self.odds}, δ = {self.delta}",)
        return Table(above, ("outcome", "F(·|0)", "F(·|1)", 'F(·|"U")', 'F(·|"V")'), rows)

    def pushed(self) -> tuple[Law, Law]:
        """F(U) and F(V), exactly."""
        kept = 1 - self.delta
        likely, rare = kept * self.odds / (1 + self.odds), kept / (1 + self.odds)
        from_u = (likely, rare, self.delta, Fraction(0))
        from_v = (rare, likely, Fraction(0), self.delta)
        rows = (self.zero, self.one, self.reveal_u, self.reveal_v)
        mix = [
            tuple(
                sum((w * row[i] for w, row in zip(weights, rows, strict=True)), Fraction(0))
                for i in range(len(self.zero))
            )
            for weights in (from_u, from_v)
        ]
        return mix[0], mix[1]


def simulation_map(p: Sequence[Number], q: Sequence[Number], *, odds: Number, delta: Number) -> SimulationMap:
    """The map for X ~ p and Y ~ q that are (ln odds, δ)-close both ways; refused with the true δ where they are not."""
    x, y = _law(p, "p"), _law(q, "q")
    if len(x) != len(y):
        raise InputError(f"p has {len(x)} outcomes but q has {len(y)}", argument="q")
    ratio = Fraction(real(odds=odds, at_least=1))
    leak = Fraction(probability(delta=delta))
    found = _construct(x, y, ratio, leak)
    rows = (found.zero, found.one, found.reveal_u, found.reveal_v)
    if found.pushed() != (x, y) or any(sum(row) != 1 or min(row) < 0 for row in rows):
        raise BursarError("the simulation map failed its own check: this is a bug")
    return found


def _construct(x: Law, y: Law, ratio: Fraction, leak: Fraction) -> SimulationMap:
    a = [min(u, ratio * v) for u, v in zip(x, y, strict=True)]
    b = [min(v, ratio * u) for u, v in zip(x, y, strict=True)]
    worst = max(1 - sum(a), 1 - sum(b))
    if worst > leak:
        raise InputError(
            f"p and q are not that close: at odds {ratio} they need delta ≥ {worst} = {float(worst):.6g}",
            argument="delta",
        )
    if leak == 1:
        return SimulationMap(ratio, leak, x, x, x, y)
    a, b = _equalised(a, b, ratio)
    scale = (1 - leak) / sum(a)
    a, b = [scale * u for u in a], [scale * v for v in b]
    if ratio == 1:
        zero = one = tuple(u / (1 - leak) for u in a)
    else:
        norm = (1 - leak) * (ratio - 1)
        zero = tuple((ratio * u - v) / norm for u, v in zip(a, b, strict=True))
        one = tuple((ratio * v - u) / norm for u, v in zip(a, b, strict=True))
    if leak == 0:
        return SimulationMap(ratio, leak, zero, one, x, y)
    reveal_u = tuple((u - v) / leak for u, v in zip(x, a, strict=True))
    reveal_v = tuple((u - v) / leak for u, v in zip(y, b, strict=True))
    return SimulationMap(ratio, leak, zero, one, reveal_u, reveal_v)


def _equalised(a: list[Fraction], b: list[Fraction], ratio: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """Make the masses equal by mixing the heavier with 1/ratio times the lighter, which keeps the ratio."""
    heavy, light = sum(a), sum(b)
    if heavy == light:
        return a, b
    if heavy < light:
        second, first = _equalised(b, a, ratio)
        return first, second
    share = (heavy - light) / (heavy - light / ratio)
    return [(1 - share) * u + share * v / ratio for u, v in zip(a, b, strict=True)], b


def _law(numbers: Sequence[Number], name: str) -> Law:
    law = tuple(Fraction(probability(**{name: number})) for number in listed(**{name: numbers}))
    if not law or sum(law) != 1:
        raise InputError(f"{name} must sum to exactly 1, not {float(sum(law))!r}: give fractions", argument=name)
    return law


@dataclass(frozen=True, init=False, repr=False)
class LaplaceSimulation(Presented):
    """Laplace noise from one randomized response: the map F with F(U) ~ Laplace(0, 1/ε) and F(V) ~ Laplace(1, 1/ε),
    where δ = 0.

        F(z|0) = (1 + e^{−ε})·(ε/2)·e^{εz}         for z ≤ 0
                 ε·sinh(ε(1−z))/(e^ε − 1)          for 0 < z < 1
                 0                                 from 1 on
        F(z|1) = F(1−z|0)
    """

    epsilon: Real

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", noise(epsilon=epsilon))

    def _facts(self) -> list[tuple[str, object]]:
        return [("epsilon", Bare(self.epsilon.text()))]

    def __str__(self) -> str:
        return f"Laplace noise of scale 1/{self.epsilon.text()} from one randomized response"

    def density(self, z: float, bit: int) -> float:
        """F(z|bit)."""
        whole(bit=bit, at_least=0, at_most=1)
        e, at = float(self.epsilon), z if bit == 0 else 1.0 - z
        if at <= 0:
            return (1 + math.exp(-e)) * e / 2 * math.exp(e * at)
        # sinh(a)/(e^ε − 1) through decaying exponentials, so that nothing overflows
        return e * (math.exp(-e * at) - math.exp(-e * (2 - at))) / (-2 * math.expm1(-e)) if at < 1 else 0.0

    def mass_below_zero(self) -> float:
        """P(F(0) ≤ 0) = (1 + e^{−ε})/2."""
        return (1 + math.exp(-float(self.epsilon))) / 2

    def sample(self, bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """F applied to an array of bits."""
        import numpy as np

        e = float(self.epsilon)
        size = np.shape(bits)
        negative = rng.random(size) < self.mass_below_zero()
        share = rng.random(size)
        # where cosh would overflow arccosh(y) is ln(2y) to all digits
        near = (
            np.arccosh(1 + share * (np.cosh(min(e, 300.0)) - 1)) if e < 300 else e + np.log(np.maximum(share, 1e-300))
        )
        inside = 1 - near / e
        z = np.where(negative, -rng.exponential(1 / e, size), inside)
        return np.where(np.asarray(bits) == 0, z, 1 - z)
