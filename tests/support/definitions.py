"""The two output distributions of every mechanism, from their definitions, integrated or summed at thirty digits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from flint import arb
from mpmath import MPContext
from mpmath.libmp import to_rational

import bursar as b
from bursar.numerics.balls import ball

mp = MPContext()
mp.dps = 30
Density = Callable[[Any], Any]


def num(x: Any) -> Any:
    """A rational, perhaps written as text, with 30 digits."""
    return mp.mpf(Fraction(x).numerator) / Fraction(x).denominator


def contains(found: Any, value: Any, error: Any = 0, *, width: float = 1e-18) -> bool:
    """Whether a narrow ball meets the value widened by its own error."""
    slack = float(error + mp.mpf(10) ** -26 * (1 + abs(value)))
    wide = ball(Fraction(*map(int, to_rational(mp.mpf(value)._mpf_)))) + arb(0, slack)
    return bool(found.overlaps(wide)) and float(found.rad()) <= width * (1 + abs(float(value)))


class Lattice:
    """Two laws on countably many outcomes, by enumeration; a 0 is an exact 0."""

    def __init__(self, p: Sequence[Any], q: Sequence[Any]) -> None:
        self.rows = [(num(x), num(y)) if isinstance(x, str) else (x, y) for x, y in zip(p, q, strict=True)]

    def reversed(self) -> Lattice:
        """Q against P."""
        return Lattice([q for _, q in self.rows], [p for p, _ in self.rows])

    def sampled(self, rate: str) -> Lattice:
        """The record takes part with this probability."""
        r = num(rate)
        return Lattice([(1 - r) * q + r * p for p, q in self.rows], [q for _, q in self.rows])

    def integral(self, f: Callable[[Any, Any], Any], level: Any = None) -> tuple[Any, Any]:
        """Σ f(p, q) over the outcomes with p > e^level·q (all outcomes without a level)."""
        odds = None if level is None else mp.exp(level)
        return mp.fsum(f(p, q) for p, q in self.rows if odds is None or p > odds * q), mp.mpf(0)


class Curve:
    """Two densities on the line, by quadrature between the cuts; sign changes are found by scanning and bisecting."""

    def __init__(self, p: Density, q: Density, cuts: Sequence[Any]) -> None:
        self.p, self.q, self.cuts = p, q, sorted(set(map(mp.mpf, cuts)))

    def reversed(self) -> Curve:
        """Q against P."""
        return Curve(self.q, self.p, self.cuts)

    def sampled(self, rate: str) -> Curve:
        """The record takes part with this probability."""
        r, p, q = num(rate), self.p, self.q
        return Curve(lambda x: (1 - r) * q(x) + r * p(x), q, self.cuts)

    def _stretches(self, odds: Any) -> Iterator[tuple[Any, Any]]:
        def above(x: Any) -> bool:
            return bool(self.p(x) > odds * self.q(x))

        for left, right in itertools.pairwise(self.cuts):
            grid = [left + (right - left) * i / 12 for i in range(13)]
            changes = [_bisected(above, x, y) for x, y in itertools.pairwise(grid) if above(x) != above(y)]
            for x, y in itertools.pairwise([left, *changes, right]):
                if above((x + y) / 2):
                    yield x, y

    def integral(self, f: Callable[[Any, Any], Any], level: Any = None) -> tuple[Any, Any]:
        """∫ f(p, q) over {p > e^level·q} (the whole line without a level)."""
        total, error = mp.mpf(0), mp.mpf(0)
        for stretch in itertools.pairwise(self.cuts) if level is None else self._stretches(mp.exp(level)):
            value, missing = mp.quad(
                lambda t: f(self.p(t), self.q(t)), list(stretch), error=True, method="gauss-legendre"
            )
            total, error = total + value, error + missing
        return total, error


def _bisected(above: Callable[[Any], bool], x: Any, y: Any) -> Any:
    start = above(x)
    for _ in range(110):
        middle = (x + y) / 2
        x, y = (middle, y) if above(middle) == start else (x, middle)
    return (x + y) / 2


def _normal(sigma: str, first: dict[str, str], second: dict[str, str]) -> Curve:
    """Two mixtures of normal laws, {centre: weight}."""
    s = num(sigma)

    def mixture(parts: dict[str, str]) -> Density:
        weighted = [(num(c), num(w)) for c, w in parts.items()]
        return lambda x: mp.fsum(w * mp.exp(-(((x - c) / s) ** 2) / 2) for c, w in weighted) / (s * mp.sqrt(2 * mp.pi))

    centres = sorted(map(num, (*first, *second)))
    steps = (-14, -9, -6, -3, -1, 0, 1, 3, 6, 9, 14)
    return Curve(mixture(first), mixture(second), [c + s * k for c in (centres[0], centres[-1]) for k in steps])


def _laplace(scale: str) -> Curve:
    """Laplace noise around 1 and around 0."""
    c, steps = num(scale), (0, 1, 3, 8, 16, 30, 50, 75)
    cuts = [*(-c * k for k in steps), mp.mpf(1) / 3, mp.mpf(2) / 3, *(1 + c * k for k in steps)]
    return Curve(lambda x: mp.exp(-abs(x - 1) / c) / (2 * c), lambda x: mp.exp(-abs(x) / c) / (2 * c), cuts)


def _integers(weight: Callable[[int], Any], shift: int, reach: int) -> Lattice:
    """Integer noise with these weights around the shift and around 0."""
    total = mp.fsum(weight(y) for y in range(-reach, reach + 1))
    span = range(-reach, reach + shift + 1)
    return Lattice([weight(y - shift) / total for y in span], [weight(y) / total for y in span])


def _discrete_gaussian(sigma: str, shift: int) -> Lattice:
    s = num(sigma)
    return _integers(lambda y: mp.exp(-((y / s) ** 2) / 2), shift, int(13 * s) + 8)


def _discrete_laplace(scale: str, shift: int) -> Lattice:
    return _integers(lambda y: mp.exp(-abs(y) / num(scale)), shift, int(75 * num(scale)))


def _response(epsilon: str, leak: str = "0", categories: int = 2) -> Lattice:
    """Truth with odds e^ε against each other category, everything with probability ``leak``."""
    odds, d, none = mp.exp(num(epsilon)), num(leak), mp.mpf(0)
    lie = (1 - d) / (odds + categories - 1)
    same = [lie] * (categories - 2)
    leaks = ([d, none], [none, d]) if d else ([], [])
    return Lattice([odds * lie, lie, *same, *leaks[0]], [lie, odds * lie, *same, *leaks[1]])


def _densities(p: Density, q: Density, cuts: Sequence[str]) -> Curve:
    """Two functions, normalised between the first and the last cut."""
    raw = Curve(p, q, list(map(num, cuts)))
    first, second = raw.integral(lambda x, _: x)[0], raw.integral(lambda _, y: y)[0]
    return Curve(lambda x: p(x) / first, lambda x: q(x) / second, raw.cuts)


P, Q = ("1/2", "3/10", "1/5", "0"), ("2/5", "1/2", "0", "1/10")
HALF, ONE = {"0": "3/4", "1/2": "1/4"}, {"0": "1"}
LAWS: dict[str, tuple[b.Mechanism, Lattice | Curve]] = {
    "gaussian ½": (b.Gaussian("1/2"), _normal("1/2", {"1": "1"}, ONE)),
    "gaussian 3": (b.Gaussian(3), _normal("3", {"1": "1"}, ONE)),
    "group": (b.Group(b.Gaussian(2), 3), _normal("2", {"3": "1"}, ONE)),
    "laplace ½": (b.Laplace("1/2"), _laplace("1/2")),
    "laplace 2": (b.Laplace(2), _laplace("2")),
    "response 1": (b.RandomizedResponse(1), _response("1")),
    "response ¼": (b.RandomizedResponse("1/4"), _response("1/4")),
    "kary 3": (b.KaryRandomizedResponse(1, 3), _response("1", "0", 3)),
    "kary 9": (b.KaryRandomizedResponse("5/2", 9), _response("5/2", "0", 9)),
    "leaky 1": (b.LeakyRandomizedResponse(1, "1/1000"), _response("1", "1/1000")),
    "leaky 0": (b.LeakyRandomizedResponse(0, "1/10"), _response("0", "1/10")),
    "name and shame": (b.NameAndShame("1/5"), Lattice(("4/5", "1/5", "0"), ("4/5", "0", "1/5"))),
    "discrete gaussian ½": (b.DiscreteGaussian("1/2"), _discrete_gaussian("1/2", 1)),
    "discrete gaussian 5": (b.DiscreteGaussian(5), _discrete_gaussian("5", 1)),
    "discrete gaussian ½ by 3": (b.DiscreteGaussian("1/2", sensitivity=3), _discrete_gaussian("1/2", 3)),
    "discrete gaussian 2 by 3": (b.DiscreteGaussian(2, sensitivity=3), _discrete_gaussian("2", 3)),
    "discrete laplace": (b.DiscreteLaplace(2), _discrete_laplace("2", 1)),
    "discrete laplace by 4": (b.DiscreteLaplace(4, sensitivity=4), _discrete_laplace("4", 4)),
    "sampled gaussian": (b.PoissonSampled(b.Gaussian(1), "1/10"), _normal("1", {"1": "1"}, ONE).sampled("1/10")),
    "sampled gaussian ½": (b.PoissonSampled(b.Gaussian(".5"), ".5"), _normal(".5", {"1": "1"}, ONE).sampled(".5")),
    "mixture": (
        b.GaussianMixture(1, shifts=[2, 0, 1], weights=["1/100", "81/100", "18/100"]),
        _normal("1", {"0": "81/100", "1": "18/100", "2": "1/100"}, ONE),
    ),
    "mixture without rest": (
        b.GaussianMixture(2, shifts=[1, "5/2", 1], weights=["1/4", "1/2", "1/4"]),
        _normal("2", {"1": "1/2", "5/2": "1/2"}, ONE),
    ),
    "sampled mixture": (
        b.PoissonSampled(b.GaussianMixture("4/5", shifts=[1, 2], weights=["9/10", "1/10"]), "1/5"),
        _normal("4/5", {"1": "9/10", "2": "1/10"}, ONE).sampled("1/5"),
    ),
    "replaced gaussian": (
        b.PoissonSampled(b.Gaussian("3/4", relation="replace_one"), "1/4"),
        _normal("3/4", HALF, {"0": "3/4", "-1/2": "1/4"}),
    ),
    "sampled laplace": (b.PoissonSampled(b.Laplace(1), "1/4"), _laplace("1").sampled("1/4")),
    "sampled response": (b.PoissonSampled(b.RandomizedResponse(1), "1/4"), _response("1").sampled("1/4")),
    "sampled leak": (b.PoissonSampled(b.LeakyRandomizedResponse(1, ".1"), ".3"), _response("1", ".1").sampled(".3")),
    "sampled lattice": (b.PoissonSampled(b.DiscreteGaussian(1), "1/3"), _discrete_gaussian("1", 1).sampled("1/3")),
    "sampled geometric": (
        b.PoissonSampled(b.DiscreteLaplace(2, sensitivity=4), "1/3"),
        _discrete_laplace("2", 4).sampled("1/3"),
    ),
    "sampled table": (b.PoissonSampled(b.Table(P, Q), "2/5"), Lattice(P, Q).sampled("2/5")),
    "table": (b.Table(P, Q), Lattice(P, Q)),
    "pure": (b.Declared(b.PureDP("1/2")), _response("1/2")),
    "approximate": (b.Declared(b.ApproxDP(1, "1/100")), _response("1", "1/100")),
    "gdp": (b.Declared(b.GDP("3/2")), _normal("2/3", {"1": "1"}, ONE)),
    "densities": (
        b.Densities("1 + x/2", "1 + x*x", low=0, high=2),
        _densities(lambda x: 1 + x / 2, lambda x: 1 + x * x, ("0", "1", "2")),
    ),
    "densities with corners": (
        b.Densities("exp(-abs(x))", "exp(-abs(x - 1)*2)", low=-3, high=4, breaks=(0, 1)),
        _densities(lambda x: mp.exp(-abs(x)), lambda x: mp.exp(-2 * abs(x - 1)), ("-3", "-1", "0", "1", "2", "4")),
    ),
}
