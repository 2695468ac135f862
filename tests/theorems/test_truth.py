"""The theorems against truths that are enumerated or in closed form, at 60 digits: finite mechanisms outcome by outcome,
very many responses term by term, Gaussians, and one Rényi order.
"""

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
from bursar.theorems import THEOREMS, Bound, mv16
from support.responses import REFERENCE, Outcome, Pair, columns, encloses, exact, gaussian_delta, optimum
from support.responses import product, response


@pytest.fixture(autouse=True)
def _sixty_digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def check(what: b.Composition | b.Mechanism, real: mpf, **question: object) -> dict[str, Bound]:
    """Every theorem's interval and their meet, which contain the truth."""
    report = b.account(what, **question)
    found = {row.id: row.bound for row in report.rows if row.bound is not None} | {"account": report.bound}
    for name, bound in found.items():
        assert encloses(bound.lower, real, bound.upper), (str(what), question, name, bound, mpmath.nstr(real, 25))
    return found


def surrounds(bound: Bound, law: Callable[[mpf], mpf], delta: Fraction | str) -> None:
    """The falling δ(ε) is small enough at the upper end, and not below δ at the lower one."""
    assert law(exact(bound.upper)) <= exact(delta)
    assert bound.lower == 0 or law(exact(bound.lower)) >= exact(delta)


Boxes = list[tuple[str, str, int]]  # ε, δ, how often
HOMOGENEOUS: list[Boxes] = [
    [("1/10", "0", 1)],
    [("3", "1/100", 1)],
    [("1/2", "0", 2)],
    [("1/1000", "0", 5)],
    [("2/3", "1/1000", 4)],
    [("5", "0", 6)],
    [("1/4", "1e-9", 12)],
    [("3/2", "1/50", 12)],
]
HETEROGENEOUS: list[Boxes] = [
    [("1/10", "0", 1), ("1/5", "0", 1)],
    [("0", "1/20", 1), ("1", "0", 1)],
    [("1/3", "0", 2), ("2/3", "0", 1)],
    [("1", "1/7", 1), ("1", "1/100", 2)],
    [("1/10", "1/1000", 1), ("7/10", "0", 1), ("13/10", "1/50", 1)],
    [("1/1000", "0", 3), ("4", "1e-6", 1), ("1/2", "0", 2)],
    [("1/10", "0", 4), ("1/7", "1e-5", 4), ("1/3", "0", 4)],
    [(f"{i}/10", "0", 1) for i in range(1, 13)],
    [(f"{i}/17", f"{i}e-7", 1) for i in range(1, 11)],
]


def composition(boxes: Boxes) -> b.Composition:
    """The black boxes, through the three classes that attain their promise."""
    made = []
    for i, (epsilon, delta, count) in enumerate(boxes):
        promise = b.PureDP(epsilon) if delta == "0" else b.ApproxDP(epsilon, delta)
        own = b.RandomizedResponse(epsilon) if delta == "0" else b.LeakyRandomizedResponse(epsilon, delta)
        made.append((own if i % 2 and epsilon != "0" else b.Declared(promise), count))
    return b.Composition(made)


def truth(boxes: Boxes, folded: bool = True) -> Pair:
    """All outcomes of the composition; the leaks are folded into one, or told one by one."""
    rows = [(e, d) for e, d, count in boxes for _ in range(count)]
    if not folded:
        return Pair(product(response(e, d) for e, d in rows))
    kept = mpmath.fprod(1 - exact(d) for _, d in rows)
    return Pair([*((kept * p, kept * q) for p, q in product(response(e) for e, _ in rows)), (1 - kept, mpf(0))])


def test_the_reference_itself() -> None:
    """The enumeration's ε and δ are inverse, folded leaks are the leaks one by one, and a sum is its beta functions."""
    pair = Pair(product(response(Fraction(1, i + 1), "1/1000") for i in range(4)))
    for delta in map(mpf, ("0.01", "0.1", "0.4")):
        assert mpmath.almosteq(pair.delta(pair.epsilon(delta)), delta, rel_eps=REFERENCE)
    assert len(product([response("1", "1/9")] * 4)) == 3**4 + 3**4 - 2**4
    for boxes in HETEROGENEOUS:
        few = [(e, d, 1) for e, d, _ in boxes[:4]]
        for x in (mpf(0), mpf("0.3"), mpf(1)):
            assert mpmath.almosteq(truth(few).delta(x), truth(few, folded=False).delta(x), rel_eps=REFERENCE)
    for k, epsilon, at in ((60, "1/3", "2"), (500, "1/20", "1"), (2000, "1/50", "3")):
        e, point = exact(epsilon), exact(at)
        lies, chance = int(mpmath.ceil((k - point / e) / 2)) - 1, 1 / (1 + mpmath.exp(-e))
        p, q = (mpmath.betainc(k - lies, lies + 1, 0, x, regularized=True) for x in (chance, 1 - chance))
        real = p - mpmath.exp(point) * q
        assert mpmath.almosteq(real, optimum(k, epsilon)(point), rel_eps=mpf(10) ** -30)
        assert "optimal" in check(b.RandomizedResponse(epsilon) * k, real, epsilon=at)


@pytest.mark.parametrize("boxes", HOMOGENEOUS + HETEROGENEOUS, ids=lambda boxes: str(composition(boxes)))
def test_against_enumeration(boxes: Boxes) -> None:
    """At δ's above the leak and below it and at ε's up to beyond Σε every theorem contains the truth, and the optimal
    ones contain it narrowly from both sides.
    """
    pair = truth(boxes, folded=sum(count for *_, count in boxes) > 4)
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


@pytest.mark.parametrize("sigma", ["1/2", "3", "20"])
def test_with_gaussian_noise(sigma: str) -> None:
    """Gaussians after responses: every theorem contains δ(ε) = Σ P·δ_G(ε − loss) + the leak, over all responses."""
    mu = mpmath.sqrt(7) / exact(sigma)
    for boxes in HETEROGENEOUS[1:6:2] + HOMOGENEOUS[3:5]:
        pair = truth(boxes)
        losses = [(p, mpmath.log(p / q)) for p, q in pair.outcomes if p and q]
        for epsilon in (mu * mu / 2, mu * mu / 2 + 3 * mu, mpf(1) / 2):
            x = Fraction(mpmath.nstr(epsilon, 5))
            real = pair.leak + mpmath.fsum(p * gaussian_delta(mu, exact(x) - loss) for p, loss in losses)
            check(composition(boxes) + b.Gaussian(sigma) * 7, real, epsilon=x)


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


MANY, FEW = [Fraction(100 + i, 10000) for i in range(15)], ["1/10", "1/10", "1/7", "1/7", "3/5", "3/5"]


@pytest.mark.parametrize("points", [None, 40, 80, 200, 800])
def test_approximate_row(points: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many totals to list, and on lattices so coarse that the rounding shows, the approximate row still
    contains the truth from both sides.
    """
    epsilons, questions = MANY, [("delta", "1e-6"), ("delta", "1e-3"), ("epsilon", "1/50"), ("epsilon", "0")]
    if points:
        epsilons, questions = FEW, [("delta", "1e-3"), ("delta", "1e-6"), ("epsilon", "1/2"), ("epsilon", "1")]
        for limit, value in (("MOST_TOTALS", 1), ("MOST_POINTS", points), ("WORTHWHILE", 100.0)):
            monkeypatch.setattr(mv16, limit, value)
    what, pair = b.Composition((b.Declared(b.PureDP(e)), 1) for e in epsilons), Pair(product(map(response, epsilons)))
    for name, value in questions:
        real = pair.epsilon(exact(value)) if name == "delta" else pair.delta(exact(value))
        bound = check(what, real, theorems=["mv16"], **{name: Fraction(value)})["mv16"]
        assert "lattice" in bound.because
        assert points or 0 < bound.lower < bound.upper < 1


LN3 = "1.098612288668109691395245236922525704647490557822749451734694"
DELTAS = ("1e-6", "1e-100", "1/10")
OPTIMA: list[tuple[int, str, tuple[str, ...]]] = [  # a peer's optimal composition overflows from the fourth on
    (100, LN3, ("1e-6",)),
    (100, "1", ("1e-6",)),
    (100, "2", ("1e-6",)),
    (1000, "1/10", DELTAS),
    (700, "1", DELTAS),
    (2000, "1/100", DELTAS),
    (5000, "1/1000", DELTAS),
    (10**4, "1/50", ("1e-12",)),
    (10**5, "1/100", ("1e-40",)),
    (10**6, "1/1000", ("1e-9",)),
    (10**6, "1/100", ("1/10",)),
    (10**7, "1/10000", ("1e-6",)),
    (10**7, "1/1000", ("1e-15",)),
]


@pytest.mark.parametrize(("k", "epsilon", "deltas"), OPTIMA)
def test_very_many_releases(k: int, epsilon: str, deltas: tuple[str, ...]) -> None:
    """Up to ten million releases the optimum's interval encloses a term-by-term sum, and is narrow."""
    law, names = optimum(k, epsilon), [theorem.id for theorem in THEOREMS]
    boxes = [b.RandomizedResponse(epsilon), b.RandomizedResponse(epsilon, relation="replace_one")]
    for box in [*boxes, b.Declared(b.PureDP(epsilon))] if k == 100 else boxes[:1]:
        for delta in deltas:
            report = b.account(box * k, delta=delta, theorems=names)
            found = next(row.bound for row in report.rows if row.id == "optimal")
            surrounds(report.bound, law, delta)
            at = check(box * k, law(exact(found.upper)), epsilon=Fraction(found.upper))["optimal"]
            for bound in (found, at):
                assert bound.upper - bound.lower <= 1e-12 * bound.upper


def _response(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    epsilon = Fraction(rng.randint(1, 30), rng.choice((10, 100)))
    return b.RandomizedResponse(epsilon), response(epsilon)


def _leaky(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    epsilon, delta = Fraction(rng.randint(0, 20), 10), Fraction(rng.randint(0, 9), 10 ** rng.randint(1, 9))
    return b.LeakyRandomizedResponse(epsilon, delta), response(epsilon, delta)


def _shame(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    delta = Fraction(rng.randint(1, 9), 10 ** rng.randint(1, 9))
    return b.NameAndShame(delta), [(1 - exact(delta), 1 - exact(delta)), *response("0", delta)[2:]]


def _categories(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    epsilon, k = Fraction(rng.randint(1, 20), 10), rng.randint(2, 6)
    likely = 1 / (1 + (k - 1) * mpmath.exp(-exact(epsilon)))
    rare = (1 - likely) / (k - 1)
    return b.KaryRandomizedResponse(epsilon, k), [(likely, rare), (rare, likely), *[(rare, rare)] * (k - 2)]


def _lattice(rng: random.Random) -> tuple[b.Mechanism, list[Outcome]]:
    scale, shift = Fraction(rng.randint(3, 60), 10), rng.randint(1, 4)
    a = mpmath.exp(-1 / exact(scale))
    flank, between = a**shift, [a ** (shift - i) - a**i for i in range(shift)]
    del flank, between
    reach = range(-40, 41 + shift)  # the tails beyond have one ratio, and are summed
    left, right = a**41 / (1 + a), a ** (41 + shift) / (1 + a)
    rows = [(left, left * a**shift), (right, right / a**shift)]
    rows += [((1 - a) / (1 + a) * a ** abs(y), (1 - a) / (1 + a) * a ** abs(y - shift)) for y in reach]
    merged: dict[str, Outcome] = {}
    for p, q in rows:  # outcomes of one ratio are one
        key = mpmath.nstr(p / q, 30)
        merged[key] = tuple(map(sum, zip((p, q), merged.get(key, (0, 0)), strict=True)))
    return b.DiscreteLaplace(scale, sensitivity=shift), list(merged.values())
