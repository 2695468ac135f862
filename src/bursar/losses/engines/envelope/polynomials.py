"""Trigonometric polynomials just above and just below the repeated hockey stick.

With g(y) = (e^{−τy} − e^{−(τ+1)y})₊ and G(y) = Σₙ g(y + nB), δ(ε) and its aliases are e^{K(τ)−τε}·Ẽ[G(L − ε)], Ẽ under
the tilted law. There are polynomials T⁻ ≤ G ≤ T⁺ of degree M − 1 in e^{2πiy/B} that touch G at M places h = B/M apart
(Hermite interpolation; proofs/envelope.md §2). So M moments of the law, at frequencies s_j = 2πj/B, bound δ from both
sides, whatever the law: nothing is cut off, and atoms do no harm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.trusted import UNIT

_ROUNDINGS = 256  # proofs/envelope.md §3


@dataclass(frozen=True)
class Polynomial:
    """The coefficients c_j of e^{i·s_j·y} for j = 0 … M − 1, those of −j being their conjugates; and their errors."""

    values: Complexes
    errors: Array
    largest: float = 0.0
    """A bound of the size of every coefficient, also of those that are not listed."""


def spacing(step: float, degree: int) -> float:
    """h = B/M for frequencies that are multiples of the step."""
    return 2 * math.pi / (step * degree)


def gap(tau: float, h: float) -> float:
    """By how much the mean of T⁺ − T⁻ exceeds 0, relative to the mean of G; in floats, for choosing h."""
    x, y = tau * h, (tau + 1) * h
    if x < 1e-3 and y < 1e-3:
        return x * y / 8
    # the periodised hockey stick is a·e^{−τy} − b·e^{−(τ+1)y} on (0, h): at its kink, and at its top
    a, b = -1 / math.expm1(-x), -1 / math.expm1(-y)
    top = math.log1p(1 / tau) + math.log(b / a)
    return max(a * math.expm1(-tau * top) - b * math.expm1(-(tau + 1) * top), 0.0) * h * tau * (tau + 1)


def _places(tau: float, step: float, degree: int) -> tuple[float, float]:
    """h, and the place of the maximum of the h-periodised g in (0, h), each to the last bit of a float."""
    before = ctx.prec
    ctx.prec = before + 64
    try:
        t = arb(tau)
        while True:
            h = 2 * arb.pi() / (arb(step) * degree)
            # expm1 keeps the digits of tiny τh; the logarithms nearly cancel, so more bits are taken until they do not
            top = ((t + 1) / t).log() + ((-t * h).expm1() / (-(t + 1) * h).expm1()).log()
            if top > 0 and top.rel_accuracy_bits() > 60:
                return float(h), float(top)
            ctx.prec *= 2
            if ctx.prec > 1 << 14:
                raise ArithmeticError("the maximum cannot be placed")
    finally:
        ctx.prec = before


def above(tau: float, step: float, degree: int, count: int) -> Polynomial:
    """T⁺: it touches G at the maximum of the h-periodised g, and h further on, and so on; so many coefficients."""
    h, theta = _places(tau, step, degree)
    return _touching(tau, step, degree, (h, theta), count)


def below(tau: float, step: float, degree: int, count: int) -> Polynomial:
    """T⁻: it meets G in its kink, and touches it h further on, and so on; so many coefficients."""
    return _touching(tau, step, degree, (_places(tau, step, degree)[0], 0.0), count)


def _touching(tau: float, step: float, degree: int, places: tuple[float, float], count: int) -> Polynomial:
    """c_j = ((S − s_j)·A_j − i(D_j − D₀))/S from the sums A_j of values and D_j of slopes at the places θ + nh, where

        A_j = (E(z) − E(z+1))/M,  D_j = E(z+1)/M − τA_j,  E(z) = e^{−zθ}/(1 − e^{−zh}),  z = τ + is_j.

    D₀ is 0 where θ is the maximum; at the kink it is the slope that the polynomial there does not follow.
    """
    (h, theta), j = places, np.arange(count, dtype=float)
    a, e, size_a, size_e = _sums(tau, h, theta, j, degree)
    turned = np.exp(-1j * step * theta * j)
    a, e = a * turned, e * turned
    slope = e - tau * a
    slope = slope - slope[0] if theta == 0 else slope
    share = (degree - j) / degree
    values = (share * a - 1j * slope / (step * degree)) / degree
    values[0] = a[0] / degree
    sizes = share * size_a + (size_e + tau * size_a + size_e[0] + tau * size_a[0]) / (step * degree)
    # 1 − e^{−zh} is smallest for j = 0, so all sizes are at most what the first one's parts are
    largest = (size_a[0] + 2 * (size_e[0] + tau * size_a[0]) / (step * degree)) / degree
    return Polynomial(values, _roundings(tau, h) * sizes / degree, float(largest))


def through(tau: float, h: float, theta: float, degree: int) -> Polynomial:
    """The first half of the coefficients of the polynomial that meets G at θ + nh, for n = 0 … M − 1, in units in which
    these places are whole numbers: (E(z) − E(z+1))/M without the turn by θ.
    """
    a, _, size_a, _ = _sums(tau, h, theta, np.arange(degree // 2 + 1, dtype=float), degree)
    return Polynomial(a / degree, _roundings(tau, h) * size_a / degree)


def kernel(tau: float, h: float, degree: int) -> tuple[Complexes, Complexes, Array, float]:
    """What `through` is made of, apart from θ: its coefficients are start·(inner·first + outer·second), with the
    `strengths` of θ; then bounds of the sizes of both (the second's is e^{−τh} times that), and the roundings of each.
    """
    j = np.arange(degree // 2 + 1, dtype=float)
    angle = 2 * math.pi * j / degree
    sine, lost = np.sin(angle), 2 * np.square(np.sin(angle / 2))
    one, two = (_one_minus(rate * h, sine, lost) for rate in (tau, tau + 1))
    size = np.abs(one) * np.abs(two)
    first = np.asarray(np.conj(one) * np.conj(two) / np.square(size) / degree, dtype=complex)
    second = np.asarray(first * (math.exp(-tau * h) * (1 - lost - 1j * sine)), dtype=complex)
    return first, second, 1 / size / degree, _roundings(tau, h)


def strengths(tau: float, h: float, theta: Array) -> tuple[Array, Array]:
    """How much of either part of the `kernel` there is at each θ in [0, h)."""
    start = np.exp(-tau * theta)
    return start * -np.expm1(-theta), start * np.exp(-theta) * -np.expm1(theta - h)


def _sums(tau: float, h: float, theta: float, j: Array, degree: int) -> tuple[Complexes, Complexes, Array, Array]:
    """E(z) − E(z+1) and E(z+1) without the turn e^{−is_jθ}, and the sizes of what they are made of."""
    # e^{−i·2πj/M} with the angle nearest to 0
    angle = 2 * math.pi * np.where(2 * j > degree, j - degree, j) / degree
    sine, lost = np.sin(angle), 2 * np.square(np.sin(angle / 2))
    first, second = (_one_minus(rate * h, sine, lost) for rate in (tau, tau + 1))
    inner, outer = -math.expm1(-theta), math.exp(-theta) * -math.expm1(theta - h)
    fade, start = math.exp(-tau * h), math.exp(-tau * theta)
    again = fade * (1 - lost - 1j * sine)
    sizes = np.abs(first), np.abs(second)
    a: Complexes = start * (inner + outer * again) * np.conj(first) * np.conj(second) / np.square(sizes[0] * sizes[1])
    e = np.asarray(start * math.exp(-theta) * np.conj(second) / np.square(sizes[1]), dtype=complex)
    return a, e, start * (inner + fade * outer) / (sizes[0] * sizes[1]), start * math.exp(-theta) / sizes[1]


def _roundings(tau: float, h: float) -> float:
    """Each of the parts of a coefficient is off by a few roundings of its own size."""
    return UNIT * (_ROUNDINGS + 32 * (tau + 1) * h)


def _one_minus(x: float, sine: Array, lost: Array) -> Complexes:
    """1 − e^{−x−iy} from sin y and 1 − cos y, without cancellation."""
    found = np.empty(len(sine), dtype=complex)
    fade = math.exp(-x)
    found.real, found.imag = -math.expm1(-x) + fade * lost, fade * sine
    return found
