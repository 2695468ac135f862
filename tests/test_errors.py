"""The tree of errors: drawn, named and found in one place, wherever a class is written."""

from __future__ import annotations

import pickle
import re
from fractions import Fraction

import pytest

from bursar import errors
from bursar.errors import BudgetExceeded, BursarError, ConsentNeeded, RateLimited, Refused, refusals

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BursarError)]
NUMBERS = {name: Fraction(1) for name in ("asked", "spent", "held", "limit", "left")}


def test_the_tree_is_drawn() -> None:
    """Every error is in the drawing of the module, and the drawing has no other."""
    lines = re.findall(r"[├└]── ([A-Z]\w+(?:, [A-Z]\w+)*)", errors.__doc__ or "")
    drawn = [name for line in lines for name in line.split(", ")]
    assert sorted([*drawn, "BursarError"]) == sorted(kind.__name__ for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_errors_are_named_by_where_they_are_found(kind: type[BursarError]) -> None:
    """Tracebacks and pickles say bursar.errors, so a file may be split without anybody noticing."""
    assert kind.__module__ == "bursar.errors"
    assert getattr(errors, kind.__name__) is kind
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_refusals_are_found_by_their_codes() -> None:
    """Each code once; those of other modules, which share one, are not among them."""

    class Elsewhere(Refused):
        """Of nobody's concern."""

        code = "insufficient_budget"

    found = refusals()
    assert found["insufficient_budget"] is BudgetExceeded
    assert Elsewhere not in found.values()
    assert all(kind.code == code for code, kind in found.items())
    assert set(found.values()) == {kind for kind in KINDS if issubclass(kind, Refused) and kind.code != Refused.code}


def test_what_refusals_carry() -> None:
    """The numbers of a refused charge, when to ask again, and what to agree to."""
    exceeded = BudgetExceeded("no", scope="a", line="b", numbers=NUMBERS, replayed=True)
    assert (exceeded.left, exceeded.replayed, exceeded.scope) == (1, True, "a")
    assert RateLimited("no", after=2.0).after == 2.0
    assert ConsentNeeded("no", consent="x").consent == "x"
