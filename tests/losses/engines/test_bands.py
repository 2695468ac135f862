"""The bands engine: laws that are spread or gathered on grids that grow coarser, against enumeration and quadrature."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.bands import solve
from bursar.losses.engines.bands.law import LONG, Frame, Law, gathered, rounded
from bursar.losses.engines.bands.solve import epsilon_at, single
from bursar.numerics import normal
from bursar.numerics.balls import Ball, positive_part, working

Outcomes = list[tuple[Ball, Ball]]
EXACT = 1 - LONG(10) ** -9  # what masses may be off by rounding


def removed(text: str) -> Losses:
    """The losses with a record removed."""
    return [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]


def drawn(rng: random.Random) -> tuple[str, Outcomes]:
    """A random table of two to four outcomes, some of them rare, one perhaps without a counterpart: as text, and as
    pairs of probabilities.
    """
    outcomes, hole = rng.randint(2, 4), rng.choice([0, 0, 5])
    columns = []
    for extra in (hole, 0):
        parts = [*(max(round(10 ** rng.uniform(0, 6)), 1) for _ in range(outcomes)), extra]
        columns.append([(part, sum(parts)) for part in parts])
    text = ", ".join(
        f"{name}=[{', '.join(f'{part}/{whole}' for part, whole in column)}]"
        for name, column in zip("pq", columns, strict=True)
    )
    return f"table({text})", [(arb(p) / n, arb(q) / m) for (p, n), (q, m) in zip(*columns, strict=True)]


def enumerated(kinds: list[tuple[Outcomes, int]], epsilon: float) -> Ball:
    """δ(ε) over every combination of outcomes."""
    total, scale = arb(0), arb(epsilon).exp()
    for combination in itertools.product(*(outcomes for outcomes, count in kinds for _ in range(count))):
        p, q = arb(1), arb(1)
        for one, other in combination:
            p, q = p * one, q * other
        total += positive_part(p - scale * q)
    return total


def composed(kinds: list[tuple[str, int]], *, upper: bool, step: float) -> Law:
    """All of them on small grids of three bands."""
    frame = Frame(step, 3, 12, 96, 24, upper)
    laws = [single(frame, removed(f"{text}*1")[0][0]) ** count for text, count in kinds]
    whole = laws[0]
    for law in laws[1:]:
        whole = whole * law
    return whole


@pytest.mark.parametrize("seed", range(24))
def test_enumeration_lies_between_gathered_and_spread_laws(seed: int) -> None:
    """Whatever leaves its band, its grid or all grids, on either side: δ by all outcomes lies between both laws'."""
    rng = random.Random(f"bands {seed}")
    with working(192):
        tables = [(*drawn(rng), rng.choice([1, 2, 3])) for _ in range(rng.choice([1, 2]))]
        texts = [(text, count) for text, _, count in tables]
        # grids that end below the largest losses, or that have steps as large as the losses
        step = float(f"{rng.choice([2.0**-3, 2.0**-5, 2.0**-8]):.3g}")
        below, above = (composed(texts, upper=upper, step=step) for upper in (False, True))
        for place in range(10):
            epsilon = place * step * 9.3
            truth = enumerated([(outcomes, count) for _, outcomes, count in tables], epsilon)
            assert below.delta(epsilon) * EXACT <= rounded([truth], upwards=True)[0]
            assert above.delta(epsilon) >= rounded([truth], upwards=False)[0] * EXACT


@pytest.mark.parametrize("seed", range(12))
def test_gathered_atoms_cost_no_more(seed: int) -> None:
    """Atoms inside of cells of uneven widths: gathered at the places between them, no ε finds that they cost more."""
    rng = np.random.default_rng(seed)
    widths = rng.choice([0.05, 0.2, 0.8], 12)
    places = np.concatenate([[-1.0], -1.0 + np.cumsum(widths)]).astype(LONG)
    share = rng.random(12).astype(LONG) ** rng.choice([0.2, 1, 5])
    masses = np.exp(-rng.exponential(5, 12)).astype(LONG)
    inside = -np.log(share * np.exp(-places[1:]) + (1 - share) * np.exp(-places[:-1]))
    slopes = np.ones(13, dtype=LONG)
    slopes[1:-1] = np.expm1(widths[:-1]) / -np.expm1(-widths[1:])
    found = gathered(masses, masses * (1 - share), masses * share, slopes)
    assert abs(float(found.sum() / masses.sum()) - 1) < 1e-12
    for epsilon in rng.uniform(-1, float(places[-1]), 200):
        before, after = (
            (mass * np.maximum(-np.expm1(epsilon - at), 0)).sum() for mass, at in ((masses, inside), (found, places))
        )
        assert after <= before * (1 + LONG(10) ** -9) + LONG(10) ** -18


def two_by_quadrature(sigma: float, rate: float, epsilon: float) -> np.longdouble:
    """δ(ε) of two sampled Gaussians, a record removed: the sum over fine cells of the first output of the second's own
    profile, in extended floats.
    """
    z = np.linspace(-12, 40, 5201)
    u = (2 * z * sigma - 1) / (2 * sigma**2)
    loss = np.log1p(rate * np.expm1(u))
    mass = np.exp((-z * z / 2 + loss).astype(LONG)) * (z[1] - z[0]) / np.sqrt(2 * np.pi)
    (second, _), *_ = removed(f"poisson(gaussian(sigma={sigma}), rate={rate})*1")
    with working(128):
        profiles = rounded([second.profile(arb(epsilon) - arb(float(x))) for x in loss], upwards=True)
    return LONG((mass * profiles).sum())


@pytest.mark.parametrize(
    ("sigma", "rate", "delta"), [(8.868, 8.528e-5, "5.856e-209"), (2.5, 1e-20, "1e-120"), (1.7, 1e-3, "1e-60")]
)
def test_one_large_loss_among_small_ones(sigma: float, rate: float, delta: str) -> None:
    """Far below what tilts reach, where one of two releases loses nearly all: narrow, and around the quadrature."""
    with working():
        found = epsilon_at(removed(f"poisson(gaussian(sigma={sigma}), rate={rate})*2"), arb(delta))
    assert found is not None
    assert found.width < 2e-4
    # the quadrature itself is good to a thousandth of δ, and ends are apart by more than that
    assert two_by_quadrature(sigma, rate, found.lower) > LONG(delta) * LONG(0.999)
    assert two_by_quadrature(sigma, rate, found.upper) < LONG(delta) * LONG(1.001)


def test_tails_have_all_digits() -> None:
    """P(L > x) of samples is right where 1 − P(L ≤ x) has no digit left."""
    (law, _), *_ = removed("poisson(gaussian(sigma=2), rate=0.001)*1")
    with working(128):
        x = arb("0.5")
        z = 2 * (x.expm1() / arb("0.001")).log1p() + arb(1) / 4
        expected = arb("0.999") * normal.cdf(-z) + arb("0.001") * normal.cdf(arb("0.5") - z)
        assert law.tail(x).overlaps(expected)
        assert law.tail(x).rel_accuracy_bits() > 40


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts whose roundings add up, δ's below the range of extended floats and certain ones are left to others."""
    monkeypatch.setattr(solve, "_ends", lambda *_: pytest.fail("it went to work"))
    with working():
        some = removed("poisson(gaussian(sigma=2), rate=1e-18)*300000000")
        assert epsilon_at(some, arb("1e-100")) is None
        few = removed("poisson(gaussian(sigma=2), rate=1e-9)*10")
        assert epsilon_at(few, arb(10) ** -1001) is None
        assert epsilon_at(few, arb(1)) is None
        with pytest.raises(ArithmeticError):
            rounded([arb("nan")], upwards=True)


LOOSE = "poisson(gaussian(sigma=0.3389, relation=replace_one), rate=1.055e-19)"


def test_profiles_too_loose_for_their_grid_are_refused() -> None:
    """Where the masses of one release exceed 1 by far, their powers overflow: no end is taken from what comes of it."""
    with working(192):
        loss = b.parse(LOOSE).terms[0].mechanism.losses().remove
        frame = Frame(2.0**-70, 3, 32, 256, 64, True)
        with pytest.raises(ArithmeticError, match="not known closely enough"):
            single(frame, loss)
    found = b.account(b.parse(f"{LOOSE}*17729276"), delta="3.205e-50").epsilon
    assert found.upper > 1e-14  # where one copy alone has more than δ


def test_what_overflows_decides_nothing() -> None:
    """A δ that is not a number is neither above nor below another one."""
    frame = Frame(1.0, 1, 4, 8, 2, True)
    for mass in (LONG("inf"), LONG("nan")):
        with pytest.raises(ArithmeticError, match="too large"):
            Law(frame, [np.full(11, mass)], LONG(0)).delta(0.5)


def test_nothing_is_lost_where_delta_covers_everything() -> None:
    """Noise so large that δ(0) is at most δ costs 0, and both ends say so."""
    losses = [(b.Gaussian(sigma=1e13).losses().remove, 10)]
    found = epsilon_at(losses, arb("1e-8"))
    assert found is not None
    assert (found.lower, found.upper) == (0.0, 0.0)
