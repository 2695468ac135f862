"""Densities given as formulas, on panels: moments, discs, largest losses, profiles and composed answers against flint's
own integration, closed forms, and the tables of the lattice engine.
"""

from __future__ import annotations

import cmath
import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb

import bursar as b
from bursar.losses import DensityLoss
from bursar.losses._base import Loss
from bursar.losses.engines.answer import USUAL, Answer, NoEngine, Precision
from bursar.losses.engines.envelope.points import QUADRATURE, points_of
from bursar.losses.engines.lattice.grid import NoLattice, places
from bursar.losses.engines.meet import epsilon_at
from bursar.losses.laws.density_cut import Cut
from bursar.losses.laws.density_stretches import where
from bursar.losses.places import DISC, Law
from bursar.numerics.balls import ball, down, up, working
from bursar.numerics.trusted import ULPS, UNIT

PAIRS = {
    "gaussian": b.Densities("exp(-x*x/2)", "exp(-(x-1)*(x-1)/2)", low=-6, high=6),
    "tails": b.Densities("exp(-x*x/2)", "0.7*exp(-x*x/2) + 0.3*exp(-(x-1)^2/2)", low=-40, high=41),
    "line": b.Densities("1 + x/4", "1", low=-1, high=1),
    "decimal ends": b.Densities("exp(2*x)", "exp(x*x)", low=-0.1, high="0.7"),
    "cauchy": b.Densities("1/(1+x*x)", "1/(1+(x-0.5)**2)", low=-9, high=9),
    "waves": b.Densities("2+sin(3*x)", "2+cos(x)", low=0, high=6),
    "logistic": b.Densities("cosh(x/2)**(-2)", "1/cosh((x-1)/2)^2", low=-9, high=9),
    "laplace": b.Densities("exp(-abs(x))", "exp(-abs(x-1))", low=-8, high=9, breaks=[0, 1]),
    "unnamed corner": b.Densities("exp(-abs(x))", "exp(-abs(x-1/3))", low=-3, high=4),
    "root": b.Densities("1+sqrt(x)", "erfc(x)", low=0, high=2),
}
CORNERS = ("laplace", "unnamed corner", "root")


def law_of(loss: Loss) -> Law:
    """The law as the envelope engine reads it."""
    law = loss.lattice_law(50.0)
    assert law is not None
    return law


def both(name: str) -> tuple[DensityLoss, DensityLoss]:
    """Both directions of a pair."""
    losses = PAIRS[name].losses()
    assert isinstance(losses.remove, DensityLoss)
    assert isinstance(losses.add, DensityLoss)
    return losses.remove, losses.add


def moment(loss: DensityLoss, t: acb, breaks: list[arb]) -> acb:
    """∫p·e^{tL}, corners named."""
    first, second = loss._scales

    def integrand(x: acb, analytic: bool) -> acb:
        p, q = first * loss.p(x, analytic), second * loss.q(x, analytic)
        return p * (t * (p / q).log(analytic=analytic)).exp()

    return sum((acb.integral(integrand, a, c) for a, c in pairwise(breaks)), acb(0))


def corners(name: str, loss: DensityLoss) -> list[arb]:
    """Where a pair is integrated from and to, its unnamed corners too."""
    extra = [arb(0), arb(1) / 3] if name == "unnamed corner" else []
    return sorted([*loss.breaks, *extra], key=float)


@pytest.mark.parametrize("name", PAIRS)
def test_moments_of_the_places_are_those_of_the_pair(name: str) -> None:
    """At random tilts and frequencies the weighted places give ∫p·e^{(τ+is)L} up to their own error bounds."""
    rng = random.Random(name)
    with working():
        for loss in both(name):
            law = law_of(loss)
            for _ in range(4):
                tau, s = 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-2, 2.5)
                true = moment(loss, acb(tau, s), corners(name, loss))
                for tilt in (None, tau):
                    points = points_of(law, tau + s, tilt)
                    exponent = tau * points.losses + points.log_masses
                    weights = np.exp(exponent)
                    found = complex((weights * np.exp(1j * s * points.losses)).sum())
                    unsure = points.mass_errors + (tau + s) * points.loss_errors
                    unsure = unsure + UNIT * (
                        len(weights) + 4 * ULPS + 4 * np.abs(exponent) + 4 * s * np.abs(points.losses)
                    )
                    bound = float(weights @ unsure) + (points.left_out + QUADRATURE) * float(weights.sum())
                    assert bound < 1e-8 * abs(found) + 1e-9 * float(weights.sum())
                    assert abs(acb(found) - true) < bound, (tau, s, tilt)


@pytest.mark.parametrize("name", PAIRS)
def test_logarithms_stay_within_their_discs(name: str) -> None:
    """At random places of the discs, of panels cut further too, ln p and ln(p/q) move no further than is said."""
    rng = random.Random(name)
    with working():
        for loss in both(name):
            assert loss.panels is not None
            panels = law_of(loss).panels
            assert panels is not None
            for parts in (1, 2, 5):
                fine = panels.split(np.full(len(panels.starts), parts))
                for i in rng.sample(range(len(fine.starts)), min(40, len(fine.starts))):
                    centre, width = float(fine.middles[i]), float(fine.widths[i])
                    z = centre + DISC * width * rng.uniform(0.9, 1) * cmath.exp(1j * rng.uniform(0, 7))
                    cut = loss.panels.cut
                    p, q = (f.in_balls(acb(z), True) - f.in_balls(acb(centre), True) for f in (cut.log_p, cut.log_q))
                    assert abs(p) <= float(fine.moved[i])
                    assert abs(p - q) <= float(fine.moved_loss[i])


@pytest.mark.parametrize("rate", ["0.01", "0.4", "0.999"])
@pytest.mark.parametrize("name", ["gaussian", "line", "laplace", "waves"])
def test_sampled_losses_stay_within_their_discs(name: str, rate: str) -> None:
    """The sampled loss and the density of its places move no further than is said."""
    rng = random.Random(name)
    sampled = b.PoissonSampled(PAIRS[name], rate).losses()
    with working():
        q = ball(Fraction(rate))
        for side, loss, base in ((1, sampled.remove, both(name)[0]), (-1, sampled.add, both(name)[1])):
            fine = law_of(loss).panels
            assert fine is not None
            assert base.panels is not None
            cut, shift = base.panels.cut, base.panels.log_scales[0] - base.panels.log_scales[1]

            def at(z: complex, cut: Cut = cut, shift: arb = shift, side: int = side) -> tuple[acb, acb]:
                p, other = cut.log_p.in_balls(acb(z), True), cut.log_q.in_balls(acb(z), True)
                odds = 1 - q + q * (side * (p - other + shift)).exp()
                return (p + odds.log() - (p - other + shift) if side > 0 else p), side * odds.log()

            for i in rng.sample(range(len(fine.starts)), min(60, len(fine.starts))):
                centre, width = float(fine.middles[i]), float(fine.widths[i])
                z = centre + DISC * width * rng.uniform(0.9, 1) * cmath.exp(1j * rng.uniform(0, 7))
                (density, place), (start, middle) = at(z), at(centre)
                assert abs(density - start) <= float(fine.moved[i])
                assert abs(place - middle) <= float(fine.moved_loss[i])


@pytest.mark.parametrize("name", PAIRS)
def test_the_largest_losses_are_enclosed_closely(name: str) -> None:
    """No loss on a fine grid lies outside the support, which is as wide as the losses reach up to a few millionths."""
    with working():
        for loss in both(name):
            low, high = loss.support()
            assert up(high) - down(high) < 3e-6
            assert up(low) - down(low) < 3e-6
            start, end = loss.breaks[0], loss.breaks[-1]
            seen = []
            for i in range(801):
                p, q = loss._densities(start + (end - start) * i / 800)
                seen.append((p / q).log())
            assert not any(value > high.upper() or value < low.lower() for value in seen)
            assert float(high) - max(map(float, seen)) < 1e-2


def test_a_largest_loss_between_all_places_is_enclosed() -> None:
    """The losses have their maximum at 1/3, which no float is and no grid has."""
    loss = b.Densities("exp(-(3*x-1)^2)", "1", low=0, high=1).losses().remove
    with working():
        p, q = loss._densities(arb(1) / 3)
        assert (p / q).log() <= loss.support()[1].upper()
        assert float(loss.support()[1].rad()) < 1e-7


@pytest.mark.parametrize("name", PAIRS)
def test_profiles_agree_with_cutting_until_balls_can_tell(name: str) -> None:
    """δ(ε) and P(L ≤ ε) by curvature overlap those by cells, which know nothing of panels, and are narrow."""
    with working():
        for loss in both(name):
            low, high = (float(end) for end in loss.support())
            plain = DensityLoss(loss.p, loss.q, loss.breaks)
            plain.__dict__["panels"] = None
            for share in (0.1, 0.6, 0.97):
                x = arb(low + share * (high - low))
                assert loss.profile(x).overlaps(plain.profile(x))
                assert loss.cdf(x).overlaps(plain.cdf(x))
                assert float(loss.profile(x).rad()) < 1e-12


def test_cells_without_panels_still_decide() -> None:
    """Where there are no panels the cells find stretches where the loss exceeds a number, and none where it cannot."""
    loss = both("line")[0]
    with working():
        sure, unsure = where(loss._densities, loss.breaks, arb("0.1"))
        assert sure
        assert sum(float(c - a) for (a, c), _ in unsure) < 1e-9
        assert where(loss._densities, loss.breaks, arb(5)) == ([], [])


def asked(losses: Loss, count: int, delta: str, engine: str) -> Answer:
    """One engine's answer about copies of one law."""
    return epsilon_at([[(losses, count)]], ball(Fraction(delta)), Precision(engine=engine))


@pytest.mark.parametrize("rate", [None, "0.2"])
@pytest.mark.parametrize("name", ["gaussian", "line", "cauchy", "laplace", "unnamed corner", "root"])
def test_engines_agree(name: str, rate: str | None) -> None:
    """The envelope's narrow interval overlaps the one between the lattice engine's two tables."""
    mechanism = PAIRS[name] if rate is None else b.PoissonSampled(PAIRS[name], rate)
    with working():
        for loss in (mechanism.losses().remove, mechanism.losses().add):
            for count, delta in ((3, "1e-4"), (40, "1e-9")):
                narrow, wide = (asked(loss, count, delta, engine) for engine in ("envelope", "lattice"))
                assert narrow.width < 2e-6
                assert narrow.lower <= wide.upper
                assert wide.lower <= narrow.upper


@pytest.mark.parametrize("delta", ["1e-2", "1e-9", "1e-40"])
@pytest.mark.parametrize(("count", "rate"), [(2, None), (300, None), (10**7, None), (300, "0.3"), (10**7, "0.3")])
def test_exponentials_are_a_bounded_range(count: int, delta: str, rate: str | None) -> None:
    """e^x against e^{−x} on [−¼, ¼] has the loss of bounded range ½: both are answered alike, narrowly."""
    drawn, known = b.Densities("exp(x)", "exp(-x)", low="-0.25", high="0.25"), b.Declared(b.BoundedRange("0.5"))
    if rate is None:
        one, other = drawn.losses(), known.losses()
    else:
        one, other = (b.PoissonSampled(each, rate).losses() for each in (drawn, known))
    with working():
        for side in ("remove", "add"):
            first, second = (
                epsilon_at([[(getattr(each, side), count)]], ball(Fraction(delta)), USUAL) for each in (one, other)
            )
            assert first.width < 2e-6
            assert first.lower <= second.upper
            assert second.lower <= first.upper


@pytest.mark.parametrize(("count", "delta"), [(1, "1e-6"), (7, "1e-2"), (100, "1e-9"), (3, "1e-60"), (10**7, "1e-5")])
def test_a_gaussian_as_densities(count: int, delta: str) -> None:
    """Two Gaussian densities on [−40, 41] lack masses far below δ: their answer is that of Gaussian noise."""
    drawn = b.Densities("exp(-x*x/2)", "exp(-(x-1)^2/2)", low=-40, high=41)
    found, exact = (
        b.account(each * count, delta=delta, theorems=["single", "numerical"]).bound for each in (drawn, b.Gaussian(1))
    )
    assert found.upper - found.lower < 2e-6 * found.upper
    assert abs(found.upper - exact.upper) < 2e-6 * exact.upper
    assert abs(found.lower - exact.lower) < 2e-6 * exact.upper


@pytest.mark.parametrize("name", ["line", "laplace", "waves"])
def test_tiny_deltas_are_decided_by_the_largest_losses(name: str) -> None:
    """At δ = 1e-300 five copies cost five times the largest loss, up to a millionth."""
    with working():
        for loss in both(name):
            found = epsilon_at([[(loss, 5)]], ball(Fraction("1e-300")), USUAL)
            assert found.width < 1e-6
            assert found.upper >= 5 * down(loss.support()[1]) * (1 - 1e-6)


def test_the_event_of_the_largest_losses_is_likely_enough() -> None:
    """The losses that balls need not tell from the largest have the mass that is said."""
    loss = both("line")[0]
    with working():
        top = loss.top()
        assert top is not None
        assert top.mass.overlaps(loss.tail(top.loss.lower()))
        assert top.loss.contains(loss.support()[1].mid())


def test_the_lattice_engine_does_not_overlook_a_density_on_panels() -> None:
    """What the lattice engine cannot read it refuses, instead of counting the atoms alone."""
    with working(), pytest.raises(NoLattice):
        places(law_of(both("laplace")[0]), 0.01)


def test_too_many_panels_fall_back_to_tables() -> None:
    """A formula with thousands of waves has no panels; it is answered by the lattice engine's tables, if widely."""
    loss = b.Densities("3+sin(20000*x)", "3", low=0, high=1).losses().remove
    assert isinstance(loss, DensityLoss)
    with working():
        assert loss.panels is None
        assert loss.lattice_law(30.0) is None
        with pytest.raises(NoEngine):
            asked(loss, 4, "1e-6", "envelope")
        found = asked(loss, 4, "1e-6", "lattice")
        assert 0 <= found.lower <= found.upper < math.inf
