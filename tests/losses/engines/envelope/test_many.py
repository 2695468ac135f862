"""Many ε's from one set of moments: each is enclosed, near the ε that the moments were made for and far from it."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from mpmath import mpf

import bursar as b
from bursar.losses.engines import envelope, meet
from bursar.losses.engines.answer import Losses, Precision, leak_of
from bursar.losses.engines.envelope import along, spectrum
from bursar.losses.engines.envelope.choice import Ladder
from bursar.losses.engines.envelope.engine import alias_bounds, aliases
from bursar.losses.engines.envelope.gathering import factors_of
from bursar.losses.engines.envelope.many import ends_at
from bursar.losses.engines.envelope.solve import made
from bursar.numerics.balls import working
from bursar.theorems.numerical import composed
from support.responses import Pair, encloses, exact, product

KINDS = [
    "randomized_response(epsilon=0.1)*200",
    "leaky_randomized_response(epsilon=0.3, delta=1e-4)*30",
    "discrete_gaussian(sigma=10)*50",
    "table(p=[0.5, 0.3, 0.2], q=[0.3, 0.3, 0.4])*20",
    "laplace(scale=2)*50",
    "poisson(laplace(scale=1), rate=0.1)*100",
    "laplace(scale=2)*10 + laplace(scale=3)*10 + randomized_response(epsilon=0.2)*20",
]


def first(text: str) -> Losses:
    """The losses of a record removed."""
    what = b.parse(text)
    return composed([(mechanism.losses(), count) for mechanism, count in what.terms])[0]


def response(epsilon: str, count: int, at: float) -> mpf:
    """δ of randomized responses, by adding up all numbers of lies."""
    e = mpf(epsilon)
    p = 1 / (1 + mpmath.exp(-e))
    total = mpf(0)
    for lies in range(count + 1):
        loss = (count - 2 * lies) * e
        if loss > at:
            total += mpmath.binomial(count, lies) * p ** (count - lies) * (1 - p) ** lies * -mpmath.expm1(at - loss)
    return total


def sums_at(losses: Losses, epsilon: float, width: float = 1e-6):
    """One set of sums for this ε."""
    with np.errstate(all="ignore"):
        factors = factors_of(losses, -30.0)
        ladder = Ladder(factors, -10.0, 1 << 18, at=epsilon)
        return made(factors, leak_of(losses), ladder, epsilon, ladder.log_delta(epsilon), width, of_delta=True)


@pytest.mark.parametrize("text", KINDS)
def test_arrays_and_single_sums_agree(text: str) -> None:
    """At every ε, however far from the one that the sums were made for, both ends are those of a single evaluation, up
    to roundings and to what either leaves out.
    """
    with working(), np.errstate(all="ignore"):
        losses = first(text)
        top = min(float(sum(count * loss.support()[1] for loss, count in losses)), 20.0)
        sums = sums_at(losses, 0.4 * top)
        places = np.linspace(0.0, 0.95 * top, 41)
        lower, upper = ends_at(sums, places)
        for x, low, high in zip(places.tolist(), lower.tolist(), upper.tolist(), strict=True):
            below, above, _ = sums.evaluate(x)
            assert low <= float(above.upper())
            assert high >= min(float(below.lower()), 1.0)
            if float(above) < 1 and float(above - below) < 1e-4 * float(above):
                assert low == pytest.approx(float(below), rel=1e-8)
                assert high == pytest.approx(float(above), rel=1e-8)


@pytest.mark.parametrize("at", [0.5, 4.0, 9.0])
def test_responses_are_enclosed_everywhere(at: float) -> None:
    """One set of sums for one ε encloses δ of two hundred responses at all others, by adding up the binomial."""
    with working(), np.errstate(all="ignore"), mpmath.workdps(40):
        losses = first("randomized_response(epsilon=0.1)*200")
        places = np.linspace(0.0, 19.9, 60)
        lower, upper = ends_at(sums_at(losses, at), places)
        for x, low, high in zip(places.tolist(), lower.tolist(), upper.tolist(), strict=True):
            truth = response("0.1", 200, mpf(x))
            assert low <= truth <= high, x
        assert (lower > 0).sum() > 20


@pytest.mark.parametrize("text", KINDS)
def test_lines_are_few_and_answers_narrow(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred ε's take a few lines, are as narrow as asked but for a factor of a few, and hold what the lattice or
    a single answer says.
    """
    made_lines = []
    kept = along._Along._sums
    monkeypatch.setattr(along._Along, "_sums", lambda *given: made_lines.append(given) or kept(*given))
    with working():
        losses = first(text)
        far = envelope.epsilon_at(losses, arb("1e-12") + leak_of(losses), 1e-3).upper
        places = np.linspace(0.0, far, 200).tolist()
        found = meet.deltas_at(losses, places, Precision())
        assert len(made_lines) <= 6
        assert all(answer.width <= 4e-6 for answer in found)
        for i in (0, 50, 120, 199):
            alone = envelope.delta_at(losses, arb(places[i]), 1e-5)
            assert max(alone.lower, found[i].lower) <= min(alone.upper, found[i].upper)


def test_a_line_is_read_wherever_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one line leaves wide the next one is asked for too, so that two lines serve two hundred ε's."""
    made_lines = []
    kept = along._Along._sums
    monkeypatch.setattr(along._Along, "_sums", lambda *given: made_lines.append(given) or kept(*given))
    with working():
        losses = first("poisson(laplace(scale=2), rate=0.01)*1000")
        found = meet.deltas_at(losses, np.linspace(0.0, 0.98989, 200).tolist(), Precision())
    assert len(made_lines) == 2
    assert all(answer.width <= 1.2e-6 for answer in found)


def test_the_order_of_asking_is_kept() -> None:
    """ε's in any order, and the same one twice, have each its own answer; above all losses only the leak is left."""
    with working(), mpmath.workdps(40):
        losses = first("leaky_randomized_response(epsilon=0.3, delta=1e-4)*30")
        asked = [5.0, 1.0, 8.0, 1.0, 9.5]
        found = envelope.deltas_at(losses, asked, 1e-6, 1 << 18)
        assert found[1].lower == found[3].lower > found[0].upper > found[2].upper
        leak = 1 - (1 - mpf("1e-4")) ** 30
        assert found[4].lower <= leak <= found[4].upper < leak * (1 + mpf("1e-9"))


def test_alias_bounds_err_upwards() -> None:
    """In floats the bound of the aliases is never below that in balls, and not much above."""
    with working(), np.errstate(all="ignore"):
        for text in KINDS:
            sums = sums_at(first(text), 2.0)
            places = np.linspace(0.0, 15.0, 16)
            found = alias_bounds(sums.chernoff, sums.tau, arb(9), places)
            for x, bound in zip(places.tolist(), found.tolist(), strict=True):
                exact = aliases(sums.chernoff, sums.tau, arb(9), arb(x))
                assert exact <= arb(bound)
                assert bound <= float(exact) * (1 + 1e-10) + 1e-290


def test_few_places_one_by_one() -> None:
    """Sums of few places by two short tables are those of mpmath within their error, at frequencies of any size."""
    rng = np.random.default_rng(5)
    places, weights = rng.normal(0, 3, 7), rng.uniform(0.1, 1, 7)
    law = spectrum.weighed(places, np.zeros(7), np.log(weights), np.zeros(7), 0.0)
    values, errors = law.transformed(2.0**-7, 5000)
    total = mpmath.fsum(law.weights.tolist())
    for j in (0, 1, 70, 71, 4999):
        s = mpf(j) * mpf(2) ** -7
        truth = mpmath.fsum(
            w * mpmath.expj(s * y) for w, y in zip(law.weights.tolist(), law.places.tolist(), strict=True)
        )
        assert abs(mpmath.mpc(values[j]) - truth / total) <= errors[j] < 1e-11


@pytest.mark.parametrize("spread", [1e-9, 3e-3, 0.02, 0.2, 3.0])
def test_many_places_at_once(spread: float) -> None:
    """Sums of many places, apart or so close together that no transform is needed, are those of mpmath within their
    error.
    """
    rng = np.random.default_rng(7)
    law = spectrum.weighed(rng.normal(0, spread, 400), np.zeros(400), rng.uniform(-3, 0, 400), np.zeros(400), 0.0)
    near = bool(float(np.abs(law.places).max()) * 2.0**-7 * 5000 < 1.5)
    assert near == (spread < 0.01)
    values, errors = law.transformed(2.0**-7, 5000)
    total = mpmath.fsum(law.weights.tolist())
    for j in (0, 1, 70, 2500, 4999):
        s = mpf(j) * mpf(2) ** -7
        truth = mpmath.fsum(
            w * mpmath.expj(s * y) for w, y in zip(law.weights.tolist(), law.places.tolist(), strict=True)
        )
        assert abs(mpmath.mpc(values[j]) - truth / total) <= errors[j] < 1e-10


@pytest.mark.parametrize("p", range(16))
def test_coefficients_are_those_of_bessel(p: int) -> None:
    """(x/2)^p/p! times the coefficients is J_p to the roundings that they are trusted with."""
    t = np.linspace(0.0, 0.617, 41)
    for value, at in zip(spectrum._bessel(t)[p].tolist(), t.tolist(), strict=True):
        truth = mpmath.hyp0f1(p + 1, -mpf(at))
        assert abs(mpf(value) - truth) <= 60 * 2.0**-53


@pytest.mark.parametrize("seed", range(12))
def test_random_tables_are_enclosed_along_their_curves(seed: int) -> None:
    """Several random tables: at every ε, next to atoms too, δ lies between the ends, by convolving all outcomes."""
    rng = random.Random(seed)
    what, rows = b.Composition(), [(mpf(1), mpf(1))]
    with working(), mpmath.workdps(40):
        for _ in range(rng.randint(1, 3)):
            columns = [[rng.randint(1, 12) for _ in range(rng.choice((2, 3)))]]
            columns.append([rng.randint(1, 12) for _ in columns[0]])
            p, q = ([Fraction(x, sum(column)) for x in column] for column in columns)
            count = rng.randint(2, 4)
            what += b.Table(p, q) * count
            rows = product([rows, *[[(exact(x), exact(y)) for x, y in zip(p, q, strict=True)]] * count])
        pair = Pair(rows)
        losses = composed([(mechanism.losses(), count) for mechanism, count in what.terms])[0]
        atoms = sorted({float(mpmath.log(x / y)) for x, y in rows})
        near = [x + rng.choice((0, 1e-12, -1e-9, 1e-5)) for x in rng.sample(atoms, min(6, len(atoms)))]
        places = sorted(x for x in [*np.linspace(0, max(atoms), 30).tolist(), *near] if x >= 0)
        for x, found in zip(places, envelope.deltas_at(losses, places, 1e-6, 1 << 18), strict=True):
            assert found is None or encloses(found.lower, pair.delta(mpf(x)), found.upper), x
