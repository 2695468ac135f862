"""What is assumed of the floating-point functions of others, against balls."""

from __future__ import annotations

import random

import numpy as np
from flint import arb

from bursar.numerics.balls import working
from bursar.numerics.trusted import NORMAL, log_normal_cdf, normal_cdf

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
