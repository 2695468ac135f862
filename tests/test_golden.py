"""Every value of the theory sheet, met by the library's own objects."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest
from flint import arb

import bursar as b
from bursar.guarantees import probabilistic
from bursar.guarantees.order import optimal_delta, simple_delta, simple_epsilon
from bursar.guarantees.sampled_renyi import sampled_curve
from bursar.losses import BoundedRangeLoss, DiscreteGaussianLoss, LaplaceLoss, TableLoss, connect_the_dots
from bursar.numerics.balls import ball, down_fraction, positive_part, up_fraction, working
from bursar.numerics.quadrature import integral
from bursar.numerics.real import Real
from bursar.theorems import Bound, kov15
from bursar.theorems._advanced import sums

SHEET = Path(__file__).parent / "golden" / "theory_values.json"
GOLDEN = {row["id"]: row for row in json.loads(SHEET.read_text(encoding="utf-8"))["values"]}
LATER = {
    "S7.": "filters and odometers: met in tests/ledger",
    "S4.br.ddr20.": "not valid for adaptively chosen queries, so it never decides a bound",
    **dict.fromkeys(("S2.inv.", "S2.crossover.", "S5.gauss.calib."), "planned for in test_plan.py"),
    **dict.fromkeys(
        ("S2.rho_", "S5.gauss.calib_"), "constants of the literature that no plan uses: the exact search replaces them"
    ),
}
NAMES = {"thm11": "strong", "dr14_320": "drv10", "steinke": "steinke"}
LAPLACE, NARROW = LaplaceLoss(arb(1)), Fraction(1, 10**12)
MIXED = [(Fraction(1, 10), 10), (Fraction(2, 10), 5), (Fraction(5, 10), 1)]


def given(name: str) -> SimpleNamespace:
    """The numbers in a row's inputs, exactly."""
    found = re.findall(r"([\w/]+)=(-?\d[\d.]*(?:e-?\d+)?)", GOLDEN[name]["inputs"])
    n = {key.replace("Delta/b", "eps").replace("1/t", "rate"): Fraction(number) for key, number in found}
    n["tail"] = n.get("delta_prime", n.get("delta_tilde"))
    n["terms"] = [(n.get("eps"), int(n["k"]))] if "k" in n else MIXED
    n["shift"] = int(n.get("Delta", 1))
    return SimpleNamespace(**{"eps": n.get("rate", 0) * n["shift"], **n})


def ask(theorem: str, what: b.Composition | b.Mechanism, **question: Fraction) -> Bound:
    """One theorem's bound; where it abstains everything is possible."""
    return b.account(what, **question, theorems=[theorem]).bound


def boxes(terms: Iterable[tuple[Any, int]], leak: Fraction = Fraction(0)) -> b.Composition:
    """Black boxes with these ε's, and one leak."""
    return b.Composition((b.Declared(b.ApproxDP(epsilon, leak)), count) for epsilon, count in terms)


def listed(name: str) -> b.Composition:
    """The black boxes of a row that lists their ε's and δ's, or its Gaussians by their μ's."""
    columns = [ast.literal_eval(text) for text in re.findall(r"[\[(].*?[\])]", GOLDEN[name]["inputs"])]
    if len(columns) == 1:
        return b.Composition((b.Gaussian(1 / Fraction(mu)), 1) for mu in columns[0])
    return b.Composition((b.Declared(b.ApproxDP(*pair)), 1) for pair in zip(*columns, strict=True))


def branch(n: SimpleNamespace, which: int) -> Any:
    """One branch of the three-branch bound."""
    total = sums([(b.ApproxDP(e, 0), count) for e, count in n.terms], lambda e: e * (e / 2).tanh())
    return kov15.branches(total, ball(n.tail))[which - 1]


def both(mechanism: b.Mechanism, what: str, v: SimpleNamespace) -> tuple[Any, Any]:
    """A functional of both directions' losses; the profile is read at half the largest loss."""
    name = {"var": "variance", "rdp": "renyi", "delta": "profile"}.get(what, what)
    at = {"renyi": lambda: (v.alpha,), "profile": lambda: (v.eps / 2,)}.get(name, tuple)()
    losses = mechanism.losses()
    return getattr(losses.remove, name)(*at), getattr(losses.add, name)(*at)


def sampled(n: SimpleNamespace, direction: str) -> Any:
    """The loss of a Poisson-sampled Gaussian."""
    return getattr(b.PoissonSampled(b.Gaussian(n.sigma), n.q).losses(), direction.replace("rem", "remove"))


def widest_pair(eta: Any) -> TableLoss:
    """Of the pairs with a loss range of length η the one with the largest divergence; its top is η − ln c."""
    mass = -(-eta).expm1()
    top = eta - (eta / mass).log()
    p, q = (1 - (top - eta).exp()) / mass, ((-top).exp() - (-eta).exp()) / mass
    return TableLoss.of([p, 1 - p], [q, 1 - q])


def lemma_3_6(n: SimpleNamespace) -> mpmath.mpf:
    """Bun and Steinke's δ."""
    a = (n.eps - n.rho) / (2 * n.rho)
    return mpmath.exp(-a * a * n.rho) * 2 / (1 + a + mpmath.sqrt((1 + a) ** 2 + 4 / (mpmath.pi * n.rho)))


def dots() -> TableLoss:
    """Connect-the-dots for a Laplace loss of ε = 1 on a grid of five."""
    grid = [arb(i) / 2 for i in range(-2, 3)]
    return connect_the_dots([(arb(0), arb(1)), *((x.exp(), LAPLACE.profile(x)) for x in grid)])


def dots_twice() -> Any:
    """δ(½) of that table with itself."""
    pairs = [(x, y) for x in dots().rows for y in dots().rows]
    return sum((positive_part(x.p * y.p - (arb(1) / 2).exp() * x.q * y.q) for x, y in pairs), arb(0))


def laplace_twice() -> Any:
    """δ(½) of two Laplace releases of ε = 1, by integrating the profile over the first loss."""
    half = arb(1) / 2
    inside = integral(lambda x, _: ((x - 1) / 2).exp() / 4 * (1 - ((half - x - 1) / 2).exp()), (-half, arb(1)))
    return inside.real + sum((atom.mass * LAPLACE.profile(half - atom.loss) for atom in LAPLACE.atoms()), arb(0))


LEAKS = sum((boxes([(Fraction(i, 10), 1)], Fraction(i, 10**6)) for i in (1, 2, 3)), b.Composition())
Rule = Callable[[SimpleNamespace, SimpleNamespace, "re.Match[str]"], Any]  # inputs as fractions, as balls, and the id

EXACT: dict[str, Rule] = {
    r"S1\.approx\.delta_tight": lambda n, v, m: ask("basic", LEAKS, epsilon=Fraction(6, 10)),
    r"S2\.optimal\.\d+": lambda n, v, m: ask("optimal", boxes(n.terms), delta=n.tail),
    r"S2\.kov3[45]\.branch(\d).*": lambda n, v, m: branch(n, int(m[1])),
    r"S3\.kov33.*": lambda n, v, m: ask("optimal", boxes(n.terms, n.delta), epsilon=(n.k - 2 * n.i) * n.eps),
    r"S3\.kov\.eps.*": lambda n, v, m: ask("optimal", boxes(n.terms, n.delta), delta=n.delta_g),
    r"S3\.mv16\.eps.*": lambda n, v, m: ask("mv16", listed(m[0]), delta=n.delta_g),
    r"S3\.mv16\.delta.*": lambda n, v, m: ask("mv16", listed(m[0]), epsilon=Fraction(1)),
    r"S4\.gauss\.delta.*": lambda n, v, m: [ask(x, b.Gaussian(1 / n.mu), epsilon=n.eps) for x in ("gdp", "single")],
    r"S4\.lap\.(\w+)\..*": lambda n, v, m: both(b.Laplace(1 / n.eps), m[1], v),
    r"S4\.rr\.(\w+)\..*": lambda n, v, m: both(b.RandomizedResponse(n.eps), m[1], v),
    r"S4\.dlap\.(\w+)\..*": lambda n, v, m: both(b.DiscreteLaplace(1 / n.rate, sensitivity=n.shift), m[1], v),
    r"S4\.leaky.*": lambda n, v, m: ask("single", b.LeakyRandomizedResponse(n.eps, n.d), epsilon=n.eps / 2),
    r"S4\.ns.*": lambda n, v, m: ask("optimal", b.NameAndShame(n.delta) * 100, epsilon=Fraction(1)),
    r"S4\.sg\.(rem|add)\..*": lambda n, v, m: sampled(n, m[1]).profile(v.eps),
    r"S4\.sg\.mean_(rem|add)\..*": lambda n, v, m: sampled(n, m[1]).mean(),
    r"S4\.sg\.rdp(_frac)?\..*": lambda n, v, m: sampled(n, "rem").renyi(v.alpha),
    r"S4\.br\.dom.*": lambda n, v, m: BoundedRangeLoss(v.eps).profile(v.eps / 2),
    r"S4\.br\.zcdp.*": lambda n, v, m: widest_pair(v.eps).mean(),
    r"S4\.dgauss\.rdp.*": lambda n, v, m: DiscreteGaussianLoss(v.sigma2, n.shift).renyi(v.alpha),
    r"S4\.dgauss\.delta.*": lambda n, v, m: DiscreteGaussianLoss(v.sigma2, n.shift).profile(v.eps),
    r"S4\.dgauss\.var.*": lambda n, v, m: DiscreteGaussianLoss(v.sigma2, 1).variance() * v.sigma2 * v.sigma2,
    r"S5\.rdp2dp\.cks\..*": lambda n, v, m: simple_epsilon(v.alpha, v.rdp, v.delta),
    r"S5\.rdp2dp\.cksdelta.*": lambda n, v, m: simple_delta(v.alpha, v.rdp, v.eps),
    r"S5\.c_alpha.*": lambda n, v, m: simple_delta(v.alpha, arb(0), arb(0)),
    r"S5\.tcdp2dp.*": lambda n, v, m: b.TCDP(n.rho, n.omega).closed_form_epsilon(v.delta),
    r"S5\.pure2approx.*": lambda n, v, m: b.PureDP(n.eps).delta_at(v.eps / 2),
    r"S5\.gdp\.eps.*": lambda n, v, m: ask("gdp", listed(m[0]), delta=Fraction("1e-6")),
    r"S5\.poisson_rdp\.lap\.\d": lambda n, v, m: sampled_curve("", LAPLACE.renyi, Real(n.q), factor=1).at(v.alpha),
    r"S5\.poisson_rdp\.lap\.zw19.*": lambda n, v, m: sampled_curve("", LAPLACE.renyi, Real(n.q), factor=3).at(v.alpha),
    r"S6\.ctd\.laplace\.(\d)": lambda n, v, m: dots().rows[int(m[1])].p,
    r"S6\.ctd\.sum": lambda n, v, m: sum((row.p for row in dots().rows), arb(0)),
    r"S6\.ctd\.k2\.upper": lambda n, v, m: dots_twice(),
    r"S6\.laplace\.k2\.exact": lambda n, v, m: laplace_twice(),
}
UPPER: dict[str, Rule] = {
    r"S2\.(thm11|dr14_320|steinke).*": lambda n, v, m: ask(NAMES[m[1]], boxes(n.terms), delta=n.tail),
    r"S5\.rdp2dp\.optimal.*": lambda n, v, m: optimal_delta(v.alpha, v.rdp, v.eps),
    r"S5\.zcdp2dp\.cks.*": lambda n, v, m: b.ZCDP(n.rho).epsilon_at(v.delta),
    r"S5\.zcdp2dp\.delta.*": lambda n, v, m: b.ZCDP(n.rho).delta_at(v.eps),
    r"S5\.pure2zcdp.*": lambda n, v, m: b.convert(b.PureDP(n.eps), b.ZCDP).rho,
    r"S5\.pure2gdp.*": lambda n, v, m: b.convert(b.PureDP(n.eps), b.GDP).mu,
    r"S5\.gdp\.comp.*": lambda n, v, m: listed(m[0]).promise(b.GDP).mu,
    r"S8\.group.*": lambda n, v, m: b.ApproxDP(n.eps, n.delta).group(int(n.k)).delta,
    r"S8\.pdp.*": lambda n, v, m: probabilistic(b.ApproxDP(n.eps, n.delta), eta=n.eta).delta,
}
WEAKER: dict[str, Rule] = {  # ours, and a weaker formula that is the printed one
    r"S1\.approx\.delta_sum": lambda n, v, m: (EXACT[r"S1\.approx\.delta_tight"](n, v, m), mpmath.mpf("6e-6")),
    r"S5\.rdp2dp\.mironov.*": lambda n, v, m: (
        EXACT[r"S5\.rdp2dp\.cks\..*"](n, v, m),
        mpmath.mpf(Fraction(n.rdp).numerator) / Fraction(n.rdp).denominator - mpmath.log(n.delta) / (n.alpha - 1),
    ),
    r"S5\.zcdp2dp\.basic.*": lambda n, v, m: (
        b.ZCDP(n.rho).epsilon_at(v.delta),
        n.rho + 2 * mpmath.sqrt(-n.rho * mpmath.log(n.delta)),
    ),
    r"S5\.zcdp2dp\.bs16.*": lambda n, v, m: (b.ZCDP(n.rho).delta_at(v.eps), lemma_3_6(n)),
}
SIMULATION, EXAMPLE, MISPRINTS = r"S0\.ex32\..*", r"S0\.simulation_map_example", r"S2\.seed003_WRONG\.\d+"


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """The exact ends of a ball, a bound or a number."""
    if isinstance(value, arb):
        return down_fraction(value), up_fraction(value)
    return (Fraction(value.lower), Fraction(value.upper)) if isinstance(value, Bound) else (value, value)


def named(*patterns: str) -> list[tuple[str, str]]:
    """Every id that one of the patterns describes, with that pattern."""
    return [(name, pattern) for pattern in patterns for name in GOLDEN if re.fullmatch(pattern, name)]


@pytest.mark.parametrize(("name", "pattern"), named(*EXACT, *UPPER, *WEAKER))
def test_row(name: str, pattern: str, widened: Any) -> None:
    """Two-sided values enclose the printed one, upper bounds are just above it, weaker formulas are not below us."""
    n, match, printed = given(name), re.fullmatch(pattern, name), GOLDEN[name]["value"]
    with working(), mpmath.workdps(30):
        v = SimpleNamespace(**{key: ball(x) for key, x in vars(n).items() if isinstance(x, Fraction)})
        found = (EXACT | UPPER | WEAKER)[pattern](n, v, match)
    least, most = widened(printed) if Fraction(printed) else (0, 0)  # a printed zero is an exact zero
    if pattern in WEAKER:
        assert mpmath.almosteq(found[1], mpmath.mpf(printed), rel_eps=1e-15)
        assert ends(found[0])[1] <= most
        return
    for low, high in map(ends, found if isinstance(found, (list, tuple)) else [found]):
        assert least <= high <= most * (1 + NARROW)
        assert pattern in UPPER or least * (1 - NARROW) <= low <= most


@pytest.mark.parametrize(("name", "_"), named(SIMULATION))
def test_laplace_simulation(name: str, _: str) -> None:
    """The map from a bit to Laplace noise has the printed mass and density, in floats."""
    simulation = b.lecture.LaplaceSimulation(given(name).eps)
    found = simulation.mass_below_zero() if "mass" in name else simulation.density(0.5, 0)
    assert found == pytest.approx(float(GOLDEN[name]["value"]), rel=1e-15)


def test_simulation_map() -> None:
    """The map of the worked example is the printed one, exactly."""
    found = b.lecture.simulation_map(["1/2", "1/4", "1/8", "1/8"], ["1/10", "1/10", "3/10", "1/2"], odds=2, delta="2/5")
    printed = {key: tuple(map(Fraction, law)) for key, law in GOLDEN["S0.simulation_map_example"]["value"].items()}
    assert printed == {"F0": found.zero, "F1": found.one, "FU": found.reveal_u, "FV": found.reveal_v}


@pytest.mark.parametrize(("name", "_"), named(MISPRINTS))
def test_misprints_appear_nowhere(name: str, _: str) -> None:
    """No theorem gives the value of the misprinted formula, in which ε stands under the root."""
    n, wrong = given(name), float(GOLDEN[name]["value"])
    bounds = [row.bound for row in b.account(boxes(n.terms), delta=n.tail).rows if row.bound is not None]
    assert len(bounds) >= 8
    assert all(abs(end / wrong - 1) > 1e-3 for bound in bounds for end in (bound.lower, bound.upper))


def test_relations_between_rows() -> None:
    """Connect-the-dots lies above the exact two-fold Laplace, which the account contains; promises lie above losses."""
    with working():
        bound, exact = b.account(b.Laplace(1) * 2, epsilon=Fraction(1, 2)).bound, laplace_twice()
        assert arb(bound.lower) <= exact <= arb(bound.upper)
        assert exact < dots_twice()
        for n in (given(name) for name, _ in named(r"S4\.br\.zcdp.*")):
            assert widest_pair(ball(n.eps)).mean() < b.BoundedRange(n.eps).concentrated()


def test_nothing_is_forgotten() -> None:
    """Every row of the sheet is checked once above, or named as later work."""
    checked = [name for name, _ in named(*EXACT, *UPPER, *WEAKER, SIMULATION, EXAMPLE, MISPRINTS)]
    later = [name for name in GOLDEN for prefix in LATER if name.startswith(prefix)]
    assert sorted(checked + later) == sorted(GOLDEN)
