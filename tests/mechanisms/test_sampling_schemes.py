"""Samples of fixed size, with and without replacement, and truncated Poisson samples: check values and brute force."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from flint import arb
from scipy.stats import norm

import bursar as b
from bursar.errors import InputError, LossUnknown
from bursar.losses import Loss, nulled_sample, sampled_gaussian
from bursar.numerics.balls import ball, down, working
from bursar.numerics.binomial import at_least, weights

GOLDEN = {
    row["id"]: row for row in json.loads((Path(__file__).parents[1] / "golden" / "theory2_values.json").read_text())
}
REPLACE, ZERO = {"relation": "replace_one"}, {"relation": "zero_out"}
HALVED = {"a": ("1/2", 10, 1000), "b": (2, 100, 1000)}  # σ is noise over twice a record's norm there
TRUNCATED = {"a": (1, "1/100", 15, 1000), "b": (2, "1/10", 24, 200)}


def _without(case: str) -> b.Mechanism:
    sigma, sample, population = HALVED[case]
    return b.FixedSizeSampled(b.Gaussian(sigma, **REPLACE), sample=sample, population=population)


def _zeroed(case: str) -> b.Mechanism:
    sigma, sample, population = HALVED[case]
    return b.FixedSizeSampled(b.Gaussian(2 * b.Gaussian(sigma).sigma, **ZERO), sample=sample, population=population)


def _truncated(case: str, relation: str = "add_remove") -> b.Mechanism:
    sigma, rate, most, population = TRUNCATED[case]
    return b.TruncatedPoisson(b.Gaussian(sigma, relation=relation), rate, most=most, population=population)


def _with(draws: int, population: int, sigma: str) -> b.Mechanism:
    return b.WithReplacementSampled(b.Gaussian(sigma, **REPLACE), draws=draws, population=population)


def _cases() -> list[tuple[str, Callable[[], Loss], str]]:
    found: list[tuple[str, Callable[[], Loss], str]] = []
    for name in GOLDEN:
        parts = name.split(".", 2)
        if name.startswith(("T2.wor.a", "T2.wor.b")) and name[9:].replace(".", "").isdigit():
            found.append((name, lambda case=name[7]: _without(case).losses().remove, name[9:]))
        elif parts[1] == "wor0":
            case, direction, epsilon = parts[2].split(".", 2)
            side = "remove" if direction == "rem" else "add"
            found.append((name, lambda case=case, side=side: getattr(_zeroed(case).losses(), side), epsilon))
        elif parts[1] == "wr":
            draws, population, epsilon = parts[2].split(".", 2)
            sigma = "1/2" if draws == "10" else "2"
            found.append((name, lambda a=(int(draws), int(population), sigma): _with(*a).losses().remove, epsilon))
        elif parts[0] == "T3" and parts[2].startswith(("rem", "add", "zero")):
            direction, _, epsilon = parts[2].removeprefix("zero.").partition(".")
            side, relation = "remove" if direction == "rem" else "add", "zero_out" if "zero" in name else "add_remove"
            found.append(
                (name, lambda a=(parts[1], relation), side=side: getattr(_truncated(*a).losses(), side), epsilon)
            )
    return found


@pytest.mark.parametrize(("name", "loss", "epsilon"), _cases(), ids=[case[0] for case in _cases()])
def test_check_values(name: str, loss: Callable[[], Loss], epsilon: str) -> None:
    """Profiles at the values that were computed twice elsewhere, to all of their digits."""
    with working(200):
        value = float(loss().profile(ball(b.Gaussian(epsilon).sigma) if float(epsilon) else 0))
    assert value == pytest.approx(float(GOLDEN[name]["value"]), rel=1e-12, abs=1e-25)


def test_there_are_check_values() -> None:
    """None is passed over silently."""
    assert len(_cases()) == 35


def test_moments_and_the_mass_at_zero() -> None:
    """The Rényi divergence of order 2, the mass at 0, and two steps of the symmetric pair."""
    for case in "ab":
        loss = _without(case).losses().remove
        with working(128):
            assert float(loss.renyi(2)) == pytest.approx(float(GOLDEN[f"T2.wor.{case}.D2"]["value"]), rel=1e-14)
            middle = float(loss.cdf(0) - loss.below(0))
            assert middle == pytest.approx(float(GOLDEN[f"T2.wor.{case}.atom0"]["value"]), rel=1e-14)
            assert float(loss.cumulant(0).real) == pytest.approx(0, abs=1e-25)
            assert float(loss.cumulant(-1).real) == pytest.approx(0, abs=1e-25), "E[e^{−L}] is Q's whole mass"
    two = b.FixedSizeSampled(b.Gaussian(1, **REPLACE), sample=10, population=100) * 2
    assert float(GOLDEN["T2.wor.two"]["value"]) <= b.account(two, epsilon="0.5").delta.upper * (1 + 1e-12)
    assert b.account(two, epsilon="0.5").delta.upper == pytest.approx(float(GOLDEN["T2.wor.two"]["value"]), rel=1e-6)


def test_the_batch_is_filled_as_often_as_said() -> None:
    """τ, the rate of a full batch and the rate in all, against the check values and against direct sums."""
    for case, (_, rate, most, population) in TRUNCATED.items():
        made = _truncated(case)
        with working(128):
            full = made._full()
            kept = made._kept(full)
            drawn = (1 - full) * ball(made.rate) + full * kept
        for name, value in (("tau", full), ("rate", kept), ("eff", drawn)):
            assert float(value) == pytest.approx(float(GOLDEN[f"T3.{case}.{name}"]["value"]), rel=1e-14)
        q = float(b.PoissonSampled(b.Gaussian(1), rate).rate)
        direct = sum(
            math.comb(population - 1, k) * q**k * (1 - q) ** (population - 1 - k) for k in range(most, population)
        )
        assert float(full) == pytest.approx(direct, rel=1e-10)


def test_rare_full_batches_are_not_forgotten() -> None:
    """A tail far below the smallest float is still a positive number with digits."""
    tail = at_least(900, 1000, arb(1) / 1000)
    assert tail > 0
    assert float(tail.log()) == pytest.approx(math.lgamma(1001) - math.lgamma(901) - math.lgamma(101) - 6217.0, abs=0.5)
    listed = weights(50, arb(1) / 5, 1e-30)
    assert float(sum(listed, arb(0))) == pytest.approx(1, abs=1e-12)
    assert float(listed[7]) == pytest.approx(math.comb(50, 7) * 0.2**7 * 0.8**43)


X = np.linspace(-14, 16, 12001)


def _normal(middle: float, sigma: float) -> np.ndarray:
    cells = np.diff(norm.cdf(np.append(X, X[-1] + X[1] - X[0]) - (X[1] - X[0]) / 2, middle, sigma))
    return np.asarray(cells)


def _delta(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


def _batches(records: Sequence[float], last: float, size: int, sigma: float) -> np.ndarray:
    """The output's law of noise on the sum of a uniform batch."""
    everybody = [*records, last]
    sums = [sum(chosen) for chosen in itertools.combinations(everybody, size)]
    return sum((_normal(total, sigma) for total in sums), np.zeros_like(X)) / len(sums)


OTHERS = [(1, 1, 1), (-1, -1, -1), (0, 0, 0), (1, -1, 0), (1, 1, -1), (-1, 0, 0)]


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("relation", ["replace_one", "zero_out"])
def test_no_small_database_costs_more_without_replacement(size: int, relation: str) -> None:
    """All batches of four records of norm at most one, others and both values of the last as extreme as they may be; in
    one step and, with a second step whose database is chosen after the first answer, in two.
    """
    sigma, epsilon = 1.3, 0.4
    per_record = b.Gaussian(sigma / 2 if relation == "replace_one" else sigma, relation=relation)
    made = b.FixedSizeSampled(per_record, sample=size, population=4)
    pairs = []
    for others in OTHERS:
        for one in (1, -1):
            other = -one if relation == "replace_one" else 0
            laws = _batches(others, one, size, sigma), _batches(others, other, size, sigma)
            pairs += [(laws[0], laws[1], "remove"), (laws[1], laws[0], "add")]
    for first, second, side in pairs:
        for x in (0.0, 0.1, epsilon, 1.0):
            assert _delta(first, second, x) <= float(getattr(made.losses(), side).profile(x)) * (1 + 1e-6) + 1e-9
    # two steps: after answer y of the first pair the adversary picks the best second pair in the same direction
    by_side = {side: [pair for pair in pairs if pair[2] == side] for side in ("remove", "add")}
    levels = np.linspace(-12, 12, 241)
    if relation == "replace_one":  # either order is a pair of neighbours at every step
        by_side = {"remove": pairs, "add": pairs}
    for chosen in by_side.values():
        best = np.max([[_delta(p, q, level) for level in levels] for p, q, _ in chosen], axis=0)
        for p, q, _ in chosen[:4]:
            kept = (p > 1e-14) & (q > 1e-14)
            ratio = np.log(p[kept] / q[kept])
            reached = float(np.sum(p[kept] * np.interp(epsilon - ratio, levels, best)))
            assert reached <= b.account(made * 2, epsilon=epsilon).delta.upper * (1 + 1e-3) + 1e-5


@pytest.mark.parametrize("relation", ["add_remove", "zero_out", "replace_one"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_small_database_costs_more_when_batches_are_truncated(relation: str, most: int) -> None:
    """All Poisson samples of four records, cut to a uniform choice where too many: no δ is above the bound, and the
    lower end is one that all-zero others attain.
    """
    sigma, rate = 1.1, 0.6

    def law(records: Sequence[float]) -> np.ndarray:
        found = np.zeros_like(X)
        for drawn in itertools.product((0, 1), repeat=len(records)):
            chance = math.prod(rate if one else 1 - rate for one in drawn)
            inside = [value for value, one in zip(records, drawn, strict=True) if one]
            kept = list(itertools.combinations(inside, min(most, len(inside))))
            for chosen in kept:
                found += chance / len(kept) * _normal(sum(chosen), sigma)
        return found

    inner = b.Gaussian(sigma / 2 if relation == "replace_one" else sigma, relation=relation)
    made = b.TruncatedPoisson(inner, rate, most=most, population=4)
    bounded = made
    if relation == "add_remove":
        bounded = b.TruncatedPoisson(inner, rate, most=most, largest_population=9)
    for others in OTHERS:
        for one in (1, -1):
            second = {"add_remove": law(others), "zero_out": law([*others, 0]), "replace_one": law([*others, -one])}
            pair = law([*others, one]), second[relation]
            for x in (0.0, 0.1, 0.5, 1.5):
                for made_of in (made, bounded):
                    upper = made_of.losses()
                    assert _delta(*pair, x) <= float(upper.remove.profile(x)) * (1 + 1e-6) + 1e-9
                    assert _delta(*pair[::-1], x) <= float(upper.add.profile(x)) * (1 + 1e-6) + 1e-9
    (least,) = made.losses().least
    if relation != "replace_one":
        reached = _delta(law([0, 0, 0, 1]), law([0, 0, 0]), 0.5)
        assert float(least.remove.profile(0.5)) == pytest.approx(reached, rel=1e-4)


def test_an_inexact_population_needs_the_safe_form() -> None:
    """The exact formula falls as the population grows, so it must not be used for a bound: eleven records attain more
    than it says for a thousand, and the safe form covers both.
    """
    inner, rate = b.Gaussian(1), "1/2"
    exact = b.TruncatedPoisson(inner, rate, most=10, population=1000).losses().profile(0.5)
    eleven = b.TruncatedPoisson(inner, rate, most=10, population=11).losses()
    safe = b.TruncatedPoisson(inner, rate, most=10, largest_population=1000).losses().profile(0.5)
    assert float(exact) < 0.01 < 0.07 < float(eleven.least[0].profile(0.5)) <= float(safe)


def test_never_full_is_plain_poisson_and_always_full_takes_a_place() -> None:
    """With room for everybody nothing is cut; where everybody is drawn it is a sample of fixed size."""
    plain = b.PoissonSampled(b.Gaussian(2), "1/10") * 50
    roomy = b.TruncatedPoisson(b.Gaussian(2), "1/10", most=40, population=40) * 50
    assert b.account(roomy, delta=1e-6).epsilon == b.account(plain, delta=1e-6).epsilon
    everybody = b.TruncatedPoisson(b.Gaussian(2, **REPLACE), 1, most=10, population=40)
    fixed = b.FixedSizeSampled(b.Gaussian(2, **REPLACE), sample=10, population=40)
    assert float(everybody.losses().profile(0.3)) == pytest.approx(float(fixed.losses().profile(0.3)), rel=1e-12)


def test_intervals_hold_both_ends() -> None:
    """Compositions have a lower end that somebody attains, below the upper end; one fixed sample is known exactly."""
    fixed = b.FixedSizeSampled(b.Gaussian("1/2", **REPLACE), sample=10, population=1000)
    one, many = b.account(fixed, delta=1e-6).epsilon, b.account(fixed * 100, delta=1e-6).epsilon
    assert one.upper - one.lower < 1e-12
    poisson = b.PoissonSampled(b.Gaussian("1/2"), "1/100") * 100
    assert many.lower == pytest.approx(b.account(poisson, delta=1e-6).epsilon.lower, rel=1e-6)
    assert many.lower < many.upper < 1.05 * many.lower
    cut = _truncated("a") * 100
    found = b.account(cut, delta=1e-6).epsilon
    effective = sampled_gaussian(arb(1), ball(b.Gaussian(GOLDEN["T3.a.eff"]["value"]).sigma))
    assert 0 < found.lower < found.upper
    assert float(effective.profile(found.lower)) < 1e-3


def test_the_order_of_directions_may_change_with_answers() -> None:
    """Two steps under replace_one where the second goes the other way after some answers cost more than either way kept
    to; the pair that bounds them covers it.
    """
    made = b.FixedSizeSampled(b.Gaussian(1, **REPLACE), sample=10, population=100) * 2
    upper = b.account(made, epsilon="0.05").delta
    assert upper.lower * (1 + 1e-4) >= 0.0439595
    assert upper.upper > 0.0460515
    assert upper.upper == pytest.approx(0.0481434, rel=1e-4)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: b.FixedSizeSampled(b.Gaussian(1), sample=1, population=2), "replaced or zeroed out"),
        (lambda: b.WithReplacementSampled(b.Gaussian(1, **ZERO), draws=1, population=2), "relation=replace_one"),
        (lambda: b.WithReplacementSampled(b.Gaussian(1, **REPLACE), draws=0, population=2), "draws"),
        (lambda: b.FixedSizeSampled(b.Gaussian(1, **REPLACE), sample=3, population=2), "at most the population"),
        (lambda: b.TruncatedPoisson(b.Laplace(1), "1/2", most=3, population=9), "gaussian noise"),
        (lambda: b.TruncatedPoisson(b.Gaussian(1), "1/2", most=3), "population"),
        (lambda: b.TruncatedPoisson(b.Gaussian(1), 0, most=3, population=9), "rate"),
        (lambda: b.TruncatedPoisson(b.Gaussian(1), "1/2", most=0, population=9), "most"),
        (lambda: b.TruncatedPoisson(b.Gaussian(1), "1/2", most=3, population=9, largest_population=9), "population"),
        (lambda: b.TruncatedPoisson(b.Gaussian(1, **ZERO), "1/2", most=3, largest_population=9), "public"),
    ],
    ids=range(10),
)
def test_what_cannot_be_is_refused_by_name(make: Callable[[], b.Mechanism], said: str) -> None:
    """Relations that do not fit, batches larger than the population, empty ones, and numbers that contradict."""
    with pytest.raises(InputError, match=said):
        make()


def test_pairs_that_are_not_symmetric_are_refused() -> None:
    """The formula of fixed samples needs one law in both directions; promises remain."""
    table = b.Table(["0.9", "0.1"], ["0.5", "0.5"], **REPLACE)
    with pytest.raises(LossUnknown, match="symmetric"):
        b.FixedSizeSampled(table, sample=1, population=2).losses()


def test_promises_for_one_number_of_records_stay_with_it() -> None:
    """A group of two that leaves a population of three costs more than a chain of two links of that population says
    (δ(0) = ⅔·(2Φ(1/1.5) − 1) = 0.3300, against 0.3212): groups, samples and blocks that change the number are refused.
    """
    cut = b.TruncatedPoisson(b.Gaussian("1.5"), 1, most=1, population=3)
    fixed = b.FixedSizeSampled(b.Gaussian(2, **REPLACE), sample=5, population=10)
    attempts: list[Callable[[], b.Mechanism]] = [
        lambda: b.Group(cut, 2),
        lambda: b.PoissonSampled(cut, "1/2"),
        lambda: b.PoissonSampled(fixed, "1/2"),
        lambda: b.PoissonSampled(b.Disjoint(cut), "1/2"),
        lambda: b.FixedSizeSampled(fixed, sample=9, population=100),
        lambda: b.Disjoint(cut, **REPLACE),
    ]
    for attempt in attempts:
        with pytest.raises(InputError, match="promises something for exactly"):
            attempt()
    assert b.FixedSizeSampled(fixed, sample=10, population=100).for_records() == 100
    safe = b.Group(b.TruncatedPoisson(b.Gaussian("1.5"), 1, most=1, largest_population=3), 2)
    assert b.account(safe, epsilon=0).delta.upper >= 2 / 3 * (2 * norm.cdf(1 / 1.5) - 1)
    assert b.Group(fixed, 2).relation == "replace_one", "there the number stays"


@pytest.mark.parametrize("rate", ["4/5", 0.8, 0.9, 0.99])
def test_likely_draws_have_digits(rate: float | str) -> None:
    """Rates near 1, exact or not: tails are known, and batches that are all but always full are answered."""
    chance = ball(b.PoissonSampled(b.Gaussian(1), rate).rate)
    q = float(chance)
    for count, draws in ((1, 6), (2, 6), (3, 6), (5, 10), (2, 11)):
        direct = sum(math.comb(draws, k) * q**k * (1 - q) ** (draws - k) for k in range(count, draws + 1))
        assert float(at_least(count, draws, chance)) == pytest.approx(direct, rel=1e-12)
    made = b.TruncatedPoisson(b.Gaussian(1), rate, most=1, population=1000)
    assert 0 < b.account(made, delta=1e-5).epsilon.upper < 100


@pytest.mark.parametrize(("sigma", "sample", "population"), [("4", 10, 100), ("1", 10, 1000), ("0.5", 3, 10)])
def test_records_that_become_null_among_opposed_ones(sigma: str, sample: int, population: int) -> None:
    """From below a null record among others that push the other way: δ of the two mixtures by quadrature is at least
    the lower end and close to it, and at most the upper one.
    """
    what = b.FixedSizeSampled(b.Gaussian(sigma, **ZERO), sample=sample, population=population)
    rate, noise = sample / population, float(sigma)
    x = np.linspace(-9, 2 / noise + 9, 400_001)
    one, two = (np.exp(-((x - shift / noise) ** 2) / 2) for shift in (1, 2))
    plain, step = np.exp(-x * x / 2), (x[1] - x[0]) / math.sqrt(2 * math.pi)
    p, q = ((1 - rate) * plain + rate * two, (1 - rate) * plain + rate * one)
    for epsilon in (0.02, 0.1, 0.4):
        found, odds = b.account(what, epsilon=epsilon).delta, math.exp(epsilon)
        truth = max(step * float(np.maximum(a - odds * c, 0).sum()) for a, c in ((p, q), (q, p)))
        assert truth <= found.upper * (1 + 1e-9)
        assert 0.98 * truth <= found.lower <= found.upper
    with working():
        table = nulled_sample(arb(noise), arb(sample) / population)
        for loss, (a, c) in ((table.remove, (p, q)), (table.add, (q, p))):
            for epsilon in (0.02, 0.1, 0.4):
                truth = step * float(np.maximum(a - math.exp(epsilon) * c, 0).sum())
                assert down(loss.profile(epsilon)) <= truth * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("relation", [REPLACE, ZERO], ids=["replace_one", "zero_out"])
def test_everybody_drawn_and_cut_is_a_sample_of_fixed_size(relation: dict[str, str]) -> None:
    """At rate 1 a batch of at most three of five records is a uniform choice of three."""
    cut = b.TruncatedPoisson(b.Gaussian(2, **relation), 1, most=3, population=5)
    fixed = b.FixedSizeSampled(b.Gaussian(2, **relation), sample=3, population=5)
    for epsilon in ("0.1", "0.5"):
        found, other = (b.account(one, epsilon=epsilon).delta for one in (cut, fixed))
        assert found.upper == pytest.approx(other.upper, rel=1e-9)
        assert found.lower <= other.upper
