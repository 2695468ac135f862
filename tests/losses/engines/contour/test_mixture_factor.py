"""Mixtures of Gaussians on contours: odds, moments, cumulants and decay against flint's integrals, whole answers
against the other engines and golden values.
"""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

import bursar as b
from bursar.losses.engines import contour, envelope, lattice
from bursar.losses.engines.answer import Answer
from bursar.losses.engines.contour.factors import Care
from bursar.losses.engines.contour.mixture_factor import MixtureFactor, without_shift
from bursar.losses.laws.gaussian_mixture import MixtureAdd, MixtureRemove, mixture_pair
from bursar.losses.laws.mixture_place import Mixture
from bursar.numerics.balls import working
from bursar.numerics.quadrature import integral
from support.where import TESTS

GOLDEN = {
    row["id"]: float(row["value"])
    for row in json.loads((TESTS / "golden" / "theory2_values.json").read_text(encoding="utf-8"))
    if row["id"].startswith("T1.")
}


def _random(rng: random.Random) -> Mixture:
    """A few shifts, the smallest perhaps 0, with weights of very different sizes."""
    kinds = rng.randint(2, 5)
    first = 0.0 if rng.random() < 0.6 else rng.uniform(0.05, 0.5)
    shifts = sorted({first, *(rng.uniform(0.6, 4) for _ in range(kinds - 1))})
    weights = [math.exp(rng.uniform(-9, 0)) for _ in shifts]
    if first == 0:
        weights[0] = rng.uniform(0.2, 50)
    exact = [arb(weight) for weight in weights]
    whole = sum(exact, arb(0))
    noise = arb(math.exp(rng.uniform(math.log(0.4), math.log(8))))
    return Mixture(noise, tuple(map(arb, shifts)), tuple(weight / whole for weight in exact))


def _cut_moment(factor: MixtureFactor, t: acb) -> acb:
    """ln of the same moment, cut in the same way, by flint's integration, in units of the largest shift."""
    own = factor.mixture
    sigma, (cut, soft) = own.exact[0], (arb(own.cut) if own.removed else arb(0), arb(own.soft))
    power = 1 + t if own.removed else -t

    def f(x: acb, analytic: bool) -> acb:
        terms = [
            p * (a * (2 * x - a) / (2 * sigma * sigma)).exp() for a, p in zip(own.shifts, own.weights, strict=True)
        ]
        value = (power * sum(terms[1:], terms[0]).log(analytic=analytic) - x * x / (2 * sigma * sigma)).exp()
        return value * ((x - cut) / (soft * arb(2).sqrt())).erfc() / 2 if own.removed else value

    low, high = own.window(float(abs(t.real)) + 1)
    total = integral(f, (arb(3 * low - 1), arb(0), arb(1) / 2, arb(3 * high + 1)))
    return (total / (sigma * (2 * arb.pi()).sqrt())).log()


def test_odds_are_known_up_to_their_errors() -> None:
    """ln R in floats lies within its error of balls, near 0 in relative terms too, and is rising."""
    for seed in range(30):
        rng = random.Random(seed)
        with working():
            mixture = _random(rng)
            floats, largest = mixture.floats(), mixture.shifts[-1]
            x = np.sort(np.array([rng.uniform(-40, 60) * floats.sigma for _ in range(40)] + [0.0, 1e-12]))
            errors, values = floats.log(x)
            assert np.all(np.diff(values) > -1e-12)
            assert float((errors / (np.abs(values) + 1e-3)).max()) < 1e-9
            for place, value, error in zip(x.tolist(), values.tolist(), errors.tolist(), strict=True):
                off = abs(mixture.odds(arb(place) * largest).log() - arb(value))
                assert not off > arb(error), (seed, place)


def test_odds_turn_in_one_sector() -> None:
    """Off the real line, up to θ below π, |R| stays between cos(θ/2) and 1 of itself, and its argument rises from at
    least 0 to at most θ: the engine's strip is twice as wide as half a plane for every term would allow.
    """
    for seed in range(20):
        rng = random.Random(seed)
        with working():
            floats = _random(rng).floats()
        x, theta = np.linspace(-6 * floats.sigma, 1 + 6 * floats.sigma, 200), rng.uniform(0.1, 3.1)
        angles = floats.angles(x, np.array([theta]))[0]
        terms = floats.weights[:, None] * np.exp(floats.exponents(x) + 1j * theta * floats.shifts[:, None])
        sizes = np.abs(terms.sum(axis=0)) / np.abs(terms).sum(axis=0)
        assert np.all(sizes <= 1 + 1e-12)
        assert np.all(sizes >= math.cos(theta / 2) - 1e-12)
        assert np.all(np.diff(angles) > -1e-12)
        assert 0 <= float(angles[0]) <= float(angles[-1]) <= theta + 1e-12


def test_moments_are_enclosed() -> None:
    """At random tilts and frequencies, in both directions, the errors cover flint's integrals."""
    for seed in range(8):
        rng = random.Random(seed)
        with working():
            law = mixture_pair(_random(rng))
            count, tau = rng.randint(5, 200), math.exp(rng.uniform(-1.5, 1.2))
            reach = math.exp(rng.uniform(0, 3))
            for loss in (law.remove, law.add):
                factor = loss.contour_factor(count, math.log(1e-6))
                assert isinstance(factor, MixtureFactor)
                found = factor.moments(tau, np.arange(100) * (reach / 99))
                start = _cut_moment(factor, acb(tau)).real
                (known,) = factor.cumulants([tau])
                assert known.overlaps(count * start), (seed, loss)
                assert float(known.rad()) < 1e-6
                whole = _cut_moment(factor, acb(0)).exp().real
                assert not factor.given_up < count * (1 - whole), (seed, loss)
                for j in (1, 40, 99):
                    s = j * (reach / 99)
                    exact = count * (_cut_moment(factor, acb(tau, s)) - start)
                    turned = (exact - acb(found.log_size[j], found.drift * s + arb(found.turn[j]))).exp() - 1
                    assert not abs(turned) > arb(found.error[j]).expm1(), (seed, s)


def test_decay_is_never_faster_than_promised() -> None:
    """The bounds of |φ| lie above its value at every larger frequency that is looked at."""
    for seed in range(6):
        rng = random.Random(100 + seed)
        with working():
            law = mixture_pair(_random(rng))
            tau = math.exp(rng.uniform(-1, 1))
            for loss in (law.remove, law.add):
                factor = loss.contour_factor(20, math.log(1e-6))
                assert isinstance(factor, MixtureFactor)
                places = np.array([0.5, 2.0, 7.0, 20.0]) / math.sqrt(factor.rough(tau)[2])
                sizes = factor.moments(tau, np.arange(401) * (float(places[-1]) / 400)).log_size
                for care in Care:
                    bounds = factor.decay(tau, care)(places)
                    for place, bound in zip(places.tolist(), bounds.tolist(), strict=True):
                        beyond = sizes[round(place * 400 / float(places[-1])) :]
                        assert bound >= float(beyond.max()) - 1e-6, (seed, care)


def test_the_law_without_the_record_is_bounded() -> None:
    """The closed bound of ln E[R^{−t}] is never below the integral, with and without a shift of 0."""
    for seed in range(10):
        rng = random.Random(seed)
        with working():
            mixture = _random(rng)
            for t in (0.1, 1.0, 6.0):
                bound = without_shift(mixture.sigma, mixture.shifts, mixture.weights, t)
                assert not bound < MixtureAdd(mixture).cumulant(t).real, (seed, t)


def test_golden_values() -> None:
    """Profiles, D₂, the mean and a two-fold composition are those of an independent computation."""
    one = b.GaussianMixture(1, shifts=[0, 1, 2], weights=["0.81", "0.18", "0.01"])
    binomial = [math.comb(4, k) * Fraction(1, 100) ** k * Fraction(99, 100) ** (4 - k) for k in range(5)]
    user = b.GaussianMixture("0.8", shifts=range(5), weights=binomial)
    two = b.GaussianMixture(2, shifts=[1, 2], weights=["1/2", "1/2"])
    with working():
        for name, mechanism in (("a", one), ("b", user), ("c", two)):
            losses = mechanism.losses()
            for row, value in GOLDEN.items():
                theory, family, what, *rest = [*row.split(".", 3), ""]
                if (theory, family) != ("T1", name):
                    continue
                if what in ("rem", "add"):
                    loss = losses.remove if what == "rem" else losses.add
                    found = loss.profile(arb(rest[0]))
                elif what == "D2":
                    found = losses.remove.renyi(2)
                elif what == "mean":
                    found = losses.remove.mean()
                else:
                    continue
                assert abs(float(found) - value) <= 1e-14 * (1e-3 + value), row
    found = b.account(one * 2, epsilon="0.5").delta
    assert found.lower <= GOLDEN["T1.a.two.rem.0.5"] <= found.upper


@pytest.mark.parametrize("count", [2, 10, 300])
@pytest.mark.parametrize("side", ["remove", "add"])
def test_engines_agree(count: int, side: str) -> None:
    """Whichever engines serve, their intervals meet, and one of them is narrow."""
    for seed in range(4):
        with working():
            mixture = _random(random.Random(seed))
            pair = mixture_pair(mixture)
            loss = pair.remove if side == "remove" else pair.add
            epsilon = arb(float(loss.rough_cumulant(0.5)) * 2 * count + 0.1)
            answers = []
            for ask in (
                lambda at, loss=loss: contour.delta_at([(loss, count)], at),
                lambda at, loss=loss: envelope.delta_at([(loss, count)], at, 1e-4, 1 << 17),
                lambda at, loss=loss: lattice.delta_at([(loss, count)], at, 1e-4, 1 << 18),
            ):
                try:
                    answers.append(ask(epsilon))
                except (contour.NoContour, envelope.NoEnvelope, lattice.NoLattice, ArithmeticError, ValueError):
                    continue
            _meet(answers)


def _meet(answers: list[Answer]) -> None:
    assert max(answer.lower for answer in answers) <= min(answer.upper for answer in answers)
    assert min(answer.width for answer in answers) <= 1e-3


def test_one_and_two_shifts_are_known_laws() -> None:
    """The general formulas agree with a plain and with a sampled Gaussian, whose laws they generalise."""
    with working():
        plain = mixture_pair(Mixture(arb("1.5"), (arb(1),), (arb(1),)))
        sampled = mixture_pair(Mixture(arb("0.7"), (arb(0), arb(1)), (arb("0.9"), arb("0.1"))))
        for law, known in (
            (plain, b.Gaussian("1.5").losses()),
            (sampled, b.PoissonSampled(b.Gaussian("0.7"), "0.1").losses()),
        ):
            for x in (-1.5, -0.1, 0.0, 0.2, 1.0):
                for one, other in ((law.remove, known.remove), (law.add, known.add)):
                    assert one.profile(x).overlaps(other.profile(x))
                    assert one.cdf(x).overlaps(other.cdf(x))
                    assert float(one.profile(x).rad()) < 1e-30
            assert law.remove.cumulant(acb(1.5, 2)).overlaps(known.remove.cumulant(acb(1.5, 2)))
            assert law.add.cumulant(acb(1.5, 2)).overlaps(known.add.cumulant(acb(1.5, 2)))


def test_places_are_certified() -> None:
    """The place of a loss is a ball in which R passes e^l, for parameters that are known only roughly too."""
    with working():
        rough = Mixture(
            arb(1, 1e-9), (arb(0), arb(1), arb(3, 1e-8)), (arb("0.9"), arb("0.09", 1e-9), arb("0.01", 1e-9))
        )
        for loss in (-0.1, 0.0, 0.4, 9.0):
            place = rough.place(arb(loss))
            assert place is not None
            assert rough.odds(place.lower()) < arb(loss).exp() < rough.odds(place.upper())
            assert float(place.rad()) < 1e-6
        assert rough.place(arb("0.9").log()) is None
        assert MixtureRemove(rough).profile(arb("0.9").log()).overlaps(arb("0.1"))


def test_a_direction_that_costs_nothing_does_no_harm() -> None:
    """With a shift next to 0 the record added costs less than any float; the record removed is answered still."""
    tiny = b.GaussianMixture(1, shifts=[0, "1e-9", 1], weights=["0.5", "0.49", "0.01"]) * 20
    plain = b.GaussianMixture(1, shifts=[0, 1], weights=["0.99", "0.01"]) * 20
    found, known = (b.account(what, epsilon=1).delta for what in (tiny, plain))
    assert found.lower > 0
    assert found.upper == pytest.approx(known.upper, rel=1e-6)
