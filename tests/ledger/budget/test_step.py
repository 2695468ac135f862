"""One step decides every charge: spending, reserving, importing, correcting and counting what fits do what it says."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bursar as b
from bursar.ledger.budget.currencies import HELD, SPENT, Balance, Currency, Price, Refusal, _step, currency_of, splits
from bursar.ledger.budget.currencies import _base as base
from bursar.ledger.budget.currencies._certificates import Finder
from bursar.ledger.budget.currencies._moves import drawn, filled, forfeited, given_back, relimited
from bursar.ledger.budget.currencies._step import step
from bursar.ledger.budget.release import release_of
from bursar.ledger.journal.rows import Split
from bursar.ledger.ledger import Ledger
from support.hands import TENTH, brought_in

LINES = ("epsilon", "delta")
amounts = st.integers(0, 40)
states = st.fixed_dictionaries(
    {line: st.builds(Balance, st.just(100), st.integers(0, 60), st.integers(0, 40), st.none()) for line in LINES}
)
prices = st.builds(Price, st.fixed_dictionaries(dict.fromkeys(LINES, amounts)), st.just(frozenset({"delta"})))


def outcome(*given: Any, **more: Any) -> Any:
    """The state after, or that there is none."""
    after = step(*given, **more)
    return None if isinstance(after, Refusal) else after


@given(states, prices, st.integers(1, 12))
def test_many_at_once_are_one_after_another(state: dict[str, Balance], price: Price, times: int) -> None:
    """The same state, or the same refusal."""
    now: Any = state
    for _ in range(times):
        now = None if now is None else outcome(now, price)
    assert outcome(state, price, times=times) == now


@given(states, prices)
def test_what_is_held_is_what_would_be_spent(state: dict[str, Balance], price: Price) -> None:
    """Setting aside takes the same amounts, within every limit; what cannot be given back is spent at once."""
    spent, held = outcome(state, price, SPENT), outcome(state, price, HELD)
    assert (spent is None) == (held is None)
    for line in LINES if spent else ():
        assert spent[line].left == held[line].left >= 0
        assert spent[line].spent - state[line].spent == price.amounts[line]
        assert held[line].spent == state[line].spent or line in price.fixed


@given(states, st.integers(0, 30))
def test_moves_keep_what_was_charged(state: dict[str, Balance], amount: int) -> None:
    """Draws and returns move what is held, and new limits keep the past."""
    for before in state.values():
        part = min(amount, before.held)
        assert drawn(before, part)[:3] == (before.limit, before.spent + part, before.held - part)
        assert given_back(before, part)[:3] == (before.limit, before.spent, before.held - part)
        assert relimited(before, amount, 5)[:3] == (amount, before.spent + 5, before.held)
        full, beyond = filled(before, amount)
        assert full.spent + beyond == before.spent + amount
        assert full.spent + full.held <= max(before.limit, before.spent + before.held)
        assert forfeited(before).left == 0


VERBS: dict[str, Callable[[Ledger, Any], Any]] = {
    "spend": lambda ledger, what: ledger.spend("data", what),
    "reserve": lambda ledger, what: ledger.reserve("data", what, ttl=1000),
    "import": lambda ledger, what: brought_in(ledger, "data", f"what\n{what}\n"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("limits", "menu"),
    [
        (
            {"epsilon": 1, "delta": "1e-6"},
            ["gaussian(sigma=30)", "laplace(scale=30)", "randomized_response(epsilon=0.2)"],
        ),
        ({"epsilon": 1, "delta": "1e-6", "currency": "sums"}, ["laplace(scale=7)", "name_and_shame(delta=1e-7)"]),
        ({"rho": "1/10"}, ["gaussian(sigma=5)", "laplace(scale=9)"]),
    ],
)
def test_each_verb_does_what_the_step_says(verb: str, limits: dict[str, Any], menu: list[str]) -> None:
    """The ledger's lines after each charge are the fold of steps, and it refuses when a step does."""
    name = limits.get("currency")
    currency = currency_of(name, {key: value for key, value in limits.items() if key != "currency"})
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", **limits)
        state: Any = currency.opening()
        ran: list[str] = []
        for number in range(30):
            what = menu[(number * number + number // 5) % len(menu)]
            expected = _stepped(
                currency, what, state, verb == "import" and bool(ran), HELD if verb == "reserve" else SPENT
            )
            try:
                VERBS[verb](ledger, what)
            except (b.BudgetExceeded, b.errors.CostInvalid):
                assert expected is None, (number, what)
                continue
            assert expected is not None, (number, what)
            state = expected
            ran.append(what)
            with ledger.store.reading() as reader:
                assert reader.balances("data") == dict(sorted(state.items()))
        assert len(ran) > 1


class Asked(Exception):
    """The step was asked."""


PURE = currency_of("pure", {"epsilon": 1})
DECIDING: dict[str, Callable[[Ledger, Any], Any]] = {
    "spend": lambda ledger, _: ledger.spend("data", TENTH),
    "reserve": lambda ledger, _: ledger.reserve("data", TENTH, ttl=1000),
    "correct": lambda ledger, first: ledger.correct(first, TENTH, reason="forgotten"),
    "import": lambda ledger, _: ledger.bring_in("data", "what\nlaplace(scale=10)\n"),
    "open": lambda ledger, _: ledger.open("other", epsilon=1, spent=[TENTH]),
    "quote": lambda ledger, _: ledger.quote("data", TENTH),
    "fits": lambda *_: PURE.fits(release_of(TENTH), PURE.opening()),
    "reprice": lambda ledger, _: ledger.verify(reprice=True),
}


@pytest.mark.parametrize("verb", DECIDING)
def test_no_verb_has_a_way_of_its_own(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them ask the one step, also where a way of their own would say the same: when it fails, so do they."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        first = ledger.spend("data", TENTH)  # from now on the price is known: nobody asks the step only to find it

        def fails(*_: Any, **__: Any) -> Any:
            raise Asked

        monkeypatch.setattr(Currency, "step", fails)
        with pytest.raises(Asked):
            DECIDING[verb](ledger, first)


def _stepped(currency: Currency, what: str, state: Any, late: bool, into: Any) -> Any:
    try:
        after = currency.step(state, currency.price(release_of(what), state, late), into)
    except b.errors.CostInvalid:
        return None
    return None if isinstance(after, Refusal) else after


def test_a_draw_multiplies_and_finds_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """148 different releases are reserved; while they are drawn, singly and all together, nothing is priced."""
    terms = [f"laplace(scale={1000 + number})" for number in range(148)]
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6", currency="sums")
        held = ledger.reserve("data", " + ".join(f"{term}*2" for term in terms), ttl=10_000)
        before = ledger.show("data").line("epsilon").held

        def never(*_: Any, **__: Any) -> Any:
            raise AssertionError("a price is being found")

        with monkeypatch.context() as drawing:
            drawing.setattr(base.Stateless, "price", never)
            for term in terms[:5]:
                ledger.draw(held, term)
        line = currency_of("sums", {"epsilon": 1, "delta": "1e-6"}).lines["epsilon"]
        cost = sum(line.price(Fraction(1, 1000 + number)) for number in range(5))
        assert ledger.show("data").line("epsilon").spent == cost * line.unit
        with monkeypatch.context() as drawing:
            drawing.setattr(base.Stateless, "price", never)
            ledger.draw(held)
        assert ledger.show("data").line("epsilon").spent == before
        assert ledger.show("data").line("epsilon").held == 0
        assert ledger.verify()


def test_prices_are_found_outside_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """On every verb and every level: while a transaction is open, nothing is priced."""
    inside: list[bool] = []
    asked = []
    real_writing, real_certified, real_ask = None, Finder.charge, base.Stateless.price
    with Ledger("memory://", alert=None) as ledger:
        real_writing = ledger.store.writing

        class Watched:
            def __init__(self, given: Any) -> None:
                self.given = given

            def __enter__(self) -> Any:
                inside.append(True)
                return self.given.__enter__()

            def __exit__(self, *problem: Any) -> Any:
                inside.pop()
                return self.given.__exit__(*problem)

        monkeypatch.setattr(ledger.store, "writing", lambda wait=True: Watched(real_writing(wait)))

        def certified(self: Any, *given: Any) -> Any:
            assert not inside
            asked.append(given)
            return real_certified(self, *given)

        def found(self: Any, *given: Any) -> Any:
            assert not inside
            asked.append(given)
            return real_ask(self, *given)

        monkeypatch.setattr(Finder, "charge", certified)
        monkeypatch.setattr(base.Stateless, "price", found)
        ledger.open("data", epsilon="1.01", delta="1e-6", spent=["laplace(scale=41)", "laplace(scale=42)*2"])
        ledger.open("data/team", parent="data", rho="1/7")
        for number in range(60):  # down several levels
            ledger.spend("data/team", "laplace(scale=43)", key=f"{number}")
        held = ledger.reserve("data/team", "laplace(scale=44)*4", ttl=1000)
        ledger.draw(held, "laplace(scale=44)")
        ledger.open("other", rho="1/6")
        ledger.bring_in("other", "what,count\nlaplace(scale=45),2\nlaplace(scale=46),1\n")
        wrong = ledger.spend("other", "laplace(scale=48)")
        ledger.correct(wrong, "laplace(scale=47)", reason="forgotten")
        assert len(asked) > 5
        assert ledger.verify(reprice=True)


def test_repricing_names_a_split_that_was_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger that once forgot to give a split up adds up, and repricing says where it did not."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        with monkeypatch.context() as forgetful:
            real = splits._paid

            def left_open(split: Split, payment: Any, **given: Any) -> Split:
                return split if payment is None else real(split, payment, **given)

            def paid(before: Any, payments: Any, *, held: bool, times: int = 1) -> Any:
                each = zip(before.each, payments, strict=True)
                return before._replace(each=tuple(left_open(*one, held=held, times=times) for one in each))

            forgetful.setattr(_step, "paid", paid)
            ledger.spend("data", b.Gaussian(sigma=50))
        assert ledger.verify()
        (found,) = ledger.verify(reprice=True).problems
        assert "entry 2 charged data and left a split open" in found


def test_a_reservation_on_many_blocks_is_written_once() -> None:
    """Unit prices are the same for all blocks, and stand in the journal once, however many there are."""
    terms = [f"laplace(scale={1000 + number})" for number in range(50)]
    sizes = []
    for blocks in (1, 40):
        with Ledger("memory://", alert=None) as ledger:
            ledger.open("data", epsilon=1)
            for number in range(blocks):
                ledger.open(f"data/{number}", parent="data", kind="block")
            held = ledger.reserve("data", " + ".join(terms), ttl=1000)
            ledger.draw(held, terms[0])
            sizes.append([len(one.entry.body) for one in ledger.entries("data")[-2:]])
            assert ledger.verify(reprice=True)
    assert all(many < few + 40 * 250 for few, many in zip(*sizes, strict=True))
