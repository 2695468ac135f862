"""No theorem is ever on the wrong side: random compositions of finite mechanisms, Gaussians, and one Rényi order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from mpmath import mpf

import bursar as b
from bursar.guarantees.order import optimal_delta, optimal_epsilon, simple_delta
from bursar.numerics.balls import Ball, ball, up, working
from support.responses import Outcome, Pair, encloses, exact, optimum, product, response


@pytest.fixture(autouse=True)
def _sixty_digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def _response(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    epsilon = Fraction(rng.randint(1, 30), rng.choice((10, 100)))
    return b.RandomizedResponse(epsilon), response(epsilon)


def _leaky(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    epsilon, delta = Fraction(rng.randint(0, 20), 10), Fraction(rng.randint(0, 9), 10 ** rng.randint(1, 9))
    return b.LeakyRandomizedResponse(epsilon, delta), response(epsilon, delta)


def _shame(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    delta = Fraction(rng.randint(1, 9), 10 ** rng.randint(1, 9))
    kept, leak = 1 - exact(delta), exact(delta)
    return b.NameAndShame(delta), [(kept, kept), (leak, mpf(0)), (mpf(0), leak)]


def _categories(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    epsilon, k = Fraction(rng.randint(1, 20), 10), rng.randint(2, 6)
    likely = 1 / (1 + (k - 1) * mpmath.exp(-exact(epsilon)))
    rare = (1 - likely) / (k - 1)
    return b.KaryRandomizedResponse(epsilon, k), [(likely, rare), (rare, likely), *[(rare, rare)] * (k - 2)]


def _lattice(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    scale, shift = Fraction(rng.randint(3, 60), 10), rng.randint(1, 4)
    a = mpmath.exp(-1 / exact(scale))
    reach = range(-40, 41 + shift)  # the tails beyond have one ratio, and are summed
    left, right = a**41 / (1 + a), a ** (41 + shift) / (1 + a)
    rows = [(left, left * a**shift), (right, right / a**shift)]
    rows += [((1 - a) / (1 + a) * a ** abs(y), (1 - a) / (1 + a) * a ** abs(y - shift)) for y in reach]
    merged: dict[str, Outcome] = {}
    for p, q in rows:  # outcomes of one ratio are one
        key = mpmath.nstr(p / q, 30)
        merged[key] = tuple(map(sum, zip((p, q), merged.get(key, (0, 0)), strict=True)))
    return b.DiscreteLaplace(scale, sensitivity=shift), list(merged.values())


def _table(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    size, least = rng.randint(2, 4), rng.choice((0, 1, 1))
    columns = [[rng.randint(least, 12) for _ in range(size - 1)] + [rng.randint(1, 12)] for _ in range(2)]
    p, q = ([Fraction(w, sum(column)) for w in column] for column in columns)
    return b.Table(p, q), [(exact(x), exact(y)) for x, y in zip(p, q, strict=True) if x or y]


MAKERS = (_response, _leaky, _shame, _categories, _lattice, _table)
Made = tuple[b.Composition, Pair, Pair]


def random_composition(rng: random.Random, makers: tuple[Callable[..., object], ...] = MAKERS) -> Made:
    """Up to six releases, with both directions' exact outcomes."""
    what, rows = b.Composition(), [(mpf(1), mpf(1))]
    for _ in range(rng.randint(1, 3)):
        mechanism, table = rng.choice(makers)(rng)
        count = rng.randint(1, 6 - what.count) if what.count < 6 else 0
        while count and len(rows) * len(table) ** count > 2500:
            count -= 1
        what, rows = what + mechanism * count, product([rows, *[table] * count])
    return what, Pair(rows), Pair((q, p) for p, q in rows)


def check(what: b.Composition | b.Mechanism, real: mpf, **question: Fraction) -> None:
    """Every theorem's interval and their meet contain the truth."""
    report = b.account(what, **question)
    for name, bound in [(row.id, row.bound) for row in report.rows] + [("account", report.bound)]:
        if bound is not None:
            assert encloses(bound.lower, real, bound.upper), (str(what), question, name, bound, mpmath.nstr(real, 25))


@pytest.mark.parametrize("block", range(10))
def test_random_compositions(block: int) -> None:
    """Over 300 random compositions every theorem's ε and δ are on the right side of the convolved tables' own."""
    for seed in range(30 * block, 30 * (block + 1)):
        rng = random.Random(seed)
        what, remove, add = random_composition(rng)
        total = max(remove.epsilon(remove.leak * 2 + mpf(10) ** -6), mpf(1))
        epsilon = Fraction(rng.randint(0, 110), 100) * Fraction(int(total * 100) + 1, 100)
        check(what, max(pair.delta(exact(epsilon)) for pair in (remove, add)), epsilon=epsilon)
        delta = Fraction(rng.randint(10, 99), 10 ** rng.randint(2, 11))
        check(what, max(pair.epsilon(exact(delta)) for pair in (remove, add)), delta=delta)


@pytest.mark.parametrize("block", range(4))
def test_no_delta(block: int) -> None:
    """At δ = 0 the cost is the larger of the two directions' largest losses, and no theorem claims more or less."""
    for seed in range(1000 + 25 * block, 1000 + 25 * (block + 1)):
        what, remove, add = random_composition(random.Random(seed), (_response, _lattice, _table, _table))
        check(what, max(pair.epsilon(mpf(0)) for pair in (remove, add)), delta=Fraction(0))


EVEN, ODD, THIRD = [Fraction(1, 2)] * 2, [Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 3), Fraction(2, 3)]
SAMPLED, ALL, SHAME = (
    b.PoissonSampled(b.Table(ODD, EVEN), "1/10"),
    b.LeakyRandomizedResponse(1, 1),
    b.NameAndShame("1/10"),
)
EDGES: dict[str, tuple[Any, dict[str, Any], Callable[[], mpf]]] = {
    "opposite largest losses": (b.Table(EVEN, ODD) + b.Table(ODD, EVEN), {"delta": 0}, lambda: mpmath.log(9)),
    "sampled table": (SAMPLED, {"delta": 0}, lambda: -mpmath.log(mpf(92) / 100)),
    "sampled table twice": (SAMPLED * 2, {"delta": 0}, lambda: -2 * mpmath.log(mpf(92) / 100)),
    "equal columns": (b.Table(THIRD, THIRD), {"delta": 0}, lambda: mpf(0)),
    "all is revealed": (ALL, {"delta": 1}, lambda: mpf(0)),
    "all is revealed twice": (ALL * 2, {"delta": 1}, lambda: mpf(0)),
    "leaks just covered": (SHAME * 2, {"delta": "0.19"}, lambda: mpf(0)),
    "leaks just not covered": (SHAME * 2, {"delta": f"0.18{'9' * 43}"}, lambda: mpmath.inf),
    "its own leak": (b.LeakyRandomizedResponse(1, "1/10"), {"delta": "1/10"}, lambda: mpf(1)),
}


@pytest.mark.parametrize("case", EDGES)
def test_edges(case: str) -> None:
    """Where two directions, a rounding or a limit could be mistaken, the answer is still on the right side."""
    what, question, real = EDGES[case]
    check(what, real(), **question)


def mixed(read: Callable[[float], Fraction]) -> mpf:
    """δ(650) of 10⁵ − 1 responses of ε = 0.1 and one of exactly 1/10, by what the latter says."""
    rest, (truth, lie) = optimum(10**5 - 1, read(0.1)), response(Fraction(1, 10))[0]
    return truth * rest(650 - exact(Fraction(1, 10))) + lie * rest(650 + exact(Fraction(1, 10)))


READINGS: dict[str, tuple[Any, dict[str, Any], Callable[[Callable[[float], Fraction]], mpf]]] = {
    "three": (
        b.RandomizedResponse(0.1) * 3,
        {"epsilon": 0.3},
        lambda read: Pair(product([response(read(0.1))] * 3)).delta(exact(read(0.3))),
    ),
    "table": (
        b.Table([0.59, 0.41], [0.78, 0.22]),
        {"delta": 0},
        lambda read: mpmath.log(exact(read(0.41) / read(0.22))),
    ),
    "sampled": (
        b.PoissonSampled(b.RandomizedResponse(2.4), 0.14),
        {"delta": 0},
        lambda read: mpmath.log1p(exact(read(0.14)) * mpmath.expm1(exact(read(2.4)))),
    ),
    "mixed": (b.RandomizedResponse(0.1) * (10**5 - 1) + b.Declared(b.PureDP("1/10")), {"epsilon": 650}, mixed),
}


@pytest.mark.parametrize("read", [Fraction, lambda x: Fraction(repr(x))], ids=["binary", "decimal"])
@pytest.mark.parametrize("case", READINGS)
def test_both_readings_of_a_float(case: str, read: Callable[[float], Fraction]) -> None:
    """Whether 0.1 means one tenth or the nearest binary number, the answer contains the truth."""
    what, question, real = READINGS[case]
    check(what, real(read), **question)


def gaussian_delta(mu: mpf, epsilon: mpf) -> mpf:
    """The closed form."""
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("delta", ["1/2", "1e-3", "1e-10", "1e-50", "1e-300"])
def test_gaussians(delta: str) -> None:
    """Random Gaussian compositions contain the closed form down to δ = 1e-300, and from both sides narrowly."""
    rng = random.Random(delta)
    for _ in range(8):
        terms = [(Fraction(rng.randint(1, 400), 20), rng.choice((1, 7, 1000, 10**6))) for _ in range(rng.randint(1, 4))]
        what = b.Composition((b.Gaussian(sigma), count) for sigma, count in terms)
        mu = mpmath.sqrt(mpmath.fsum(count / exact(sigma) ** 2 for sigma, count in terms))
        target = exact(Fraction(delta))
        for row in b.account(what, delta=Fraction(delta)).rows:
            if row.bound is not None:
                assert gaussian_delta(mu, exact(row.bound.upper)) <= target
                assert row.bound.lower == 0 or gaussian_delta(mu, exact(row.bound.lower)) >= target
        bound = b.account(what, delta=Fraction(delta)).bound
        assert bound.upper - bound.lower <= 1e-13 * bound.upper
        point = Fraction(bound.upper) * Fraction(rng.randint(1, 10), 10)
        check(what, gaussian_delta(mu, exact(point)), epsilon=point)


def divergence(outcomes: list[Outcome], alpha: mpf) -> mpf:
    """D_α(P‖Q)."""
    return mpmath.log(mpmath.fsum(p**alpha * q ** (1 - alpha) for p, q in outcomes)) / (alpha - 1)


def above(x: mpf) -> Ball:
    """A ball just above a number."""
    return ball(Fraction(mpmath.nstr(x * (1 + mpf(10) ** -30), 50)))


@pytest.mark.parametrize("alpha", ["1.01", "1.3", "2", "7.5", "40", "500"])
@pytest.mark.parametrize("size", [2, 3])
def test_one_order(alpha: str, size: int) -> None:
    """No random pair with the divergence γ at one order has a δ(ε) or an ε(δ) above what γ is said to allow."""
    rng, order = random.Random(alpha), Fraction(alpha)
    with working():
        for _ in range(60):
            columns = [[mpf(rng.random()) ** rng.choice((1, 4, 12)) for _ in range(size)] for _ in range(2)]
            p, q = ([w / mpmath.fsum(column) for w in column] for column in columns)
            outcomes = list(zip(p, q, strict=True))
            gamma, pair = above(divergence(outcomes, exact(order))), Pair(outcomes)
            epsilon = Fraction(rng.randint(0, 300), 100)
            real = pair.delta(exact(epsilon))
            proved = optimal_delta(ball(order), gamma, ball(epsilon))
            assert real <= exact(up(proved))
            assert up(proved) <= up(simple_delta(ball(order), gamma, ball(epsilon)))
            if 0 < real < 1:
                assert (
                    pair.epsilon(real) <= exact(up(optimal_epsilon(ball(order), gamma, above(real)))) + mpf(10) ** -25
                )


@pytest.mark.parametrize(
    ("alpha", "epsilon", "delta"), [("1.5", "1", "1/10"), ("4", "1/2", "1e-4"), ("30", "2", "1e-9")]
)
def test_one_order_is_optimal(alpha: str, epsilon: str, delta: str) -> None:
    """The worst two-point pair of a given δ attains the bound of its divergence: nothing smaller is true."""
    order, odds, leak = exact(Fraction(alpha)), mpmath.exp(exact(Fraction(epsilon))), exact(Fraction(delta))

    def cost(u: mpf) -> mpf:
        p = leak + (1 - leak) / (1 + mpmath.exp(-u))
        q = (p - leak) / odds
        return divergence([(p, q), (1 - p, 1 - q)], order)

    low, high = mpf(-40), mpf(20)
    for _ in range(150):
        third = (high - low) / 3
        low, high = (low, high - third) if cost(low + third) < cost(high - third) else (low + third, high)
    with working():
        found = up(optimal_delta(ball(Fraction(alpha)), above(cost(low)), ball(Fraction(epsilon))))
    assert leak <= exact(found) <= leak * (1 + mpf(10) ** -12)
