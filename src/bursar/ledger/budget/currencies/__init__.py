"""The currencies, one file each, and why some popular shortcuts are none."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bursar.errors import InputError, described
from bursar.ledger.budget.amounts import exact
from bursar.ledger.budget.currencies._base import Currency as Currency
from bursar.ledger.budget.currencies._base import Sought as Sought
from bursar.ledger.budget.currencies._base import Unpriced as Unpriced
from bursar.ledger.budget.currencies._step import HELD as HELD
from bursar.ledger.budget.currencies._step import SPENT as SPENT
from bursar.ledger.budget.currencies._step import Into as Into
from bursar.ledger.budget.currencies._step import Price as Price
from bursar.ledger.budget.currencies._step import Refusal as Refusal
from bursar.ledger.budget.currencies._step import State as State
from bursar.ledger.budget.currencies.advanced import Advanced
from bursar.ledger.budget.currencies.concentrated import Concentrated
from bursar.ledger.budget.currencies.gdp import Gdp
from bursar.ledger.budget.currencies.pure import Pure
from bursar.ledger.budget.currencies.renyi import Renyi, order_limit
from bursar.ledger.budget.currencies.residue import Residue as Residue
from bursar.ledger.budget.currencies.splits import DEFAULT, Share, shares_of
from bursar.ledger.budget.currencies.sums import Sums
from bursar.ledger.budget.currencies.zcdp import Zcdp
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.rows import Balance as Balance
from bursar.losses.residue import VERSION

CURRENCIES = ("pure", "sums", "advanced", "concentrated", "residue", "zcdp", "renyi", "gdp")
CERTIFICATE = VERSION
"""The version of the certificates on which charges rest: the journal keeps it."""
LEAK_SHARE = Fraction(1, 100)
"""Of δ, for releases that leak, where nothing else is said."""

_GROWING = (
    "deciding on a composed curve as it grows is not a valid filter when parameters are chosen adaptively: within "
    "(ln 3, 1/9), randomized response with ln 2 may be followed by itself or by a leak of 1/9, each fitting exactly, "
    "and choosing between them by the first answer reaches δ = 4/27. Numerical accounting serves plans that are "
    "declared in advance: charge the whole composition at once"
)
_ANY_ORDER = (
    "admitting while some Rényi order is still within its budget is not a valid filter: the order that survives "
    "depends on the answers, and at (4, 1e-6) an adversary reaches δ = 1.28e-6. Fix one order with order=…"
)
NOT_FILTERS = {
    "numerical": _GROWING,
    "pld": _GROWING,
    "optimal": _GROWING,
    "fdp": _GROWING,
    "rdp": _ANY_ORDER,
    "any_order": _ANY_ORDER,
}


def find_here(missing: Unpriced) -> None:
    """Find prices in this thread, however long it takes."""
    for one in missing.sought:
        one.currency.find(one.releases, one.state, one.late)


@lru_cache(maxsize=4096)
def currency_with(name: str, terms: str, bases: tuple[Basis, ...] | None = None) -> Currency:
    """The currency of a scope, by its terms as the journal has them; equal ones share what they have found. With
    ``bases`` it asks no engine.
    """
    made = currency_of(name, json.loads(terms))
    if bases is not None:
        made.rest_on(bases)
    return made


def currency_of(name: str | None, terms: dict[str, Any]) -> Currency:
    """The currency with these terms; without a name, the strongest one that they describe."""
    given = {key: exact(value, key) for key, value in terms.items() if value is not None and key != "splits"}
    for key, value in given.items():
        if value < 0 or (value == 0 and key not in ("delta",)):
            raise InputError(f"{key} must be above 0, not {described(terms[key])}", argument=key)
    if given.get("delta", 0) >= 1:
        raise InputError(f"delta must be below 1, not {described(terms['delta'])}", argument="delta")
    chosen = _implied(given) if name is None else name
    if isinstance(chosen, str) and chosen in NOT_FILTERS:
        raise InputError(f"{chosen} is no currency: {NOT_FILTERS[chosen]}", argument="currency")
    if not isinstance(chosen, str) or chosen not in CURRENCIES:
        raise InputError(f"currency must be one of {', '.join(CURRENCIES)}, not {described(name)}", argument="currency")
    shares = DEFAULT if terms.get("splits") is None else shares_of(terms["splits"])
    if terms.get("splits") is not None and chosen != "residue":
        raise InputError(f"a {chosen} scope has no splits", argument="splits")
    return _make(chosen, given, shares)


def _implied(given: dict[str, Fraction]) -> str:
    if "rho" in given:
        return "zcdp"
    if "mu" in given:
        return "gdp"
    if "order" in given or "renyi" in given:
        return "renyi"
    return "residue" if given.get("delta") else "pure"


def _make(name: str, given: dict[str, Fraction], shares: tuple[Share, ...]) -> Currency:
    take = _Taker(name, given)
    if name == "pure":
        if given.get("delta"):
            raise InputError("a pure scope has no delta: leave it out, or choose another currency", argument="delta")
        take.optional("delta")
        return take.done(Pure(take("epsilon")))
    if name == "gdp":
        return take.done(Gdp(take("mu")))
    if name == "zcdp":
        return take.done(Zcdp(take("rho"), take.optional("delta") or Fraction(0)))
    if name == "renyi":
        return take.done(_renyi(take))
    epsilon, delta = take("epsilon"), take("delta")
    if name == "sums":
        return take.done(Sums(epsilon, delta))
    leak = take.optional("leak")
    leak = delta * LEAK_SHARE if leak is None else leak
    if not 0 < leak < delta:
        raise InputError("leak, the part of δ kept for releases that leak, must lie below delta", argument="leak")
    if name == "residue":
        return take.done(Residue(epsilon, delta, leak, shares))
    return take.done((Advanced if name == "advanced" else Concentrated)(epsilon, delta, leak))


def _renyi(take: _Taker) -> Renyi:
    order = take("order")
    if order <= 1:
        raise InputError("order must be above 1", argument="order")
    limit = take.optional("renyi")
    if limit is not None:
        return Renyi(order, limit, None, None)
    epsilon, delta = take("epsilon"), take("delta")
    return Renyi(order, order_limit(order, epsilon, delta), epsilon, delta)


class _Taker:
    """Hands out the terms that a currency needs, and refuses the ones that it does not."""

    def __init__(self, name: str, given: dict[str, Fraction]) -> None:
        self.name, self.given, self.taken = name, given, set[str]()

    def __call__(self, key: str) -> Fraction:
        value = self.optional(key)
        if value is None or value <= 0:
            raise InputError(f"a {self.name} scope needs {key}= above 0", argument=key)
        return value

    def optional(self, key: str) -> Fraction | None:
        self.taken.add(key)
        return self.given.get(key)

    def done(self, made: Currency) -> Currency:
        extra = sorted(set(self.given) - self.taken)
        if extra:
            raise InputError(f"a {self.name} scope takes no {', '.join(extra)}", argument=extra[0])
        return made
