"""Theorems against enumerated truths at 60 digits: all outcomes, very many releases, Gaussians, and one Rényi order."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb
from mpmath import mpf

import bursar as b
from bursar.guarantees.order import optimal_delta, optimal_epsilon, simple_delta
from bursar.numerics.balls import Ball, ball, down, up, working
from bursar.theorems import Bound, mv16
from support.responses import REFERENCE, Outcome, Pair, answers, columns, encloses, exact, optimum, product, response


@pytest.fixture(autouse=True)
def _sixty_digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def check(what: b.Composition | b.Mechanism, real: mpf, **question: object) -> dict[str, Bound]:
    """Every theorem's interval and their meet, which contain the truth."""
    found = answers(what, **question)
    for name, bound in found.items():
        assert encloses(bound.lower, real, bound.upper), (str(what), question, name, bound, mpmath.nstr(real, 25))
    return found


def check_law(what: b.Composition, law: Callable[[mpf], mpf], delta: str, best: str) -> None:
    """At a δ and at ε's from 0 to 1e9 the answers are around the falling δ(ε), and the best one is narrow."""
    found = answers(what, delta=delta)
    lower, upper = found["account"].lower, found["account"].upper
    assert law(exact(upper)) <= exact(delta)
    assert lower == 0 or law(exact(lower)) >= exact(delta)
    epsilons = (Fraction(upper), Fraction(upper) * Fraction(7, 10), 0, 10**9)
    for rows in (found, *(check(what, law(exact(epsilon)), epsilon=epsilon) for epsilon in epsilons)):
        assert 0 <= rows[best].lower <= rows[best].upper < math.inf
        assert rows[best].upper - rows[best].lower <= max(1e-12 * rows[best].upper, math.ulp(0.0)), rows[best]


Reading = Callable[[float], Fraction]
Boxes = list[tuple[str, str, int]]  # ε, δ, how often
ALIKE: Boxes = [("1/10", "0", 1), ("3", "1/100", 1), ("1/1000", "0", 5), ("2/3", "1/1000", 4), ("3/2", "1/50", 12)]
BOXES: list[Boxes] = [
    *([box] for box in ALIKE),
    [("5", "0", 6)],
    [("1/10", "0", 1), ("1/5", "0", 1)],
    [("0", "1/20", 1), ("1", "0", 1)],
    [("1", "1/7", 1), ("1", "1/100", 2)],
    [("1/10", "1/1000", 1), ("7/10", "0", 1), ("13/10", "1/50", 1)],
    [("1/1000", "0", 3), ("4", "1e-6", 1), ("1/2", "0", 2)],
    [("1/10", "0", 4), ("1/7", "1e-5", 4), ("1/3", "0", 4)],
    [(f"{i}/10", "0", 1) for i in range(1, 13)],
    [(f"{i}/17", f"{i}e-7", 1) for i in range(1, 11)],
]
FIFTEEN, SIX = [Fraction(100 + i, 10000) for i in range(15)], ["1/10", "1/10", "1/7", "1/7", "3/5", "3/5"]


def composition(boxes: Boxes) -> b.Composition:
    """The black boxes, through the three classes that attain their promise."""
    made = []
    for i, (epsilon, delta, count) in enumerate(boxes):
        promise = b.PureDP(epsilon) if delta == "0" else b.ApproxDP(epsilon, delta)
        own = b.RandomizedResponse(epsilon) if delta == "0" else b.LeakyRandomizedResponse(epsilon, delta)
        made.append((own if i % 2 and epsilon != "0" else b.Declared(promise), count))
    return b.Composition(made)


def truth(boxes: Boxes) -> Pair:
    """All outcomes of the composition."""
    return Pair(product(response(epsilon, delta) for epsilon, delta, count in boxes for _ in range(count)))


def test_the_reference_itself() -> None:
    """The enumeration's ε and δ are inverse, its leaks compose as leaks do, and a sum is its beta functions."""
    pair = Pair(product(response(Fraction(1, i + 1), "1/1000") for i in range(4)))
    for delta in map(mpf, ("0.01", "0.1", "0.4")):
        assert mpmath.almosteq(pair.delta(pair.epsilon(delta)), delta, rel_eps=REFERENCE)
    for boxes in BOXES:
        kept, pure = mpmath.fprod((1 - exact(d)) ** k for _, d, k in boxes), truth([(e, "0", k) for e, _, k in boxes])
        for x in (mpf(0), mpf("0.3"), mpf(1)):
            assert mpmath.almosteq(truth(boxes).delta(x), kept * pure.delta(x) + 1 - kept, rel_eps=REFERENCE)
    for k, epsilon, at in ((60, "1/3", "2"), (500, "1/20", "1"), (2000, "1/50", "3")):
        e, point = exact(epsilon), exact(at)
        lies, chance = int(mpmath.ceil((k - point / e) / 2)) - 1, 1 / (1 + mpmath.exp(-e))
        p, q = (mpmath.betainc(k - lies, lies + 1, 0, x, regularized=True) for x in (chance, 1 - chance))
        real = p - mpmath.exp(point) * q
        assert mpmath.almosteq(real, optimum(k, epsilon)(point), rel_eps=mpf(10) ** -30)
        assert "optimal" in check(b.RandomizedResponse(epsilon) * k, real, epsilon=at)


@pytest.mark.parametrize("boxes", BOXES, ids=lambda boxes: str(composition(boxes)))
def test_against_enumeration(boxes: Boxes) -> None:
    """From below the leak to δ = 1 and to beyond Σε theorems contain the truth, and the optimal ones narrowly."""
    pair = truth(boxes)
    best = "optimal" if len({box[:2] for box in boxes}) == 1 else "mv16"
    total = sum(Fraction(e) * count for e, _, count in boxes)
    leak = Fraction(int(mpmath.ceil(pair.leak * 10**30)), 10**30)
    deltas = [leak + (1 - leak) * Fraction(x) for x in ("1e-12", "1e-4", "1/10", "1/2", "1")] + [leak / 2] * (leak > 0)
    asked = [("delta", delta, pair.epsilon(exact(delta))) for delta in deltas]
    epsilons = [total * Fraction(x) for x in ("0", "1/9", "1/2", "9/10", "1", "11/10")]
    asked += [("epsilon", epsilon, pair.delta(exact(epsilon))) for epsilon in epsilons]
    for name, value, real in asked:
        found = check(composition(boxes), real, **{name: value})
        assert best in found or found["account"].upper == found["account"].lower
        for bound in (found[name] for name in ("optimal", "mv16", "single") if name in found):
            if math.isfinite(bound.upper):
                assert bound.upper - bound.lower <= (1e-12 * bound.upper if real else 1e-37), (name, value, bound)


@pytest.mark.parametrize(
    "epsilons", [("1/10", "1/7", "3/5"), ("1", "1/2", "1/2", "1/3"), tuple(f"{i}/40" for i in range(1, 11))]
)
def test_lattice_guarantee(epsilons: tuple[str, ...]) -> None:
    """The lattice's value lies between OptComp(δ) and OptComp(e^{−η/2}δ) + η, and its δ's obey the same rule."""
    pair = Pair(product(map(response, epsilons)))
    for eta in (0.3, 0.05, 0.004):
        with working():
            law = mv16.lattice_total([(ball(Fraction(e)), 1) for e in epsilons], eta)
            for delta in ("1e-9", "1e-3", "1/20", "1/3"):
                value = law.epsilon_at(ball(Fraction(delta)), 1.0)
                least = pair.epsilon(exact(delta))
                most = pair.epsilon(exact(delta) * mpmath.exp(-exact(eta) / 2)) + exact(eta)
                assert least * (1 - mpf(10) ** -12) <= exact(value.lower) <= exact(value.upper) <= most
            for epsilon in ("0", "1/10", "1/2", "1"):
                real, at = pair.delta(exact(epsilon)), ball(Fraction(epsilon))
                assert encloses(0.0, real, up(law.delta_at(at)))
                assert exact(down(law.delta_at(at + arb(eta)) * (-arb(eta) / 2).exp())) <= real


@pytest.mark.parametrize("points", [None, 40, 80, 200, 800])
def test_approximate_row(points: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many totals to list, or so coarse that the rounding shows, both sides still contain the truth."""
    epsilons, questions = FIFTEEN, [("delta", "1e-6"), ("delta", "1e-3"), ("epsilon", "1/50"), ("epsilon", "0")]
    if points:
        epsilons, questions = SIX, [("delta", "1e-3"), ("delta", "1e-6"), ("epsilon", "1/2"), ("epsilon", "1")]
        for limit, value in (("MOST_TOTALS", 1), ("MOST_POINTS", points), ("WORTHWHILE", 100.0)):
            monkeypatch.setattr(mv16, limit, value)
    what, pair = b.Composition((b.Declared(b.PureDP(e)), 1) for e in epsilons), Pair(product(map(response, epsilons)))
    for name, value in questions:
        real = pair.epsilon(exact(value)) if name == "delta" else pair.delta(exact(value))
        bound = check(what, real, theorems=["mv16"], **{name: Fraction(value)})["mv16"]
        assert "lattice" in bound.because
        assert points or 0 < bound.lower < bound.upper < 1


LN3 = "1.098612288668109691395245236922525704647490557822749451734694"
SEVERAL = [(100, LN3), (100, "1"), (100, "2"), (1000, "1/10"), (700, "1"), (2000, "1/100"), (5000, "1/1000")]
MILLIONS = [(10**4, "1/50"), (10**5, "1/100"), (10**6, "1/1000"), (10**7, "1/10000"), (10**7, "1/1000")]


@pytest.mark.parametrize(("k", "epsilon"), SEVERAL + MILLIONS)
def test_very_many_releases(k: int, epsilon: str) -> None:
    """Where a peer overflows, and up to ten million releases, the optimum narrowly encloses a term-by-term sum."""
    boxes = [b.RandomizedResponse(epsilon), b.RandomizedResponse(epsilon, relation="replace_one")]
    for box in [*boxes, b.Declared(b.PureDP(epsilon))] if k == 100 else boxes[:1]:
        for delta in ("1e-6", "1e-15", "1e-100", "1/10") if k <= 10**4 else ("1e-6", "1e-40"):
            check_law(box * k, optimum(k, epsilon), delta, "optimal")


def gaussian_delta(mu: mpf, epsilon: mpf) -> mpf:
    """δ(ε) between two Gaussians μ apart, in closed form."""
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("delta", ["9/10", "1/2", "1e-3", "1e-10", "1e-50", "1e-300"])
def test_gaussians(delta: str) -> None:
    """Random compositions, and extreme ones at which a peer raises, are narrowly around the closed form."""
    rng = random.Random(delta)
    extreme = [[(Fraction(sigma), 10)] for sigma in ("1e-6", "1/1000", "1/10", "1", "1e3", "1e9")]
    counts = [[rng.choice((1, 7, 1000, 10**6)) for _ in range(rng.randint(1, 4))] for _ in range(8)]
    for terms in extreme + [[(Fraction(rng.randint(1, 400), 20), count) for count in row] for row in counts]:
        mu = mpmath.sqrt(mpmath.fsum(count / exact(sigma) ** 2 for sigma, count in terms))
        what = b.Composition((b.Gaussian(sigma), count) for sigma, count in terms)
        check_law(what, lambda x: gaussian_delta(mu, x), delta, "account")


@pytest.mark.parametrize("sigma", ["1/2", "3", "20"])
def test_with_gaussian_noise(sigma: str) -> None:
    """Gaussians after responses: every theorem contains δ(ε) = Σ P·δ_G(ε − loss) + the leak, over all responses."""
    mu = mpmath.sqrt(7) / exact(sigma)
    for boxes in BOXES[2:4] + BOXES[7:11]:
        pair = truth(boxes)
        losses = [(p, mpmath.log(p / q)) for p, q in pair.outcomes if p and q]
        for epsilon in (mu * mu / 2, mu * mu / 2 + 3 * mu, mpf(1) / 2):
            x = Fraction(mpmath.nstr(epsilon, 5))
            real = pair.leak + mpmath.fsum(p * gaussian_delta(mu, exact(x) - loss) for p, loss in losses)
            check(composition(boxes) + b.Gaussian(sigma) * 7, real, epsilon=x)


def drawn(rng: random.Random, kinds: tuple[str, ...]) -> tuple[b.Mechanism, list[Outcome]]:
    """A random mechanism of one of these kinds, and its outcomes."""
    epsilon, delta = Fraction(rng.randint(0, 20), 10), Fraction(rng.randint(0, 9), 10 ** rng.randint(1, 9))
    more, leak, k = epsilon + Fraction(rng.randint(1, 10), 100), exact(delta), rng.randint(2, 6)
    likely = 1 / (1 + (k - 1) * mpmath.exp(-exact(more)))
    rare = (1 - likely) / (k - 1)
    scale, shift = Fraction(rng.randint(3, 60), 10), rng.randint(1, 4)
    a = mpmath.exp(-1 / exact(scale))
    near, far, peak = 1 / (1 + a), a**shift / (1 + a), (1 - a) / (1 + a)  # of one ratio: all up to 0, all from shift on
    between = [(peak * a**y, peak * a ** (shift - y)) for y in range(1, shift)]
    p, q = columns(rng)
    return {
        "response": (b.RandomizedResponse(more), response(more)),
        "leaky": (b.LeakyRandomizedResponse(epsilon, delta), response(epsilon, delta)),
        "shame": (b.NameAndShame(delta), [(1 - leak, 1 - leak), (leak, mpf(0)), (mpf(0), leak)]),
        "categories": (b.KaryRandomizedResponse(more, k), [(likely, rare), (rare, likely), *[(rare, rare)] * (k - 2)]),
        "lattice": (b.DiscreteLaplace(scale, sensitivity=shift), [(near, far), (far, near), *between]),
        "table": (b.Table(p, q), [(exact(x), exact(y)) for x, y in zip(p, q, strict=True)]),
    }[rng.choice(kinds)]


KINDS, PLAIN = ("response", "leaky", "shame", "categories", "lattice", "table"), ("response", "lattice", "table")
BLOCKS = [pytest.param(block, marks=pytest.mark.soak if block > 2 else ()) for block in range(10)]


def random_composition(rng: random.Random, kinds: tuple[str, ...]) -> tuple[b.Composition, list[Pair]]:
    """Up to six releases, with both directions' exact outcomes."""
    what, rows = b.Composition(), [(mpf(1), mpf(1))]
    for _ in range(rng.randint(1, 3)):
        mechanism, table = drawn(rng, kinds)
        count = rng.randint(1, 6 - what.count) if what.count < 6 else 0
        while count and len(rows) * len(table) ** count > 2500:
            count -= 1
        what, rows = what + mechanism * count, product([rows, *[table] * count])
    return what, [Pair(rows), Pair(rows).back()]


@pytest.mark.parametrize("block", BLOCKS)
def test_random_compositions(block: int) -> None:
    """Every theorem's ε and δ are around those of the convolved tables; at δ = 0 these are the largest losses."""
    for seed in range(30 * block, 30 * (block + 1)):
        rng = random.Random(seed)
        what, pairs = random_composition(rng, KINDS)
        total = max(pairs[0].epsilon(pairs[0].leak * 2 + mpf(10) ** -6), mpf(1))
        epsilon = Fraction(rng.randint(0, 110), 100) * Fraction(int(total * 100) + 1, 100)
        check(what, max(pair.delta(exact(epsilon)) for pair in pairs), epsilon=epsilon)
        delta = Fraction(rng.randint(10, 99), 10 ** rng.randint(2, 11))
        check(what, max(pair.epsilon(exact(delta)) for pair in pairs), delta=delta)
        if seed % 3 == 0:
            what, pairs = random_composition(rng, PLAIN)
            check(what, max(pair.epsilon(mpf(0)) for pair in pairs), delta=0)


def mixed(read: Reading) -> mpf:
    """δ(650) of 10⁵ − 1 responses of ε = 0.1 and one of exactly 1/10, by what the latter says."""
    rest, (told, lie) = optimum(10**5 - 1, read(0.1)), response("1/10")[0]
    return told * rest(650 - exact("1/10")) + lie * rest(650 + exact("1/10"))


EVEN, ODD, THIRD = ["1/2", "1/2"], ["9/10", "1/10"], ["1/3", "2/3"]
SAMPLED, SHAME = b.PoissonSampled(b.Table(ODD, EVEN), "1/10"), b.NameAndShame("1/10") * 2
SAMPLE = b.PoissonSampled(b.RandomizedResponse(2.4), 0.14)
EDGES: dict[str, tuple[Any, dict[str, Any], Callable[[Reading], mpf]]] = {
    "opposite largest losses": (b.Table(EVEN, ODD) + b.Table(ODD, EVEN), {"delta": 0}, lambda _: mpmath.log(9)),
    "sampled table": (SAMPLED, {"delta": 0}, lambda _: -mpmath.log(mpf(92) / 100)),
    "sampled table twice": (SAMPLED * 2, {"delta": 0}, lambda _: -2 * mpmath.log(mpf(92) / 100)),
    "equal columns": (b.Table(THIRD, THIRD), {"delta": 0}, lambda _: mpf(0)),
    "all is revealed": (b.LeakyRandomizedResponse(1, 1), {"delta": 1}, lambda _: mpf(0)),
    "all is revealed twice": (b.LeakyRandomizedResponse(1, 1) * 2, {"delta": 1}, lambda _: mpf(0)),
    "leaks just covered": (SHAME, {"delta": "0.19"}, lambda _: mpf(0)),
    "leaks just not covered": (SHAME, {"delta": f"0.18{'9' * 43}"}, lambda _: mpmath.inf),
    "its own leak": (b.LeakyRandomizedResponse(1, "1/10"), {"delta": "1/10"}, lambda _: mpf(1)),
    "three": (b.RandomizedResponse(0.1) * 3, {"epsilon": 0.3}, lambda x: optimum(3, x(0.1))(exact(x(0.3)))),
    "a table": (b.Table([0.59, 0.41], [0.78, 0.22]), {"delta": 0}, lambda x: mpmath.log(exact(x(0.41) / x(0.22)))),
    "a sample": (SAMPLE, {"delta": 0}, lambda x: mpmath.log1p(exact(x(0.14)) * mpmath.expm1(exact(x(2.4))))),
    "mixed": (b.RandomizedResponse(0.1) * (10**5 - 1) + b.Declared(b.PureDP("1/10")), {"epsilon": 650}, mixed),
}


@pytest.mark.parametrize("case", EDGES)
def test_edges(case: str) -> None:
    """Directions, roundings and limits are not mistaken, and 0.1 is one tenth as well as the nearest binary number."""
    what, question, real = EDGES[case]
    for read in (Fraction, lambda x: Fraction(repr(x))):
        check(what, real(read), **question)


def divergence(outcomes: list[Outcome], alpha: mpf) -> mpf:
    """D_α(P‖Q)."""
    return mpmath.log(mpmath.fsum(p**alpha * q ** (1 - alpha) for p, q in outcomes)) / (alpha - 1)


def above(x: mpf) -> Ball:
    """A ball just above a number."""
    return ball(Fraction(mpmath.nstr(x * (1 + mpf(10) ** -30), 50)))


@pytest.mark.parametrize("alpha", ["1.01", "1.3", "2", "7.5", "40", "500"])
def test_one_order(alpha: str) -> None:
    """No random pair with the divergence γ at one order has a δ(ε) or an ε(δ) above what γ is said to allow."""
    rng, order = random.Random(alpha), ball(Fraction(alpha))
    with working():
        for size in [2, 3] * 30:
            weights = [[mpf(rng.random()) ** rng.choice((1, 4, 12)) for _ in range(size)] for _ in range(2)]
            pair = Pair(zip(*([w / mpmath.fsum(column) for w in column] for column in weights), strict=True))
            gamma, epsilon = above(divergence(pair.outcomes, exact(alpha))), Fraction(rng.randint(0, 300), 100)
            real, proved = pair.delta(exact(epsilon)), up(optimal_delta(order, gamma, ball(epsilon)))
            assert real <= exact(proved)
            assert proved <= up(simple_delta(order, gamma, ball(epsilon)))
            if 0 < real < 1:
                assert pair.epsilon(real) <= exact(up(optimal_epsilon(order, gamma, above(real)))) + mpf(10) ** -25


@pytest.mark.parametrize(
    ("alpha", "epsilon", "delta"), [("1.5", "1", "1/10"), ("4", "1/2", "1e-4"), ("30", "2", "1e-9")]
)
def test_one_order_is_optimal(alpha: str, epsilon: str, delta: str) -> None:
    """The worst two-point pair of a given δ attains the bound of its divergence: nothing smaller is true."""
    odds, leak = mpmath.exp(exact(epsilon)), exact(delta)

    def cost(u: mpf) -> mpf:
        p = leak + (1 - leak) / (1 + mpmath.exp(-u))
        q = (p - leak) / odds
        return divergence([(p, q), (1 - p, 1 - q)], exact(alpha))

    low, high = mpf(-40), mpf(20)
    for _ in range(150):
        third = (high - low) / 3
        low, high = (low, high - third) if cost(low + third) < cost(high - third) else (low + third, high)
    with working():
        found = up(optimal_delta(ball(Fraction(alpha)), above(cost(low)), ball(Fraction(epsilon))))
    assert leak <= exact(found) <= leak * (1 + mpf(10) ** -12)
