"""What is assumed of the floating-point functions of others, against balls."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from bursar.numerics.balls import working
from bursar.numerics.trusted import EXTENDED, NORMAL, ULPS, extended, log_normal_cdf, normal_cdf

BITS = 160


def test_trust_in_the_normal_distribution() -> None:
    """Φ and e^x·Φ as computed are within their trusted error, at places of every size."""
    rng = random.Random(5)
    with working(BITS):
        for _ in range(3000):
            a = rng.choice([rng.uniform(-37.5, 8), rng.gauss(0, 3)])
            near = float(normal_cdf(np.array([a]))[0])
            exact = (-arb(a) / arb(2).sqrt()).erfc() / 2
            assert abs(arb(near) - exact) <= NORMAL / 8 * exact
            x, mean = rng.uniform(-30, 60), 10 ** rng.uniform(-2, 0.7)
            z = x / mean - mean / 2
            if -z - mean > -37.5:
                product = float(np.exp(np.array([x]))[0] * normal_cdf(np.array([-z - mean]))[0])
                truth = arb(x).exp() * ((arb(x) / arb(mean) + arb(mean) / 2) / arb(2).sqrt()).erfc() / 2
                assert abs(arb(product) - truth) <= NORMAL * truth


def test_logarithms_of_the_normal_distribution() -> None:
    """ln Φ is 0 far to the right, right to all but a few digits elsewhere, and finite where Φ itself underflows."""
    places = np.array([-200.0, -40.0, -30.0, -8.0, -1.0, 0.0, 3.0, 8.9, 9.0, 40.0])
    with working(BITS):
        for z, near in zip(places.tolist(), log_normal_cdf(places).tolist(), strict=True):
            exact = ((-arb(z) / arb(2).sqrt()).erfc() / 2).log()
            assert abs(arb(near) - exact) <= arb("1e-13") * (1 + arb(z) ** 2)


def _exact(number: np.longdouble) -> Fraction:
    mantissa, exponent = np.frexp(number)
    return Fraction(int(np.ldexp(mantissa, 120))) / 2**120 * Fraction(2) ** int(exponent)


@pytest.mark.parametrize("size", [1, 300, 4000])
def test_trust_in_extended_floats(size: int) -> None:
    """Sums, products, quotients and expm1 of the longest floats are within their trusted errors, far below doubles."""
    assert extended()
    rng = random.Random(size)

    def drawn() -> np.longdouble:
        near, small = np.longdouble(rng.uniform(1, 2)), np.longdouble(rng.random()) * np.longdouble(2) ** -52
        return (near + small) * np.longdouble(2) ** rng.randint(-size, size)

    for _ in range(1000):
        a, b = drawn(), drawn()
        x, y = _exact(a), _exact(b)
        for near, truth in ((a + b, x + y), (a * b, x * y), (a / b, x / y)):
            assert abs(_exact(near) - truth) <= Fraction(EXTENDED) * truth
        step = -(np.longdouble(10) ** np.longdouble(rng.uniform(-min(size, 30), 2)))
        with working(BITS):
            exact = _exact(step)
            truth = (arb(exact.numerator) / arb(exact.denominator)).expm1()
            found = _exact(np.expm1(step))
            assert abs(arb(found.numerator) / arb(found.denominator) - truth) <= ULPS * EXTENDED * abs(truth)
