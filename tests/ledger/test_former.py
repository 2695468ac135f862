"""What a ledger was called by before goes on for one version, and says what it is called now."""

from __future__ import annotations

from typing import Any

import pytest

from bursar.ledger.budget.release import release_of
from bursar.ledger.former import FORMER
from bursar.ledger.ledger import Ledger


def test_every_former_method_does_what_it_did() -> None:
    """Requests are made and committed, scopes are looked at, the store is asked: with a warning each."""
    met: set[str] = set()
    with Ledger("memory://", alert=None) as ledger:

        def old(name: str, *given: Any, **more: Any) -> Any:
            met.add(name)
            with pytest.warns(DeprecationWarning, match=f"Ledger.{name} is now"):
                method = getattr(ledger, name)
            return method(*given, **more)

        ledger.open("data", epsilon=1)
        for what in ("laplace(scale=10)", "laplace(scale=10)*3"):
            assert ledger.quote("data", what).passes  # now its price is known
        made = old("to_spend", "data", "laplace(scale=10)", key="s", by="ann")
        held = old("to_reserve", ["data"], "laplace(scale=10)*3", ttl=60, key="r")
        ledger.commit([made, held])
        assert (made.outcome.seq, made.actor) == (2, "ann")
        drawn = old("to_draw", held.outcome, "laplace(scale=10)", key="d")
        closed = old("to_close", held.outcome, key="c")
        ledger.commit([drawn, closed])
        assert (drawn.failure, closed.failure) == (None, None)
        assert old("held_by", held.outcome.id) == ("data",)
        assert old("charged_by", "data", 2) == ("data",)
        (state,) = old("states", "data", release_of("laplace(scale=10)"))
        assert state[0].name == old("look_at", "data").scope.name == "data"
        assert old("ask_store") is None
        with pytest.raises(AttributeError):
            old("find", None)  # there is nothing to be found
    assert met == set(FORMER)


def test_what_never_was_is_no_method() -> None:
    """Other names are refused as any object refuses them."""
    with Ledger("memory://", alert=None) as ledger, pytest.raises(AttributeError, match="no 'to_steal'"):
        ledger.to_steal  # noqa: B018
