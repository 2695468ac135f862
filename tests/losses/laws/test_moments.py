"""Everything else a loss knows: distribution function, atoms, support, moments, cumulants, samples, and identities."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses import DiscreteGaussianLoss, LaplaceLoss, sampled, sampled_gaussian, symmetric
from bursar.numerics.balls import ball, complex_ball, down, up, working
from support.definitions import LAWS, Curve, Lattice, contains, mp, num
from support.patience import within

NAMES = [name for name in LAWS if name not in {"group", "pure", "approximate", "gdp", "gaussian 3", "response ¼"}]
NAMES.remove("densities with corners")
LEVELS = tuple(map(Fraction, ("-5/3", "-1/3", "1/7", "4/5", "8/3")))
EXPONENTS = (1, 0.5, -0.5, complex(0.4, 2.0))
UNBOUNDED = ("gaussian", "discrete gaussian", "replaced", "sampled gaussian", "sampled lattice", "mixture")
UNBOUNDED += ("sampled mixture",)
SAMPLED = {"sampled gaussian": "1/10", "sampled gaussian ½": "1/2", "sampled laplace": "1/4", "sampled table": "2/5"}
SAMPLED |= {"sampled response": "1/4", "sampled lattice": "1/3", "sampled geometric": "1/3", "sampled leak": "3/10"}


def directions(name: str) -> list[tuple[Any, Lattice | Curve]]:
    """Both directions of a law: the library's loss, and its pair of distributions."""
    losses, law = LAWS[name][0].losses(), LAWS[name][1]
    return [(losses.remove, law), (losses.add, law.reversed())]


def leak(law: Lattice | Curve) -> Any:
    """P's mass where Q has none."""
    return mp.fsum(p for p, q in law.rows if q == 0) if isinstance(law, Lattice) else mp.mpf(0)


def expectation(law: Lattice | Curve, f: Any) -> tuple[Any, Any]:
    """E[f(L); L < ∞] and its error."""
    return law.integral(lambda p, q: p * f(mp.log(p / q)) if p > 0 and q > 0 else mp.mpf(0))


@pytest.mark.parametrize("name", [*NAMES, "densities with corners"])
def test_distribution_function(name: str) -> None:
    """P(L ≤ x), P(L < x) and P(L > x) between the atoms are the masses of the sets they name."""
    width = 1e-13 if name.startswith("densities") else 1e-18
    with working():
        for loss, law in directions(name):
            for x in LEVELS:
                tail, error = law.integral(lambda p, q: p, num(x))
                assert contains(loss.tail(ball(x)), tail, error, width=width)
                assert contains(loss.cdf(ball(x)), 1 - tail, error, width=width)
                assert contains(loss.below(ball(x)), 1 - tail, error, width=width)


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(LAWS[name][1], Lattice)])
def test_atoms(name: str) -> None:
    """Listed atoms carry P's mass at their losses, and at an atom P(L ≤ x) has its mass and P(L < x) has not."""
    with working():
        for loss, law in directions(name):
            finite = [(mp.log(p / q), p) for p, q in law.rows if p > 0 and q > 0]
            assert contains(loss.infinite_mass(), leak(law))
            for atom in loss.atoms():
                mass = mp.fsum(p for x, p in finite if atom.loss.overlaps(arb(float(x), 1e-9)))
                same = [other.mass for other in loss.atoms() if other.loss.overlaps(atom.loss)]
                assert contains(sum(same, arb(0)), mass)
                below = mp.fsum(p for x, p in finite if x < mp.mpf(float(atom.loss)) - 1e-9)
                assert contains(loss.below(atom.loss), below, width=1)
                assert contains(loss.cdf(atom.loss), below + mass, width=1)
            listed = sum((atom.mass for atom in loss.atoms()), arb(0)) + loss.infinite_mass()
            assert not loss.atoms() or contains(listed, mp.mpf(1))


@pytest.mark.parametrize("name", NAMES)
def test_support(name: str) -> None:
    """The range holds every loss found on a fine scan, and its ends are reached by it or are infinite."""
    with working():
        for loss, law in directions(name):
            if isinstance(law, Lattice):
                seen = [mp.log(p / q) for p, q in law.rows if p > 0 and q > 0]
            else:
                fine = (x + (y - x) * k / 40 for x, y in itertools.pairwise(law.cuts) for k in range(41))
                seen = [mp.log(law.p(x) / law.q(x)) for x in fine]
            low, high = loss.support()
            assert down(low) <= float(min(seen)) + 1e-12
            assert up(high) >= float(max(seen)) - 1e-12
            assert up(low) == -math.inf or float(min(seen)) <= up(low) + 2e-2
            assert down(high) == math.inf or float(max(seen)) >= down(high) - 2e-2
            assert (not low.is_finite() or not high.is_finite()) == name.startswith(UNBOUNDED)


@pytest.mark.parametrize("name", NAMES)
def test_moments_and_cumulants(name: str) -> None:
    """Mean, variance, K(t) for real and complex t, and (α − 1)·D_α = K(α − 1), against quadrature or enumeration."""
    with working():
        for loss, law in directions(name):
            if name == "sampled lattice":
                with pytest.raises(b.errors.LossUnknown):
                    loss.mean()
                continue
            assert bool(leak(law)) == (loss.mean() == math.inf) == (loss.renyi(2) == math.inf)
            if not leak(law):
                mean, error = expectation(law, lambda x: x)
                assert contains(loss.mean(), mean, error)
                assert contains(loss.variance(), *expectation(law, lambda x: (x - mean) ** 2), width=1e-15)
                square, error = expectation(law, mp.exp)
                assert contains(loss.renyi(2), mp.log(square), error)
            for t in EXPONENTS:
                value, error = expectation(law, lambda x: mp.exp(mp.mpmathify(t) * x))
                found = loss.cumulant(complex_ball(t)).exp()
                assert contains(found.real, mp.re(value), error)
                assert contains(found.imag, mp.im(value), error)


@pytest.mark.parametrize("name", NAMES)
def test_reversal_and_tail_from_the_profile(name: str) -> None:
    """δ_{Q‖P}(ε) = 1 − e^ε + e^ε·δ_{P‖Q}(−ε), and P(L > x) = δ(x) − δ′(x)."""
    with working(192):
        (one, _), (other, _), step = *directions(name), arb(10) ** -15
        for x in map(ball, LEVELS):
            back = 1 - x.exp() + x.exp() * one.profile(-x)
            assert abs(other.profile(x) - back) < 1e-25
            if name.startswith("densities"):
                continue
            slope = (one.profile(x + step) - one.profile(x - step)) / (2 * step)
            assert abs(one.tail(x) - (one.profile(x) - slope)) < 1e-12


@pytest.mark.parametrize("name", SAMPLED)
def test_sampling_identity(name: str) -> None:
    """δ_remove(ln(1 + q(e^ε − 1))) = q·δ_base(ε), and the two sampled directions are each other's reverse."""
    mechanism, rate = LAWS[name][0], Fraction(SAMPLED[name])
    assert isinstance(mechanism, b.PoissonSampled)
    with working():
        base, losses = mechanism.mechanism.losses(), mechanism.losses()
        for x in map(ball, LEVELS):
            found = losses.remove.profile((1 + rate.numerator * x.expm1() / rate.denominator).log())
            assert abs(found - base.remove.profile(x) * rate.numerator / rate.denominator) < 1e-30


@pytest.mark.parametrize("name", [*NAMES, "exponential"])
def test_samples(name: str) -> None:
    """The mean of 200 000 samples is within six standard errors, and infinite losses come as often as they should."""
    size = 200_000
    with working():
        losses = b.Exponential(2).losses() if name == "exponential" else LAWS[name][0].losses()
        for seed, loss in enumerate((losses.remove, losses.add)):
            drawn = loss.sample(np.random.default_rng(seed), size)
            infinite = float(loss.infinite_mass())
            assert abs(np.mean(np.isinf(drawn)) - infinite) <= 6 * math.sqrt(infinite * (1 - infinite) / size)
            kept = drawn[np.isfinite(drawn)]
            if infinite == 0 and name != "sampled lattice":
                spread = math.sqrt(float(loss.variance()) / size)
                assert abs(kept.mean() - float(loss.mean())) <= 6 * spread
            for x in (-0.41, 0.23):
                share = float(loss.cdf(x))
                assert abs(np.mean(drawn <= x) - share) <= 6 * math.sqrt(max(share * (1 - share), 1e-9) / size)


POINTS = {
    "one": [("1", "1/10")],
    "three": [("1/10", "1/5"), ("1/2", "1/20"), ("2", "1/1000")],
    "a useless one": [("0", "1/2"), ("1/2", "49/100"), ("1", "1/100")],
    "closed": [("1/2", "1/10"), ("3/2", "0")],
    "the same ε twice": [("1", "1/10"), ("1", "1/5")],
}


@pytest.mark.parametrize("name", POINTS)
def test_declared_profile_is_the_lower_envelope(name: str) -> None:
    """A declared profile's pair has the largest convex falling curve in e^ε below the points and their reverses."""
    given = [(mp.exp(num(e)), num(d)) for e, d in POINTS[name]]
    corners = [(mp.mpf(0), mp.mpf(1)), *given, *((1 / t, 1 - (1 - d) / t) for t, d in given)]
    with working():
        promise = b.Profile(POINTS[name])
        losses = b.Declared(promise).losses()
        for x in (*LEVELS, Fraction(0)):
            t = mp.exp(num(x))
            chords = [
                h0 + (h1 - h0) * (t - t0) / (t1 - t0) for t0, h0 in corners for t1, h1 in corners if t0 <= t <= t1 > t0
            ]
            envelope = min(*chords, *(h for t0, h in corners if t0 <= t))
            assert contains(promise.delta_at(ball(x)), envelope)
            assert contains(losses.remove.profile(ball(x)), envelope)
            assert contains(losses.add.profile(ball(x)), envelope)


def test_narrow_discrete_gaussian_has_an_enclosed_variance() -> None:
    """With σ = 1/1000 the variance is positive, but far below every float."""
    with working():
        found = b.DiscreteGaussian("1/1000").losses().remove.variance()
        assert found > 0
        assert found < arb("1e-200000")


def test_densities_with_a_gap_are_refused() -> None:
    """Where q vanishes on half of p's range the loss would be infinite there: a table can say that, a density pair
    cannot.
    """
    with pytest.raises(b.InputError, match="certainly positive"):
        b.Densities("1", "abs(x) + x", low=-1, high=1, breaks=[0])


def test_densities_below_zero_are_refused() -> None:
    """A formula that is negative somewhere is no density, even if its integral is positive."""
    with pytest.raises(b.InputError):
        b.Densities("x", "1", low=-1, high=2)


def test_densities_at_an_atom_of_their_loss() -> None:
    """The profile of two Laplace densities at the ε where their loss is constant on a stretch takes little work."""
    with working():
        loss = b.Densities("exp(-abs(x))", "exp(-abs(x-1))", low=-5, high=6, breaks=[0, 1]).losses().remove
        with within(10):
            assert loss.profile(1).contains(0)


def test_table_covers_both_readings() -> None:
    """A column of floats is covered as the decimals it shows and as the binary numbers it holds, both normalised."""
    p, q = (0.1, 0.9), (0.5, 0.5)
    with working():
        rows = b.Table(p, q).losses().remove.rows
        for i, row in enumerate(rows):
            assert row.p.contains(ball(Fraction(repr(p[i]))))
            assert row.p.contains(ball(Fraction(p[i]) / sum(map(Fraction, p))))


@pytest.mark.parametrize("side", ["remove", "add"])
def test_wide_parameters_are_enclosed(side: str) -> None:
    """A profile whose parameters or argument are balls contains the profile of each choice inside them."""
    makers = [
        lambda a, q: sampled(symmetric(LaplaceLoss(a)), q),
        lambda a, q: sampled(symmetric(DiscreteGaussianLoss(a, 2)), q),
        sampled_gaussian,
    ]
    with working():
        for make, x in itertools.product(makers, (math.log(0.75), -math.log(0.75), 1.0, 0.0)):
            wide = getattr(make(arb(1, 0.01), arb(0.25, 0.01)), side).profile(arb(x, 0.001))
            for i, j, k in itertools.product((-0.9, 0, 0.9), repeat=3):
                one = getattr(make(arb(1 + i / 100), arb(0.25 + j / 100)), side).profile(arb(x + k / 1000))
                assert wide.overlaps(one), (x, i, j, k)
