"""Currencies: exact exhaustion, exact fits, golden budgets, and the laws of a filter."""

from __future__ import annotations

import inspect
import json
import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bursar as b
from bursar.guarantees import Claim, Tightness
from bursar.ledger.budget.amounts import PARTS, shown, units_down, units_up
from bursar.ledger.budget.currencies import CURRENCIES, NOT_FILTERS, Currency, Refusal, State, currency_of
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.views.odometer import line, mixture, stitched
from support.catalogue import EXAMPLES
from support.terms import TARGET, TERMS
from support.where import GOLDEN

SHEET = json.loads((GOLDEN / "theory_values.json").read_text(encoding="utf-8"))
GOLDEN = {row["id"]: row["value"] for row in SHEET["values"]}


def admitted(currency: Currency, what: object, state: State | None = None) -> int:
    """How many are admitted, one after another."""
    release, now, count = release_of(what), dict(state or currency.opening()), 0
    while True:
        after = currency.step(now, currency.price(release, now))
        if isinstance(after, Refusal):
            return count
        now, count = after, count + 1


@pytest.mark.parametrize("k", [1, 2, 3, 7, 11, 37, 40, 100, 200, 500, 1000])
def test_equal_shares_exhaust_a_limit_exactly(k: int) -> None:
    """k charges of limit/k are admitted and one unit more is not, in every currency whose price is the cost itself."""
    for name, what in {
        "pure": b.Declared(b.PureDP(Fraction(1, k))),
        "sums": b.Declared(b.ApproxDP(Fraction(1, k), Fraction(1, 10**6 * k))),
        "zcdp": b.Declared(b.ZCDP(Fraction(1, 50 * k), Fraction(1, 10**9 * k))),
        "residue": b.Declared(b.PureDP(Fraction(1, k))),
    }.items():
        currency = currency_of(name, TERMS[name])
        count = admitted(currency, what)
        assert count == k or (name == "residue" and count > k)
        assert currency.fits(release_of(what), currency.opening()) == count


def test_a_unit_more_is_refused() -> None:
    """After ten tenths nothing is left, and before the last one a single unit more than the rest is refused."""
    currency = currency_of("pure", {"epsilon": 1})
    state = currency.opening()
    for _ in range(9):
        after = currency.step(state, currency.price(release_of(b.Laplace(scale=10)), state))
        assert not isinstance(after, Refusal)
        state = after
    more = b.Declared(b.PureDP(Fraction(1, 10) + Fraction(1, PARTS)))
    refused = currency.step(state, currency.price(release_of(more), state))
    assert isinstance(refused, Refusal)
    assert refused.asked == refused.balance.left + 1
    last = currency.step(state, currency.price(release_of(b.Laplace(scale=10)), state))
    assert not isinstance(last, Refusal)
    assert last["epsilon"].left == 0


@pytest.mark.parametrize("what", [b.Laplace(scale=11) * 11, b.RandomizedResponse(epsilon=0.01) * 100])
def test_decimals_and_ratios_mean_what_they_say(what: b.Composition) -> None:
    """Eleven Laplaces of scale 11 exhaust ε = 1, and so do a hundred charges of the float 0.01."""
    currency = currency_of("pure", {"epsilon": 1})
    (term,) = what.terms
    assert admitted(currency, term.mechanism) == term.count
    after = currency.step(currency.opening(), currency.price(release_of(what), currency.opening()))
    assert not isinstance(after, Refusal)
    assert after["epsilon"].left == 0


@pytest.mark.parametrize("name", TERMS)
def test_fits_is_what_is_admitted(name: str) -> None:
    """For every currency and every mechanism of the catalogue, from the start and from the middle."""
    currency = currency_of(name, TERMS[name])
    small = [
        b.RandomizedResponse(epsilon=0.02),
        b.Gaussian(sigma=40.0),
        b.Laplace(scale=30.0),
        b.Declared(b.ApproxDP(0.03, 1e-10)),
        b.LeakyRandomizedResponse(epsilon=0.01, delta=1e-9),
        b.LeakyRandomizedResponse(epsilon=0.01, delta=5e-10),
        b.NameAndShame(delta=3e-10),
        b.RandomizedResponse(epsilon=0.02) * 3 + b.Laplace(scale=50.0),
    ]
    tried = 0
    for what in [*EXAMPLES[:10], *small]:
        release = release_of(what)
        state = currency.opening()
        for _ in range(2):
            try:
                assert currency.fits(release, state) == admitted(currency, what, state), (name, str(what))
                tried += 1
                after = currency.step(state, currency.price(release_of(small[0]), state))
                state = state if isinstance(after, Refusal) else after
            except b.errors.CostInvalid:
                break
    assert tried >= 6


@pytest.mark.parametrize("name", TERMS)
def test_a_repeated_release_costs_what_its_repetitions_do(name: str) -> None:
    """m*5 and five times m leave the same, on every line that adds up."""
    currency = currency_of(name, TERMS[name])
    one, five = release_of(b.RandomizedResponse(epsilon=0.01)), release_of(b.RandomizedResponse(epsilon=0.01) * 5)
    state = currency.opening()
    for _ in range(5):
        after = currency.step(state, currency.price(one, state))
        assert not isinstance(after, Refusal)
        state = after
    at_once = currency.step(currency.opening(), currency.price(five, currency.opening()))
    assert not isinstance(at_once, Refusal)
    for each, balance in state.items():
        if name == "residue":  # the whole may be cheaper than its parts, never dearer
            assert at_once[each].spent <= balance.spent
            every, others = (() if one.splits is None else one.splits.each for one in (at_once[each], balance))
            assert all(whole >= parts for whole, parts in zip(every, others, strict=True))
        else:
            assert at_once[each] == balance


def test_capacities() -> None:
    """Randomized responses with ε = 0.01 at (1, 1e-6): the published filter admits 349, the default at least 550."""
    response = b.RandomizedResponse(epsilon=0.01)
    found = {name: admitted(currency_of(name, TARGET), response) for name in ("sums", "advanced", "concentrated")}
    assert found["sums"] == 100
    assert found["advanced"] in (348, 349)  # 349 without a share of δ for leaks
    assert found["concentrated"] in (486, 487)
    best = currency_of(None, TARGET)
    assert best.name == "residue"
    assert 550 <= best.fits(release_of(response), best.opening()) <= 562
    assert admitted(best, b.RandomizedResponse(epsilon=0.05)) >= 20
    assert admitted(best, b.RandomizedResponse(epsilon=0.1)) == 10  # by plain sums
    wide = currency_of(None, {"epsilon": 4, "delta": 1e-6})
    assert 67 <= admitted(wide, b.RandomizedResponse(epsilon=0.1)) <= 74


def test_what_is_no_filter_is_refused() -> None:
    """Growing curves and any-order Rényi are refused by name, with the counterexample."""
    for name in NOT_FILTERS:
        with pytest.raises(b.InputError, match="not a valid filter"):
            currency_of(name, TARGET)


@pytest.mark.parametrize("name", [key for key in GOLDEN if key.startswith(("S7.rho", "S7.mu", "S7.rdp", "S7.odo"))])
def test_golden_budgets(name: str) -> None:
    """The limits that (ε, δ) targets become, and the odometers, against the sheet."""
    kind, *rest = name.removeprefix("S7.").split(".")
    value = float(GOLDEN[name])
    if kind == "odo":
        if rest[0] == "line_at_y":
            assert math.isclose(line(Fraction(1, 2), Fraction(1, 2), Fraction(1, 10**6)), value, rel_tol=1e-12)
            return
        v, delta = Fraction(".".join(rest[1:])), Fraction(1, 10**6)
        found = {
            "mixture": mixture(v, Fraction(1, 2), delta),
            "stitched": stitched(v, Fraction(1, 20), delta),
            "line": line(v, Fraction(1, 2), delta),
        }[rest[0]]
        assert math.isclose(found, value, rel_tol=1e-12)
        return
    epsilon, tiny = rest[0], Fraction(1, 10**30)
    if kind == "rdp_budget" and value < 0:
        with pytest.raises(b.InputError, match="larger order"):
            currency_of("renyi", {"order": rest[1], "epsilon": epsilon, "delta": "1e-6"})
        return
    terms = {"epsilon": epsilon, "delta": Fraction(1, 10**6) + tiny, "leak": tiny}
    limits = {
        "rho_star_basic": lambda: currency_of("advanced", terms).lines["half_squares"].limit,
        "rho_star_cks": lambda: currency_of("concentrated", terms).lines["rho"].limit,
        "mu_star": lambda: currency_of("residue", terms).lines["gaussian"].limit,
        "rdp_budget": lambda: (
            currency_of("renyi", {"order": rest[1], "epsilon": epsilon, "delta": "1e-6"}).lines["renyi"].limit
        ),
    }
    found_limit = float(limits[kind]())
    assert math.isclose(math.sqrt(found_limit) if kind == "mu_star" else found_limit, value, rel_tol=1e-10)


def test_golden_statistics_of_old_filters() -> None:
    """What Rogers et al. 2016 refuse, Whitehouse et al. 2023 admit: 200 releases of 0.01 at (1, 1e-6)."""
    currency = currency_of("advanced", {"epsilon": 1, "delta": "1e-6", "leak": "5e-7"})
    assert admitted(currency, b.RandomizedResponse(epsilon=0.01)) > 200
    rooted = math.sqrt(2 * math.log(1 / 5e-7) * 200 * 1e-4) + 200 * 1e-4 / 2
    assert math.isclose(rooted, float(GOLDEN["S7.whitehouse.same"]), rel_tol=1e-12)
    squares, scale = 200 * 1e-4, 1 / (28.04 * math.log(1e6))
    older = 200 * 0.01 * math.expm1(0.01) / 2 + math.sqrt(
        2 * (squares + scale) * (1 + math.log1p(squares / scale) / 2) * math.log(2e6)
    )
    assert math.isclose(older, float(GOLDEN["S7.rruv16"]), rel_tol=1e-12)
    assert older > 1


def test_golden_martingale() -> None:
    """A Gaussian step followed by the rest of its allowance is the Gaussian of the whole, by quadrature."""
    mpmath.mp.dps = 25
    whole, step, epsilon = mpmath.mpf("1.5"), mpmath.mpf("0.9"), mpmath.mpf(1)
    rest = mpmath.sqrt(whole**2 - step**2)

    def delta(mean: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.ncdf(mean / 2 - x / mean) - mpmath.exp(x) * mpmath.ncdf(-mean / 2 - x / mean)

    found = mpmath.quad(lambda l: mpmath.npdf(l, step**2 / 2, step) * delta(rest, epsilon - l), [-6, -2, 0, 1, 2, 4, 8])
    assert math.isclose(float(found), float(GOLDEN["S7.gdp.martingale"]), rel_tol=1e-12)
    assert math.isclose(float(delta(whole, epsilon)), float(GOLDEN["S7.gdp.martingale"]), rel_tol=1e-12)


@given(
    st.fractions(min_value=Fraction(1, 10**12), max_value=10**6),
    st.fractions(min_value=Fraction(1, 10**9), max_value=10**9),
)
def test_units_round_against_the_spender(cost: Fraction, limit: Fraction) -> None:
    """Costs up, limits down, against exact fractions; what is shown errs the same way."""
    unit = limit / PARTS
    assert (units_up(cost, unit) - 1) * unit < cost <= units_up(cost, unit) * unit
    if cost / unit < 2**63 - 1:
        assert units_down(cost, unit) * unit <= cost < (units_down(cost, unit) + 1) * unit
    assert Fraction(shown(cost, up=True)) >= cost >= Fraction(shown(cost, up=False))


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("pure", {"epsilon": 0}),
        ("pure", {"epsilon": -1}),
        ("pure", {"epsilon": float("nan")}),
        ("pure", {"epsilon": float("inf")}),
        ("pure", {"epsilon": "1e9999"}),
        ("pure", {"epsilon": True}),
        ("pure", {}),
        ("pure", {"epsilon": 1, "delta": "0.1"}),
        ("sums", {"epsilon": 1}),
        ("sums", {"epsilon": 1, "delta": 1}),
        ("sums", {"epsilon": 1, "delta": "1e-6", "rho": 1}),
        ("residue", {"epsilon": 1, "delta": "1e-6", "leak": "1e-6"}),
        ("residue", {"epsilon": 1, "delta": "1e-200"}),
        ("renyi", {"order": 1, "renyi": 1}),
        ("renyi", {"order": 8, **TARGET}),
        ("zcdp", {"rho": "0"}),
        ("gdp", {"mu": "one"}),
        ("money", {"epsilon": 1}),
        (None, {}),
    ],
)
def test_bad_terms_are_refused(name: str | None, terms: dict[str, Any]) -> None:
    """Every absurd limit gets a clear error."""
    with pytest.raises(b.InputError):
        currency_of(name, terms)


class TwoClaims(b.Mechanism):
    """A user's own class that makes two promises with leaks, and shows no losses."""

    name = "two_claims"
    relation = "add_remove"

    def text(self) -> str:
        """A written form."""
        return "two_claims()"

    def claims(self) -> tuple[Any, ...]:
        """Two of them."""
        return (
            Claim(b.ApproxDP("0.01", "1e-11"), "declared", Tightness.BOUND),
            Claim(b.ZCDP("1/20000", "1e-11"), "declared", Tightness.BOUND),
        )


def test_leaks_of_two_promises_are_both_paid() -> None:
    """Where the parts of splits rest on different promises, what leaks is charged for both."""
    currency = currency_of(None, TARGET)
    state = currency.opening()
    release = Release("two_claims()", None, "add_remove", (("two_claims()", 1),))
    release.__dict__["mechanisms"] = (TwoClaims(),)  # no text means it
    after = currency.step(state, currency.price(release, state))
    assert not isinstance(after, Refusal)
    splits, before = after["splits"].splits, state["splits"].splits
    assert splits is not None
    assert before is not None
    assert splits.each[0].gaussian < before.each[0].gaussian
    assert splits.each[-1].pure < before.each[-1].pure
    leak = after["delta"].spent * currency.lines["delta"].unit
    assert leak >= 2 * Fraction(1, 10**11)


class Twice(b.Laplace):
    """A user's own class with a catalogue's text: two releases at once."""

    def claims(self) -> tuple[Any, ...]:
        """2/scale."""
        return (Claim(b.PureDP(2 / self.scale), "declared"),)


def test_a_subclass_after_its_base_is_not_taken_for_it() -> None:
    """Nor the other way round: what is remembered of one is nothing to the other."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=10)
        ledger.spend("data", b.Laplace(scale=1))
        with pytest.raises(b.errors.CostInvalid, match=r"Twice is a class of your own"):
            ledger.spend("data", Twice(scale=1))
        ledger.spend("data", b.Laplace(scale=1))
        assert ledger.show("data").line("epsilon").spent == 2


@pytest.mark.parametrize("name", ["advanced", "concentrated", "residue"])
def test_what_is_kept_for_leaks_is_not_spent_on_the_tail(name: str) -> None:
    """Half of δ for leaks: the allowance is that of the other half alone, to the last unit."""
    half = {"epsilon": 1, "delta": Fraction(1, 10**6), "leak": Fraction(1, 2 * 10**6)}
    tiny = Fraction(1, 10**40)
    rest = {"epsilon": 1, "delta": Fraction(1, 2 * 10**6) + tiny, "leak": tiny}
    kept, alone = (next(iter(currency_of(name, terms).lines.values())).limit for terms in (half, rest))
    assert math.isclose(kept, alone, rel_tol=1e-12)


def test_a_scope_without_delta_admits_no_leak() -> None:
    """A promise that sets mass aside has no price where there is no δ for it."""
    currency = currency_of("zcdp", {"rho": 1})
    leaky = release_of(b.Declared(b.ZCDP("1/100", "1e-9")))
    with pytest.raises(b.errors.CostInvalid, match="leaks"):
        currency.price(leaky, currency.opening())


def test_odometer_needs_a_cost() -> None:
    """Releases without any price in a currency are refused with the reason, and change nothing."""
    currency = currency_of("pure", {"epsilon": 1})
    with pytest.raises(b.errors.CostInvalid, match="PureDP"):
        currency.price(release_of(b.Gaussian(sigma=1)), currency.opening())


@pytest.mark.parametrize("name", CURRENCIES)
def test_overlapping_sessions_rest_on_a_theorem(name: str) -> None:
    """Each currency names it; where a release may leak and none is known, sessions come one after another."""
    currency = currency_of(name, TERMS[name])
    leaks = name == "concentrated" or (name == "zcdp" and "delta" in currency.lines)
    assert currency.concurrent == (not leaks)
    doc = inspect.getdoc(inspect.getmodule(type(currency))) or ""
    said = doc.partition("\nConcurrent: ")[2]
    assert ("no theorem is known" in said) if leaks else said.startswith(("by Haney et al. 2023", "without leaks"))


def test_scopes_say_whether_sessions_may_overlap() -> None:
    """Among what is counted, and in JSON; ρ without δ has a theorem, ρ with δ has none."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("plain", rho="1/10")
        ledger.open("leaky", rho="1/10", delta="1e-6")
        assert "sessions: may overlap" in ledger.show("plain").counted()
        assert "sessions: one after another" in ledger.show("leaky").counted()
        assert ledger.show("plain").to_dict()["concurrent"] is True
        assert ledger.show("leaky").to_dict()["concurrent"] is False
