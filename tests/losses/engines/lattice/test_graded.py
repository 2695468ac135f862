"""Wide panels of sampled densities: what they say about how far density and loss move, looked at on their discs."""

from __future__ import annotations

import cmath
import math
import random

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines.envelope.points import points_of
from bursar.losses.engines.lattice.graded import panels_of
from bursar.losses.engines.lattice.law import DISC

TILT = 0.05
RELEASES = [
    "poisson(gaussian(sigma=0.05), rate=0.1)",
    "poisson(gaussian(sigma=1), rate=0.001)",
    "poisson(gaussian(sigma=40), rate=1e-6)",
    "poisson(laplace(scale=0.02), rate=0.3)",
    "poisson(laplace(scale=7), rate=1e-9)",
]


def odds(z: complex, q: float) -> complex:
    """ln(1 − q + q·e^z) on the branch that is real on the real line, by a path along the disc's radius."""
    return cmath.log(1 - q + q * cmath.exp(z))


@pytest.mark.parametrize("text", RELEASES)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_density_and_loss_move_no_further_than_panels_say(text: str, direction: str) -> None:
    """On circles around the middles of panels, in complex numbers, for every kind of panel."""
    mechanism = b.parse(text).terms[0].mechanism
    q = float(mechanism.rate)
    law = getattr(mechanism.losses(), direction).lattice_law(200.0)
    (density,) = law.densities
    side = 1 if direction == "remove" else -1
    base = mechanism.losses().remove.base.remove
    mean, spread = float(base.mean()), float(base.variance().sqrt())
    gaussian = "gaussian" in text

    def log_base(z: complex) -> complex:
        return -((z - mean) ** 2) / (2 * spread**2) if gaussian else z / 2

    def logs(z: complex) -> tuple[complex, complex]:
        weight = cmath.log(q + (1 - q) * cmath.exp(-z)) if side > 0 else 0
        return log_base(z) + weight, side * odds(side * z, q)

    panels, rng = panels_of(density), random.Random(text)
    assert panels.starts[0] == density.low
    assert panels.starts[-1] + panels.widths[-1] == pytest.approx(density.high, rel=1e-12)
    for i in rng.sample(range(len(panels.starts)), min(60, len(panels.starts))):
        c, r = float(panels.middles[i]), DISC * float(panels.widths[i])
        at = logs(complex(c))
        for _ in range(12):
            # by small steps along the radius, so that logarithms stay on their branch
            turn, last, moved = cmath.exp(2j * math.pi * rng.random()), at, [0j, 0j]
            for part in range(1, 41):
                now = logs(c + r * turn * part / 40)
                for j in (0, 1):
                    step = now[j] - last[j]
                    moved[j] += complex(step.real, math.remainder(step.imag, 2 * math.pi))
                last = now
            assert abs(moved[0]) <= panels.moved[i] + 1e-9
            assert abs(moved[1]) <= panels.moved_loss[i] + 1e-9


@pytest.mark.parametrize("text", [*RELEASES, "poisson(gaussian(sigma=0.4, relation=replace_one), rate=0.02)"])
def test_nodes_weigh_what_the_law_says(text: str) -> None:
    """The masses of all nodes above a place are the tail there, and those at a tilt give the moment in balls."""
    loss = b.parse(text).terms[0].mechanism.losses().remove
    law = loss.lattice_law(80.0)
    points = points_of(law, 3.0)
    assert float(np.exp(points.log_masses).sum()) == pytest.approx(
        1.0 - sum(float(atom.mass) for atom in loss.atoms()) + float(np.exp(law.log_masses).sum()), abs=1e-12
    )
    guess = loss.cumulant(arb(TILT)).real
    moment = float(np.exp(points.log_masses + TILT * points.losses - float(guess)).sum())
    assert moment == pytest.approx(1.0, rel=1e-9)
