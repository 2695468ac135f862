"""What a `Ledger` had before verbs were values, for one version: each former method, and what does its work now."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from bursar.ledger.arguments import key_of, reservation_id
from bursar.ledger.verbs.draw import Close, draw
from bursar.ledger.verbs.reserve import reserve
from bursar.ledger.verbs.spend import spend
from bursar.ledger.views import looks

if TYPE_CHECKING:
    from bursar.ledger.ledger import Ledger


def _to_spend(ledger: Ledger, scopes: Any, what: Any, *, delta: Any = None, cap: Any = None, **who: Any) -> Any:
    return ledger.request(spend(scopes, what, delta, cap), **who)


def _to_reserve(ledger: Ledger, scopes: Any, what: Any, *, ttl: Any, key: Any = None, **more: Any) -> Any:
    chosen, by = key_of(key), more.pop("by", None)
    return ledger.request(reserve(scopes, what, ttl, chosen, **more), key=chosen, by=by)


def _to_draw(ledger: Ledger, reservation: Any, amount: Any = None, *, cap: Any = None, **who: Any) -> Any:
    return ledger.request(draw(reservation, amount, cap), **who)


def _to_close(ledger: Ledger, reservation: Any, **who: Any) -> Any:
    return ledger.request(Close(reservation_id(reservation)), **who)


def _looking(look: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ledger, *given: look(ledger.office, *given)


_LOOKS: tuple[Callable[..., Any], ...] = (looks.states, looks.look_at, looks.held_by, looks.charged_by)
FORMER: dict[str, tuple[Callable[..., Any], str]] = {
    "to_spend": (_to_spend, "request(bursar.ledger.verbs.spend.spend(…))"),
    "to_reserve": (_to_reserve, "request(bursar.ledger.verbs.reserve.reserve(…))"),
    "to_draw": (_to_draw, "request(bursar.ledger.verbs.draw.draw(…))"),
    "to_close": (_to_close, "request(bursar.ledger.verbs.draw.Close(…))"),
    "find": (lambda ledger, missing: ledger.office.find(missing), "office.find"),
    "ask_store": (lambda ledger: ledger.store.answers(), "store.answers"),
    **{look.__name__: (_looking(look), f"looks.{look.__name__}(office, …)") for look in _LOOKS},
}


def former(ledger: Ledger, name: str) -> Callable[..., Any]:
    """A former method by its name, with a warning that says what it is now."""
    if name not in FORMER:
        raise AttributeError(f"a ledger has no {name!r}")
    method, now = FORMER[name]
    warnings.warn(f"Ledger.{name} is now {now}", DeprecationWarning, stacklevel=2)
    return partial(method, ledger)
