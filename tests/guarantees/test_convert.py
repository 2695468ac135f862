"""The conversion graph, and what grouping, composing and sampling claim, against worst cases worked out here."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from mpmath import MPContext

import bursar as b
from bursar.guarantees import KINDS, Guarantee
from bursar.guarantees.convert import ARROWS
from bursar.numerics.balls import ball, up, working

mp = MPContext()
mp.dps = 30
SLACK = mp.mpf(10) ** -25
Rows = list[tuple[Any, Any]]


def _num(x: Any) -> Any:
    return mp.mpf(Fraction(x).numerator) / Fraction(x).denominator


def _hockey(rows: Rows, x: Any) -> Any:
    return mp.fsum(max(p - mp.exp(x) * q, 0) for p, q in rows)


def _divergence(rows: Rows, alpha: Any) -> Any:
    return mp.log(mp.fsum(p**alpha * q ** (1 - alpha) for p, q in rows)) / (alpha - 1)


def _response(epsilon: Any, leak: Any = 0) -> Rows:
    truth, d = 1 / (1 + mp.exp(-epsilon)), mp.mpf(leak)
    rows = [((1 - d) * truth, (1 - d) * (1 - truth)), ((1 - d) * (1 - truth), (1 - d) * truth)]
    return rows + ([(d, mp.mpf(0)), (mp.mpf(0), d)] if d else [])


def _gaussian(mu: Any, x: Any) -> Any:
    return mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu)


def _ranges(eta: Any) -> list[Rows]:
    """The two-point worst pairs of bounded range, for many places of the interval."""
    tops = [eta * k / 64 for k in range(1, 64)]
    masses = [(1 - mp.exp(t - eta)) / (1 - mp.exp(-eta)) for t in tops]
    return [[(p, p * mp.exp(-t)), (1 - p, 1 - p * mp.exp(-t))] for t, p in zip(tops, masses, strict=True)]


LEAK, ONE = _num("1/100"), mp.mpf(1)
RHO = mp.findroot(lambda e: e * mp.tanh(e / 2) - ONE / 2, 1) * (1 - SLACK)  # randomized response that is ½-zCDP
NORMAL, TOLD = [lambda x: _gaussian(ONE, x)], [lambda x: _hockey(_response(ONE), x)]
BOTH, LEAKY = [*NORMAL, lambda x: _hockey(_response(RHO), x)], [lambda x: _hockey(_response(ONE, LEAK), x)]
SOURCES: dict[str, tuple[Guarantee, list[Callable[[Any], Any]]]] = {
    "pure": (b.PureDP(1), TOLD),
    "leaking": (b.ApproxDP(1, "1/100"), LEAKY),
    "approximate": (b.ApproxDP(1, 0), TOLD),
    "range": (b.BoundedRange(1), [lambda x: max(_hockey(rows, x) for rows in _ranges(ONE))]),
    "gdp": (b.GDP(1), NORMAL),
    "zcdp": (b.ZCDP("1/2"), BOTH),
    "leaking zcdp": (b.ZCDP("1/2", "1/100"), [lambda x: LEAK + (1 - LEAK) * _gaussian(ONE, x)]),
    "tcdp": (b.TCDP("1/2", 12), BOTH),
    "renyi": (b.Renyi({2: 1, 8: 4}), BOTH),
    "renyi curve": (b.convert(b.GDP(1), b.Renyi), NORMAL),
    "profile": (b.Profile([(1, "1/100")]), LEAKY),
    "closed profile": (b.Profile([(1, 0)]), TOLD),
}
REFUSED = {
    ("leaking", "pure_dp"),
    ("leaking", "bounded_range"),
    ("leaking", "renyi"),
    ("leaking", "tcdp"),
    ("leaking", "gdp"),
    ("profile", "pure_dp"),
}
REFUSED |= {("leaking zcdp", "renyi"), ("leaking zcdp", "tcdp"), ("renyi curve", "tcdp")}
TIGHT = {(name, "profile") for name in ("pure", "leaking", "approximate", "gdp", "profile", "closed profile")}
TIGHT |= {("pure", "pure_dp"), ("gdp", "gdp"), ("approximate", "pure_dp"), ("closed profile", "pure_dp")}


def test_graph_is_complete() -> None:
    """Every ordered pair of languages has an arrow or a reason, except into (ε, δ), which needs a point."""
    assert set(ARROWS) == {(one, to) for one in KINDS.values() for to in KINDS.values() if to is not b.ApproxDP}


@pytest.mark.parametrize(("source", "target"), list(itertools.product(SOURCES, KINDS)))
def test_arrows(source: str, target: str) -> None:
    """A refused arrow gives its reason; an allowed one never promises less δ than the source's worst case needs."""
    (promise, worst), to = SOURCES[source], KINDS[target]
    arrow = ARROWS.get((next(kind for kind in KINDS.values() if isinstance(promise, kind)), to))
    if isinstance(arrow, str) or (source, target) in REFUSED:
        with pytest.raises(b.errors.ConversionRefused) as refusal:
            b.convert(promise, to)
        assert refusal.value.why == (arrow if isinstance(arrow, str) else refusal.value.why) != ""
        return
    with working():
        for x in map(Fraction, ("0", "3/10", "1", "2")):
            needed = max(f(_num(x)) for f in worst)
            found = b.convert(promise, to, epsilon=x) if to is b.ApproxDP else b.convert(promise, to)
            delta = up(found.delta_at(ball(x)))
            assert delta >= needed - SLACK
            assert (source, target) not in TIGHT or delta <= needed + mp.mpf(10) ** -10
            if to is b.ApproxDP and needed > 0:
                point = b.convert(promise, to, delta=Fraction(float(needed)) * Fraction(101, 100))
                assert all(f(_num(point.epsilon)) <= _num(point.delta) + SLACK for f in worst)


@pytest.mark.parametrize("alpha", ["3/2", "2", "7", "40"])
def test_renyi_arrows(alpha: str) -> None:
    """Pure, Gaussian and concentrated curves are their worst case's own; bounded range is above all its worst pairs."""
    order, a = Fraction(alpha), _num(alpha)
    with working():
        found = {
            name: b.convert(SOURCES[name][0], b.Renyi).at(ball(order)) for name in ("pure", "gdp", "range", "tcdp")
        }
        assert abs(found["pure"] - arb(str(_divergence(_response(ONE), a)))) < 1e-20
        assert abs(found["gdp"] - ball(order / 2)) < 1e-20
        assert found["tcdp"] == math.inf if order > 12 else abs(found["tcdp"] - ball(order / 2)) < 1e-20
        assert up(found["range"]) >= max(_divergence(rows, a) for rows in _ranges(ONE))
        assert _num(b.convert(b.BoundedRange(1), b.ZCDP).rho) * a >= max(_divergence(rows, a) for rows in _ranges(ONE))
        assert _num(b.convert(b.PureDP(1), b.ZCDP).rho) * a >= _divergence(_response(ONE), a)
        assert abs(ball(b.convert(b.PureDP(1), b.ZCDP).rho) - (arb(1) / 2).tanh()) < 1e-20
        assert abs(b.convert(b.PureDP(1), b.GDP).delta_at(arb(0)) - (arb(1) / 2).tanh()) < 1e-20


def test_composing_and_worst() -> None:
    """GDP adds squares, zCDP, tCDP and Rényi add up, leaks multiply out, and the worst of several covers each."""
    with working():
        mu = b.GDP.compose([(b.GDP("1/2"), 1), (b.GDP(1), 2), (b.GDP("6/5"), 3)]).mu
        assert 0 <= _num(mu) - mp.sqrt(_num("1/4") + 2 + 3 * _num("36/25")) < SLACK
        leaking = b.ZCDP.compose([(b.ZCDP("1/7", ".1"), 2), (b.ZCDP("1/3"), 3)])
        assert leaking.rho == Fraction(9, 7)
        assert 0 <= leaking.delta - Fraction(19, 100) < Fraction(1, 10**25)
        assert b.TCDP.compose([(b.TCDP("1/7", 9), 2), (b.TCDP("1/3", 5), 3)]) == b.TCDP("9/7", 5)
        curve = b.Renyi.compose([(b.Renyi({2: 1, 4: 3}), 2), (b.Renyi({3: "1/2"}), 5)])
        assert [up(curve.at(arb(a))) for a in (2, 3, 4)] == [4.5, 7.5, math.inf]
        for one, two in ((b.PureDP(1), b.PureDP(2)), (b.ZCDP(1), b.ZCDP(".1", ".2")), (b.TCDP(1, 9), b.TCDP(2, 3))):
            worst = type(one).worst([one, two])
            assert all(up(worst.delta_at(arb(1))) >= up(promise.delta_at(arb(1))) for promise in (one, two))
    for refused in (b.BoundedRange(1), b.Profile([(1, 0)])):
        with pytest.raises(b.errors.ConversionRefused):
            type(refused).compose([(refused, 2)])


def test_groups() -> None:
    """Along random chains of neighbours every group promise covers the ends; Gaussian groups are exact."""
    rng = random.Random(8)
    with working():
        for size in (2, 3, 5):
            for _ in range(25):
                weights = [[mp.mpf(rng.random()) + LEAK for _ in range(4)] for _ in range(size + 1)]
                chain = [[w / mp.fsum(row) for w in row] for row in weights]
                steps = [list(zip(*two, strict=True)) for one in itertools.pairwise(chain) for two in (one, one[::-1])]
                ends, x = list(zip(chain[0], chain[-1], strict=True)), Fraction(rng.randint(0, 12), 8)
                losses = [[mp.log(p / q) for p, q in rows] for rows in steps]
                pure, span = max(map(max, losses)), max(max(loss) - min(loss) for loss in losses)
                delta = max(_hockey(rows, _num(x)) for rows in steps)
                near = Fraction(float(delta))
                for promise in (b.ApproxDP(x, near).group(size), b.Profile([(x, near)]).group(size)):
                    assert up(promise.delta_at(ball(x * size))) >= _hockey(ends, _num(x) * size) - mp.mpf(10) ** -15
                loss = [mp.log(p / q) for p, q in ends]
                assert _num(b.PureDP(float(pure)).group(size).epsilon) >= max(loss) - mp.mpf(10) ** -12
                assert _num(b.BoundedRange(float(span)).group(size).eta) >= max(loss) - min(loss) - mp.mpf(10) ** -12
                curve = b.Renyi({a: float(max(_divergence(rows, a) for rows in steps)) for a in (2, 4, 8, 16)})
                assert up(curve.group(size).at(arb(2))) >= _divergence(ends, 2) - mp.mpf(10) ** -12
            assert (b.GDP(1).group(size), b.ZCDP(1).group(size)) == (b.GDP(size), b.ZCDP(size * size))
        for refused in (b.TCDP(1, 4), b.ZCDP(1, ".1")):
            with pytest.raises(b.errors.ConversionRefused):
                refused.group(2)


WITHOUT: dict[str, tuple[b.Mechanism, Callable[[Callable[[Any], Any]], Any]]] = {
    "gaussian": (b.Gaussian(1), lambda f: mp.quad(lambda x: mp.npdf(x) * f(x - ONE / 2), [-14, -5, 0, 5, 10, 22])),
    "laplace": (
        b.Laplace(1),
        lambda f: (f(-ONE) + f(ONE) / mp.e + mp.quad(lambda x: mp.exp(-x) * f(2 * x - 1), [0, 1])) / 2,
    ),
    "response": (b.RandomizedResponse(1), lambda f: (f(ONE) + mp.exp(ONE) * f(-ONE)) / (1 + mp.exp(ONE))),
}


@pytest.mark.parametrize("alpha", ["2", "3", "8", "3/2", "5/2", "23/4"])
@pytest.mark.parametrize("name", WITHOUT)
def test_sampled_renyi_curves(name: str, alpha: str) -> None:
    """A Poisson-sampled curve is above both directions, and at whole orders it is the remove direction itself."""
    (mechanism, under), order, a = WITHOUT[name], Fraction(alpha), _num(alpha)
    powers = {k: mp.log(under(lambda x: (1 + mp.expm1(x) / 10) ** k)) / (a - 1) for k in (a, 1 - a)}
    with working():
        found = b.PoissonSampled(mechanism, "1/10").promise(b.Renyi).at(ball(order))
        assert up(found) >= max(powers.values()) - SLACK
        assert order.denominator > 1 or abs(found - arb(str(powers[a]))) < 1e-20


LEAKING, TOLD_TWICE = _response(ONE, LEAK), _response(mp.mpf(2))
ON_SAMPLE: dict[str, tuple[b.Mechanism, Callable[[int], list[Any]]]] = {
    "response": (b.RandomizedResponse(2, relation="replace_one"), lambda s: [r[not s] for r in TOLD_TWICE]),
    "leaky": (b.Declared(b.ApproxDP(1, ".01"), relation="replace_one"), lambda s: [r[s % 2] for r in LEAKING]),
    "geometric": (
        b.DiscreteLaplace(2, relation="replace_one"),
        lambda s: [mp.tanh(ONE / 4) * mp.exp(-mp.mpf(abs(y - s)) / 2) for y in range(-150, 155)],
    ),
}


@pytest.mark.parametrize(("drawn", "size"), [(1, 2), (2, 4), (2, 5), (4, 5)])
@pytest.mark.parametrize("name", ON_SAMPLE)
def test_fixed_size_samples(name: str, drawn: int, size: int) -> None:
    """With every sample of a few bits enumerated, no divergence of replace-one neighbours exceeds its claim."""
    mechanism, law = ON_SAMPLE[name]
    outputs = []
    for ones in range(size + 1):
        laws = [law(sum(i < ones for i in sample)) for sample in itertools.combinations(range(size), drawn)]
        outputs.append([mp.fsum(column) / len(laws) for column in zip(*laws, strict=True)])
    with working():
        claims = [c.guarantee for c in b.FixedSizeSampled(mechanism, sample=drawn, population=size).claims()]
        assert claims
        for two, claim in itertools.product(itertools.pairwise(outputs), claims):
            rows = list(zip(*two, strict=True))
            for pair in (rows, [(q, p) for p, q in rows]):
                if isinstance(claim, b.Renyi):
                    assert all(_divergence(pair, a) <= up(claim.at(arb(a))) for a in (2, 2.5, 3, 6))
                else:
                    point = b.convert(claim, b.ApproxDP)
                    assert _hockey(pair, _num(point.epsilon)) <= _num(point.delta) + SLACK


def test_sampled_bounded_range() -> None:
    """A sampled exponential mechanism claims a bounded range only if every loss of a sampled pair fits into it."""
    # Two records, each sampled with probability ½; the first is replaced, the other is like its second reading. A
    # sample of one chooses a (utility −40 ± ½) or b (∓½), a sample of two c or d with the signs swapped, none e.
    one, two = (1 / (1 + mp.exp((40 - s) / (2 * ONE))) for s in (1, -1))
    length = mp.log((one + two) / (2 * two)) - mp.log(two / one)
    for claim in b.PoissonSampled(b.Exponential(1, relation="replace_one"), "1/2").claims():
        assert not isinstance(claim.guarantee, b.BoundedRange) or length <= _num(claim.guarantee.eta)


EXTREME = {"huge": b.ZCDP(10**30), "small": b.Renyi({3: 1}).group(4), "undecided": b.BoundedRange(2)}
EXTREME |= {"near": b.Renyi({"1.00000000000000000001": 1})}


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_promises_prove_little_or_nothing(name: str) -> None:
    """Huge ρ, orders at their limits and a δ that may be 0 give a large or an infinite ε, not an error nor 0."""
    with working():
        assert up(EXTREME[name].epsilon_at(arb(0, 1e-20) if name == "undecided" else arb(1e-6))) > 1


@pytest.mark.parametrize("points", [{2: 1, 8: 1}, {"1.5": "0.2", 4: "0.9", 16: 1}, {3: "0.1"}])
def test_a_curve_known_at_some_orders(points: dict[Any, Any]) -> None:
    """Beyond its last order it promises nothing, and the line that it is converted to is nowhere below it."""
    promise = b.Renyi(points)
    line = b.convert(promise, b.TCDP)
    last = max(Fraction(order) for order in points)
    with working():
        for step in range(1, 200):
            alpha = 1 + (last - 1) * Fraction(step, 200)
            assert not ball(line.rho) * ball(alpha) < promise.at(ball(alpha)), alpha
        assert not promise.at(ball(last) * 2).is_finite()
        assert not promise.at(ball(last + Fraction(1, 1000))).is_finite()
