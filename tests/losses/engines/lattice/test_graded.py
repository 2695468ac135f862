"""Wide panels of sampled densities: what they say about how far density and loss move, looked at on their discs."""

from __future__ import annotations

import cmath
import math
import random

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpc, mpf

import bursar as b
from bursar.losses.engines.contour.mixture_odds import MixtureOdds
from bursar.losses.engines.envelope.points import points_of
from bursar.losses.engines.lattice.graded import mixture_bounds, panels_of
from bursar.losses.places import DISC
from bursar.numerics.trusted import UNIT

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


MIXTURES = [  # σ in units of the largest shift, shifts and weights
    (0.03, [0.0, 1e-3, 0.4, 1.0], [0.2, 0.3, 0.4, 0.1]),
    (1.0, [0.0, 0.5, 1.0], [0.98, 0.01, 0.01]),
    (0.3, [0.2, 0.3, 1.0], [1e-9, 1 - 1e-4 - 1e-9, 1e-4]),
    (1e4, [0.0, 1.0], [0.5, 0.5]),
    (1e-3, [0.0, 0.02, 1.0], [0.03, 1e-12, 0.97 - 1e-12]),
]


@pytest.mark.parametrize(("sigma", "shifts", "weights"), MIXTURES)
@pytest.mark.parametrize("removed", [True, False])
def test_mixtures_move_no_further_than_their_heaviest_terms_say(
    sigma: float, shifts: list[float], weights: list[float], removed: bool
) -> None:
    """On circles of many sizes around many places, with hundreds of digits: ln R, and the density beside it."""
    known = MixtureOdds(sigma, np.array(shifts), np.array(weights), 4 * UNIT)
    rng, side = random.Random(f"{sigma} {removed}"), 1 if removed else -1
    centres = [side * shift / sigma**2 for shift in shifts]
    at = np.array([rng.choice(centres) + rng.gauss(0, 5) / sigma for _ in range(30)])
    radius = np.array([10 ** rng.uniform(-3, 1.5) * min(1, 1 / sigma) for _ in at])
    moved, moved_loss = mixture_bounds(known, removed=removed)(at, radius)
    assert np.isfinite(moved_loss).sum() > 10

    def odds_at(v: mpc) -> mpc:
        half = 2 * mpf(sigma) ** 2
        return sum(p * mp.exp(a * side * v - mpf(a) ** 2 / half) for a, p in zip(shifts, weights, strict=True))

    with mp.workdps(300):
        for i, c in enumerate(map(mpf, at.tolist())):
            u = mpf(float(radius[i])) * mp.expjpi(2 * mpf(rng.random()))
            loss, normal = mp.log(odds_at(c + u) / odds_at(c)), -(mpf(sigma) ** 2) * (2 * c * u + u * u) / 2
            density = normal + loss if removed else normal
            density = mpc(density.real, (density.imag + mp.pi) % (2 * mp.pi) - mp.pi)
            assert abs(loss) <= mpf(float(moved_loss[i])) + mpf("1e-280")
            assert abs(density) <= mpf(float(moved[i]))


def test_uncertain_exponents_leave_shares_open() -> None:
    """Where σ is known to a few digits only, terms far above or below others may be as heavy as they."""
    vague = MixtureOdds(1e-9, np.array([0.0, 1.0]), np.array([0.5, 0.5]), 4 * UNIT)
    shares = vague.log_shares(np.array([0.5]))
    assert (shares > 100).all()
    _, moved_loss = mixture_bounds(vague, removed=True)(np.array([0.5e18]), np.array([1.0]))
    assert moved_loss[0] == math.inf


def test_panels_of_separate_shifts_are_few() -> None:
    """Shifts many deviations apart: narrow panels stand only where two terms weigh as much."""
    law = b.parse("gaussian_mixture(sigma=0.05, shifts=[0, 0.02, 6], weights=[0.3, 0.6, 0.1])").terms[0]
    (density,) = law.mechanism.losses().remove.lattice_law(200.0).densities
    assert len(panels_of(density).starts) < (density.high - density.low) / density.width / 20
