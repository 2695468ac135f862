"""Numbers: exact input, balls and their ends, searches, hulls, printed digits, formulas, integrals."""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import acb, arb, fmpq
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import MPContext

import bursar as b
from bursar.numerics.balls import ball, down, down_fraction, positive_part, square, up, up_fraction, working
from bursar.numerics.convex import falling_convex_minorant, interpolate
from bursar.numerics.formula import Formula
from bursar.numerics.interval import Interval
from bursar.numerics.quadrature import real_integral
from bursar.numerics.real import read, read_text
from bursar.numerics.search import crossing
from bursar.numerics.shown import shown

mp = MPContext()
mp.dps = 30
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
RATIOS = st.fractions(max_denominator=10**60)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(
    lambda d: len(d.as_tuple().digits) <= 100 and abs(d.as_tuple().exponent) <= 800
)


@given(st.one_of(FLOATS, RATIOS, DECIMALS, st.integers(-(10**90), 10**90)))
@example(5e-324)
@example(1e300)
@example(-0.0)
@example(Decimal("1e-500"))
def test_numbers_survive_their_text(number: Any) -> None:
    """A number read, written and read again is the same number with the same readings."""
    once = read(number, "x")
    again = read_text(once.text(), "x")
    assert (Fraction(again), again.low, again.high) == (Fraction(once), once.low, once.high)


def test_numbers_compare_with_floats() -> None:
    """A number read from input compares with a float as numbers do."""
    half = read(0.5, "x")
    assert half == 0.5
    assert 0.25 < half < 0.75


def test_long_ratios_survive_their_text() -> None:
    """A ratio that is accepted as input can be read back, however many digits it has."""
    long = read(Fraction(1, 3**500), "x")
    assert read_text(long.text(), "x") == long


@given(FLOATS)
def test_floats_cover_both_readings(number: float) -> None:
    """A float is its shortest decimal, covers its binary value, and its ball covers both."""
    found = read(number, "x")
    assert Fraction(found) == Fraction(repr(number))
    assert found.low <= Fraction(number) <= found.high
    assert {found.low, found.high} == {Fraction(number), Fraction(repr(number))}
    with working(1100):
        for reading in (found.low, found.high):
            assert ball(found).overlaps(arb(fmpq(reading.numerator, reading.denominator)))
    assert read(np.float64(number), "x") == found


def test_floats_and_strings_name_the_same_mechanism() -> None:
    """0.1 and "0.1" are equal values, though only the float covers its binary reading."""
    assert b.Gaussian(0.1) == b.Gaussian("0.1") == b.Gaussian(Fraction(1, 10)) == b.Gaussian(Decimal("0.1"))
    assert hash(b.Gaussian(0.1)) == hash(b.Gaussian("0.1"))
    assert b.Gaussian("0.1").sigma.exact
    assert not b.Gaussian(0.1).sigma.exact


@pytest.mark.parametrize(
    "wrong", [math.nan, math.inf, True, None, "one", "1/0", "1e9999", "0x10", "1__0", "_10", "10_", [1], 1j]
)
def test_no_numbers_are_refused(wrong: Any) -> None:
    """What is no finite number is refused, by the argument's name."""
    with pytest.raises(b.InputError, match="sigma") as refusal:
        read(wrong, "sigma")
    assert refusal.value.argument == "sigma"


@given(RATIOS, st.fractions(min_value=0, max_value=1, max_denominator=10**9), st.integers(-1100, 1100))
def test_ends_are_outward(middle: Fraction, radius: Fraction, scale: int) -> None:
    """The float and the fraction above (below) a ball are at least (at most) all of it, also where floats run out."""
    with working():
        found = (ball(middle) + arb(0, 1) * ball(radius)) * arb(2) ** scale
    low, high = (middle - radius) * Fraction(2) ** scale, (middle + radius) * Fraction(2) ** scale
    assert down_fraction(found) <= low <= high <= up_fraction(found)
    assert up(found) == math.inf or Fraction(up(found)) >= high
    assert down(found) == -math.inf or Fraction(down(found)) <= low
    assert Interval.of(found) == Interval(down(found), up(found))
    near = float(middle)
    assert up(arb(near)) == down(arb(near)) == near


def test_numbers_too_small_for_a_fraction_stay_on_their_side() -> None:
    """A positive ball of any size has a positive fraction above it, and none below 0 under it."""
    with working():
        for scale in (-1000, -9000, -100_000):
            tiny = arb(2) ** scale
            assert up_fraction(tiny) > 0
            assert up_fraction(tiny) >= Fraction(1, 2**-scale) >= down_fraction(tiny) >= 0
            assert up_fraction(-tiny) <= 0


def test_undetermined_balls_leave_as_infinities() -> None:
    """A ball that knows nothing bounds nothing."""
    for unknown in (arb("nan"), arb(0, "inf"), arb(1) / arb(0, 1)):
        assert (down(unknown), up(unknown)) == (-math.inf, math.inf)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_positive_parts_and_squares(middle: float, radius: float) -> None:
    """max(x, 0) and x² cover every member of the ball."""
    with working():
        x = arb(middle, radius)
        for member in (Fraction(middle), Fraction(middle) - Fraction(radius), Fraction(middle) + Fraction(radius)):
            assert positive_part(x).overlaps(ball(max(member, Fraction(0))))
            assert square(x).overlaps(ball(member * member))
        assert up(positive_part(x)) >= 0


def test_positive_part_never_reaches_below_zero() -> None:
    """The lower end of max(x, 0) is not negative."""
    with working():
        assert min(down(positive_part(x)) for x in (arb(0.3, 1), arb(0, 1), arb(-1, 3))) >= 0


@given(st.floats(1e-6, 1e6), st.floats(0.1, 20), st.floats(1e-12, 0.99), st.integers(0, 2))
def test_crossing_is_certified(scale: float, power: float, target: float, kind: int) -> None:
    """Falling functions are above the target left of the interval and at most the target right of it."""
    falling = [
        lambda x: (-((arb(x) / scale) ** power)).exp() if x else arb(1),
        lambda x: 1 / (1 + arb(x) / scale) ** power,
        lambda x: arb(1) if x < scale else arb(target) / 2,
    ][kind]
    with working():
        found = crossing(falling, arb(target))
        assert found.upper < math.inf
        assert falling(found.upper) <= arb(target)
        assert found.lower == 0 or falling(found.lower) > arb(target)
        assert found.width <= 1e-12 * found.upper


@pytest.mark.parametrize("guess", [0.01, 0.9, 1.0, 1.1, 300.0])
@pytest.mark.parametrize("radius", [1e-3, 0.1])
def test_crossing_looks_at_whole_balls(radius: float, guess: float) -> None:
    """Where the function is known roughly, every function within its balls crosses inside the interval."""

    def falling(x: float) -> arb:
        return arb(1, radius) / (1 + arb(x))

    with working():
        found = crossing(falling, arb(1) / 2, guess=guess)
        assert falling(found.upper) <= arb(1) / 2
        assert falling(found.lower) > arb(1) / 2
        assert found.lower <= 1 - 2 * radius
        assert found.upper >= 1 + 2 * radius


@pytest.mark.parametrize("close", [1e-2, 1e-6, 1e-9])
@pytest.mark.parametrize("radius", [0.0, 1e-4, 0.1, 0.9])
def test_crossing_is_no_closer_than_asked(radius: float, close: float) -> None:
    """Where a width is asked both ends are proved all the same, as far apart as that or as the balls make them, and
    few places are looked at.
    """
    looked = []

    def falling(x: float) -> arb:
        looked.append(x)
        return (-arb(x)).exp() * (1 + arb(0, radius))

    with working():
        found = crossing(falling, arb(1) / 1000, guess=3.0, close=close)
        assert found.lower == 0 or falling(found.lower) > arb(1) / 1000
        assert falling(found.upper) <= arb(1) / 1000
        unsure = math.log1p(radius) - math.log1p(-radius)
        assert found.upper <= math.log(1000) + 3 * max(close * math.log(1000), math.log1p(radius)) * 2
        assert found.width <= 4 * max(close * math.log(1000), unsure)
    assert len(looked) < 40


def test_crossing_at_the_ends() -> None:
    """A function below the target everywhere crosses at 0, one above it everywhere nowhere."""
    assert crossing(lambda x: arb(1) / 4, arb(1) / 2) == Interval(0.0, 0.0)
    assert crossing(lambda x: arb(1), arb(1) / 2).upper == math.inf
    assert crossing(lambda x: arb("nan") if x < 3 else arb(0), arb(1) / 2).lower == 0.0


@given(st.dictionaries(st.integers(0, 40), st.integers(0, 40), min_size=1, max_size=9))
def test_minorant_is_the_lower_envelope(points: dict[int, int]) -> None:
    """The curve is the largest convex non-increasing one below the points, by brute force over all chords."""
    ordered = sorted(points.items())
    corners = falling_convex_minorant([(arb(t), arb(h)) for t, h in ordered])
    for t in (Fraction(k, 3) for k in range(3 * ordered[0][0], 3 * ordered[-1][0] + 7)):
        pairs = [(*one, *two) for one, two in itertools.combinations(ordered, 2) if one[0] <= t <= two[0]]
        below = [h0 + (h1 - h0) * (t - t0) / (t1 - t0) for t0, h0, t1, h1 in pairs]
        below += [Fraction(h) for t0, h in ordered if t0 <= t]
        assert abs(interpolate(corners, ball(t)) - ball(min(below))) < 1e-10


def test_minorant_of_two_points_at_one_place() -> None:
    """Of two points at the same place the lower one counts, in whatever order they come."""
    for heights in ((3, 5), (5, 3)):
        corners = falling_convex_minorant([(arb(0), arb(9)), *((arb(1), arb(h)) for h in heights), (arb(4), arb(0))])
        assert interpolate(corners, arb(1)) == 3


@given(st.one_of(FLOATS, st.floats(-1e10, 1e10)), st.booleans(), st.integers(1, 17))
@example(999999999.9, True, 6)
@example(9.9999999e-5, True, 6)
def test_shown_errs_on_its_side(x: float, above: bool, digits: int) -> None:
    """Printed numbers are never below (above) the number, and off by at most a unit of their last digit."""
    printed = Fraction(shown(x, up=above, digits=digits))
    assert printed >= Fraction(x) if above else printed <= Fraction(x)
    assert abs(printed - Fraction(x)) <= abs(Fraction(x)) * Fraction(10) ** (1 - digits)
    assert (shown(math.inf, up=above), shown(-math.inf, up=above)) == ("inf", "-inf")


REFUSED = ["y", "x.real", "x[0]", "lambda: 1", "__import__('os')", "exp", "exp(x, 2)", "exp(z=x)", "x if x else 1"]
REFUSED += ["'a'", "True", "1j", "x < 1", "x and 1", "x // 2", "x % 2", "x @ x", "~x", "not x", "[x]", "x; x", "x = 1"]
REFUSED += [
    "open('f')",
    "exp(*[x])",
    "f'{x}'",
    "(x := 1)",
    "...",
    "None",
    "0x10",
    "1__000",
    "",
    " ",
    "x" * 401,
    "(" * 150,
]


@pytest.mark.parametrize("source", REFUSED)
def test_formulas_outside_the_list_are_refused(source: str) -> None:
    """Names, attributes, calls, comparisons and operators that are not listed are never evaluated."""
    with pytest.raises(b.InputError):
        Formula(source)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("exp(-abs(x))/2 + pi", lambda x: mp.exp(-abs(x)) / 2 + mp.pi),
        ("-x^3 + +2*x**2 - 1/3", lambda x: -(x**3) + 2 * x**2 - mp.mpf(1) / 3),
        ("log(2 + x)*sqrt(3 + x)", lambda x: mp.log(2 + x) * mp.sqrt(3 + x)),
        ("sinh(x)*cosh(x) - tanh(x)", lambda x: mp.sinh(x) * mp.cosh(x) - mp.tanh(x)),
        ("sin(x) + cos(x)*erf(x) + erfc(x)", lambda x: mp.sin(x) + mp.cos(x) * mp.erf(x) + mp.erfc(x)),
        ("(2 + x)**(1/2)", lambda x: mp.sqrt(2 + x)),
        ("1e-3*x + 2.5", lambda x: x / 1000 + mp.mpf(5) / 2),
    ],
)
def test_formulas_and_their_integrals(source: str, value: Any) -> None:
    """Values and integrals over [−1, 1] (split at 0) agree with 30 digits."""
    formula = Formula(source)
    with working():
        for x in (Fraction(-1, 2), Fraction(0), Fraction(7, 8)):
            expected = value(mp.mpf(x.numerator) / x.denominator)
            assert abs(formula.at(ball(x)) - arb(str(expected))) < 1e-18
        found = real_integral(formula, (arb(-1), arb(0), arb(1)))
        assert abs(found - arb(str(mp.quad(value, [-1, 0, 1])))) < 1e-18
        assert formula(acb(1, 1), True).is_finite()


@pytest.mark.parametrize(("start", "end", "sigma"), [(-3, 1, 0.5), (0, 2, 1), (-1, 5, 0.25), (1, 1.125, 3)])
def test_integrals_of_normal_densities(start: float, end: float, sigma: float) -> None:
    """The integral of a normal density is the difference of its distribution function."""
    with working():
        found = real_integral(lambda x, _: (-x * x / (2 * sigma * sigma)).exp(), (arb(start), arb(end)))
        expected = sigma * mp.sqrt(2 * mp.pi) * (mp.ncdf(mp.mpf(end) / sigma) - mp.ncdf(mp.mpf(start) / sigma))
        assert abs(found - arb(str(expected))) < 1e-25


def test_reals_keep_their_readings_through_arithmetic() -> None:
    """Reciprocals, multiples and half squares of a float cover those of both readings."""
    rng = random.Random(3)
    for number in (rng.uniform(1e-3, 1e3) for _ in range(300)):
        x, one, two = read(number, "x"), Fraction(number), Fraction(repr(number))
        assert 1 / two == x.reciprocal()
        assert x.reciprocal().low <= 1 / one <= x.reciprocal().high
        assert x.times(7).low <= 7 * one <= x.times(7).high
        assert x.half_square().low <= one * one / 2 <= x.half_square().high
