"""The theorems about black boxes, against all outcomes of leaky randomized responses, one by one at 60 digits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import pytest
from flint import arb
from mpmath import mpf

import bursar as b
from bursar.numerics.balls import ball, down, up, working
from bursar.theorems import mv16
from support.responses import REFERENCE, Pair, encloses, exact, product, response

EXACT = ("optimal", "mv16", "single")


@pytest.fixture(autouse=True)
def _sixty_digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


Boxes = list[tuple[str, str, int]]  # ε, δ, how often
HOMOGENEOUS: list[Boxes] = [
    [("1/10", "0", 1)],
    [("3", "1/100", 1)],
    [("1/2", "0", 2)],
    [("1/1000", "0", 5)],
    [("2/3", "1/1000", 4)],
    [("5", "0", 6)],
    [("1/10", "0", 12)],
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


def truth(boxes: Boxes) -> Pair:
    """All outcomes of the composition; the leaks are folded into one where there are many."""
    rows = [(Fraction(e), Fraction(d)) for e, d, count in boxes for _ in range(count)]
    if len(rows) <= 4:
        return Pair(product(response(e, d) for e, d in rows))
    kept = mpmath.fprod(1 - exact(d) for _, d in rows)
    inside = [(kept * p, kept * q) for p, q in product(response(e) for e, _ in rows)]
    return Pair([*inside, (1 - kept, mpf(0))])


def questions(boxes: Boxes, pair: Pair) -> list[tuple[str, Fraction]]:
    """A few δ's above the leak and some below it, and a few ε's up to beyond Σε."""
    total = sum(Fraction(e) * count for e, _, count in boxes)
    leak = Fraction(int(mpmath.ceil(pair.leak * 10**30)), 10**30)
    deltas = [leak + (1 - leak) * x for x in map(Fraction, ("1e-12", "1e-4", "1/10", "1/2", "1"))]
    deltas += [leak / 2] if leak else []
    epsilons = [total * x for x in map(Fraction, ("0", "1/9", "1/2", "9/10", "1", "11/10"))]
    return [("delta", delta) for delta in deltas] + [("epsilon", epsilon) for epsilon in epsilons]


@pytest.mark.parametrize(
    "boxes", HOMOGENEOUS + HETEROGENEOUS, ids=lambda boxes: "+".join("*".join(map(str, x)) for x in boxes)
)
def test_against_enumeration(boxes: Boxes) -> None:
    """Every theorem contains the enumerated truth, and the optimal ones contain it narrowly from both sides."""
    what, pair = composition(boxes), truth(boxes)
    for name, value in questions(boxes, pair):
        real = pair.epsilon(exact(value)) if name == "delta" else pair.delta(exact(value))
        report = b.account(what, **{name: value})
        for row in report.rows:
            if row.bound is None:
                continue
            low, high = row.bound.lower, row.bound.upper
            assert encloses(low, real, high), (row.id, name, value, low, real, high)
            if row.id in EXACT and math.isfinite(high):
                assert high - low <= (1e-12 * high if real else 1e-37), (row.id, name, value, low, high)
        assert encloses(report.bound.lower, real, report.bound.upper)
        optimum = "optimal" if len({box[:2] for box in boxes}) == 1 else "mv16"
        assert {row.id: row for row in report.rows}[
            optimum
        ].bound is not None or report.bound.upper == report.bound.lower


@pytest.mark.parametrize("boxes", [boxes for boxes in HETEROGENEOUS if len(boxes) > 1])
def test_folding_the_leaks(boxes: Boxes) -> None:
    """Enumerating the revealing outcomes one by one and folding them into one leak agree."""
    rows = [(Fraction(e), Fraction(d)) for e, d, _ in boxes][:4]
    whole = Pair(product(response(e, d) for e, d in rows))
    folded = truth([(str(e), str(d), 1) for e, d in rows] + [("0", "0", 1)] * (5 - len(rows)))
    for x in (mpf(0), mpf("0.3"), mpf(1)):
        assert mpmath.almosteq(whole.delta(x), folded.delta(x), rel_eps=REFERENCE)


@pytest.mark.parametrize("eta", [0.3, 0.05, 0.004])
@pytest.mark.parametrize(
    "epsilons", [("1/10", "1/7", "3/5"), ("1", "1/2", "1/2", "1/3"), tuple(f"{i}/40" for i in range(1, 11))]
)
def test_lattice_guarantee(epsilons: tuple[str, ...], eta: float) -> None:
    """The lattice's value lies between OptComp(δ) and OptComp(e^{−η/2}δ) + η, and its δ's obey the same rule."""
    pair, width = Pair(product(response(Fraction(e)) for e in epsilons)), exact(eta)
    with working():
        law = mv16.lattice_total([(ball(Fraction(e)), 1) for e in epsilons], eta)
        for delta in map(Fraction, ("1e-9", "1e-3", "1/20", "1/3")):
            value = law.epsilon_at(ball(delta), 1.0)
            least = pair.epsilon(exact(delta))
            most = pair.epsilon(exact(delta) * mpmath.exp(-width / 2)) + width
            assert least * (1 - mpf(10) ** -12) <= exact(value.lower) <= exact(value.upper) <= most
        for epsilon in map(Fraction, ("0", "1/10", "1/2", "1")):
            assert encloses(0.0, pair.delta(exact(epsilon)), up(law.delta_at(ball(epsilon))))
            shrunk = law.delta_at(ball(epsilon) + arb(eta)) * (-arb(eta) / 2).exp()
            assert exact(down(shrunk)) <= pair.delta(exact(epsilon))


@pytest.mark.parametrize(
    ("name", "value"), [("delta", "1e-6"), ("delta", "1e-3"), ("epsilon", "1/50"), ("epsilon", "0")]
)
def test_approximate_row(name: str, value: str) -> None:
    """Where there are too many totals to list, the approximate row still contains the truth from both sides."""
    epsilons = [Fraction(100 + i, 10000) for i in range(15)]
    what = b.Composition((b.Declared(b.PureDP(e)), 1) for e in epsilons)
    bound = b.account(what, **{name: Fraction(value)}, theorems=["mv16"]).rows[0].bound
    pair = Pair(product(response(e) for e in epsilons))
    real = pair.epsilon(exact(Fraction(value))) if name == "delta" else pair.delta(exact(Fraction(value)))
    assert bound is not None
    assert "lattice" in bound.because
    assert 0 < bound.lower < bound.upper < 1
    assert encloses(bound.lower, real, bound.upper)


@pytest.mark.parametrize("sigma", ["1/2", "3", "20"])
@pytest.mark.parametrize("boxes", HETEROGENEOUS[1:6:2] + HOMOGENEOUS[3:5])
def test_with_gaussian_noise(boxes: Boxes, sigma: str) -> None:
    """Gaussians after responses: every theorem contains δ(ε) = Σ P·δ_G(ε − loss) + the leak, over all responses."""
    pair, mu = truth(boxes), mpmath.sqrt(7) / exact(Fraction(sigma))
    what = composition(boxes) + b.Gaussian(sigma) * 7

    def delta(x: mpf) -> mpf:
        losses = [(p, mpmath.log(p / q)) for p, q in pair.outcomes if p and q]
        return pair.leak + mpmath.fsum(p * gaussian(x - loss) for p, loss in losses)

    def gaussian(x: mpf) -> mpf:
        return mpmath.ncdf(mu / 2 - x / mu) - mpmath.exp(x) * mpmath.ncdf(-mu / 2 - x / mu)

    for epsilon in (mu * mu / 2, mu * mu / 2 + 3 * mu, mpf(1) / 2):
        x = Fraction(mpmath.nstr(epsilon, 5))
        for row in b.account(what, epsilon=x).rows:
            if row.bound is not None:
                assert encloses(row.bound.lower, delta(exact(x)), row.bound.upper), (row.id, x, row.bound)


def test_the_reference_itself() -> None:
    """The enumeration's ε and δ are inverse to each other."""
    pair = Pair(product(response(Fraction(1, i + 1), Fraction(1, 1000)) for i in range(4)))
    for delta in map(mpf, ("0.01", "0.1", "0.4")):
        assert mpmath.almosteq(pair.delta(pair.epsilon(delta)), delta, rel_eps=REFERENCE)
    assert len(product([response(Fraction(1), Fraction(1, 9))] * 4)) == 3**4 + 3**4 - 2**4


@pytest.mark.parametrize("points", [40, 80, 200, 800])
@pytest.mark.parametrize(
    "question", [{"delta": "1e-3"}, {"delta": "1e-6"}, {"epsilon": "1/2"}, {"epsilon": 1}], ids=str
)
def test_the_approximation_encloses_the_optimum(
    points: int, question: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On lattices so coarse that the rounding shows, the approximate answer lies around the exact one."""
    what = sum((b.Declared(b.PureDP(e)) * 2 for e in ("1/10", "1/7", "3/5")), b.Composition())
    exact = b.account(what, **question, theorems=["mv16"]).bound
    for limit, value in (("MOST_TOTALS", 1), ("MOST_POINTS", points), ("WORTHWHILE", 100.0)):
        monkeypatch.setattr(mv16, limit, value)
    found = b.account(what, **question, theorems=["mv16"]).bound
    assert "lattice" in found.because
    assert found.lower <= exact.upper
    assert found.upper >= exact.lower
