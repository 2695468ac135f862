"""An adaptive adversary, played out over all transcripts: no currency lets it exceed (ε, δ)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import pytest

import bursar as b
from bursar.ledger.budget.currencies import Currency, Refusal, currency_of
from bursar.ledger.budget.release import Release, release_of

Outcomes = tuple[tuple[float, float], ...]
"""(probability under P, loss) of each outcome."""


def outcomes(mechanism: b.Mechanism) -> Outcomes:
    """Of one direction, the leak as an infinite loss."""
    loss = mechanism.losses().remove
    rows = [(float(atom.mass), float(atom.loss)) for atom in loss.atoms()]
    leak = float(loss.infinite_mass())
    return tuple(rows + ([(leak, math.inf)] if leak else []))


class Adversary:
    """Chooses each release, or stops, by what makes δ(ε) largest; every transcript is played."""

    def __init__(self, currency: Currency, menu: list[b.Mechanism], epsilon: float, steps: int) -> None:
        self.currency, self.epsilon, self.steps = currency, epsilon, steps
        self.menu: list[tuple[Release, Outcomes]] = [(release_of(m), outcomes(m)) for m in menu]
        self.best = lru_cache(maxsize=None)(self._best)
        self.transcripts = 0

    def run(self) -> float:
        """The largest δ(ε) of any strategy."""
        return self.best(tuple(self.currency.opening().items()), 0.0, self.steps)

    def _best(self, state: tuple[tuple[str, Any], ...], loss: float, left: int) -> float:
        self.transcripts += 1
        now = 1.0 if loss == math.inf else max(0.0, -math.expm1(self.epsilon - loss))
        if not left or loss == math.inf:
            return now
        best = now
        for release, rows in self.menu:
            try:
                after = self.currency.step(dict(state), self.currency.price(release, dict(state)))
            except b.errors.CostInvalid:
                continue
            if isinstance(after, Refusal):
                continue
            following = tuple(after.items())
            best = max(best, math.fsum(p * self.best(following, loss + l, left - 1) for p, l in rows))
        return best


def response(epsilon: float) -> b.Mechanism:
    """Randomized response."""
    return b.RandomizedResponse(epsilon=epsilon)


MENUS = {
    "coarse": [response(0.3), response(0.55), response(0.9)],
    "mixed": [response(0.2), response(0.7), b.LeakyRandomizedResponse(epsilon=0.25, delta=0.002)],
    "skewed": [b.Table(["0.6", "0.4"], ["0.5", "0.5"]), b.Table(["0.05", "0.95"], ["0.03", "0.97"]), response(0.4)],
}
CURRENCIES: list[tuple[str, dict[str, Any]]] = [
    ("pure", {"epsilon": 1}),
    ("sums", {"epsilon": 1, "delta": 0.05}),
    ("advanced", {"epsilon": 1, "delta": 0.05, "leak": 0.01}),
    ("concentrated", {"epsilon": 1, "delta": 0.05, "leak": 0.01}),
    ("residue", {"epsilon": 1, "delta": 0.05, "leak": 0.01}),
    ("residue", {"epsilon": 2, "delta": 0.1, "leak": 0.01}),
    ("residue", {"epsilon": 0.7, "delta": 0.2, "leak": 0.05}),
    ("renyi", {"order": 8, "epsilon": 1.5, "delta": 0.05}),
]


@pytest.mark.parametrize("menu", MENUS)
@pytest.mark.parametrize(("name", "terms"), CURRENCIES)
def test_no_strategy_exceeds_the_target(name: str, terms: dict[str, Any], menu: str) -> None:
    """All transcripts of six steps: the largest δ(ε) stays within the scope's δ."""
    adversary = Adversary(currency_of(name, terms), MENUS[menu], float(terms["epsilon"]), steps=6)
    found = adversary.run()
    assert found <= float(terms.get("delta", 0)) + 1e-12
    assert adversary.transcripts > 2


@pytest.mark.parametrize(("name", "limit"), [("gdp", {"mu": "1.2"}), ("zcdp", {"rho": "0.6"})])
def test_no_strategy_exceeds_the_promise(name: str, limit: dict[str, str]) -> None:
    """The same for scopes whose promise is a curve: at every ε of a list, δ is within it."""
    promise = b.GDP(limit["mu"]) if name == "gdp" else b.ZCDP(limit["rho"])
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        found = Adversary(currency_of(name, limit), MENUS["coarse"], epsilon, steps=5).run()
        assert found <= float(b.convert(promise, b.ApproxDP, epsilon=epsilon).delta) + 1e-12


def test_the_harness_catches_what_is_no_filter() -> None:
    """Negative control: two fixed sequences that fit (ln 3, 1/9) exactly, offered adaptively, are caught."""

    class Growing(Currency):
        name = "growing"

        def __init__(self) -> None:
            super().__init__(currency_of("pure", {"epsilon": 1}).lines.values())  # type: ignore[arg-type]

        def terms(self) -> dict[str, str]:
            return {}

        def lessons(self, releases: Any) -> Any:
            return None

        def learn(self, lessons: Any) -> None:
            return None

        def price(self, release: Release, state: Any, late: Any = False) -> Any:
            return release

        known = price

        def step(self, state: Any, price: Any, into: Any = None, times: int = 1) -> Any:
            spent = state["epsilon"].spent
            first = price.text.startswith("randomized")
            allowed = (spent == 0 and first) or spent == 1
            if not allowed:
                return Refusal("epsilon", 1, state["epsilon"])
            return {"epsilon": state["epsilon"]._replace(spent=spent + 1)}

    menu = [response(math.log(2)), b.LeakyRandomizedResponse(epsilon=0.0, delta="1/9")]
    assert Adversary(Growing(), menu, math.log(3), steps=3).run() > 0.148
