"""A class of one's own that is a text, and says what it is equal to, changes nothing for anybody else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bursar as b
from bursar.ledger.budget.scope import scope_name
from bursar.ledger.ledger import Ledger
from bursar.numerics.validate import choice


class Liar(str):
    """Equal to whatever it is compared with, and found where that is looked for."""

    __slots__ = ("alias",)
    alias: str

    def __new__(cls, text: str, alias: str) -> Liar:
        """A text, and what it is found as."""
        made = super().__new__(cls, text)
        made.alias = alias
        return made

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return hash(self.alias)


CHEAP, DEAR = "laplace(scale=100321)", "laplace(scale=1.00321)"


def test_a_text_that_lies_poisons_no_cache() -> None:
    """Charged as the cheap release that it is, it leaves the dear one at its own price, for all ledgers."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", Liar(CHEAP, DEAR), key="a")
        before = ledger.show("data").line("epsilon").spent
        ledger.spend("data", DEAR, key="b")
        assert ledger.show("data").line("epsilon").spent - before > 0.9
        assert ledger.verify(reprice=True)


def test_names_and_keys_that_lie_are_what_they_say() -> None:
    """A scope's name, a key and a reservation's id are those of their letters."""
    with Ledger("memory://", alert=None) as ledger:
        for name in ("data", "other"):
            ledger.open(name, epsilon=1)
        ledger.spend(Liar("other", "data"), "laplace(scale=10)", key=Liar("k1", "k2"))
        ledger.spend("data", "laplace(scale=20)", key="k2")
        assert float(ledger.show("other").line("epsilon").spent) == 0.1
        assert float(ledger.show("data").line("epsilon").spent) == 0.05
        with pytest.raises(b.errors.KeyReused):
            ledger.spend("data", "laplace(scale=30)", key="k1")
        assert ledger.verify(reprice=True)


@pytest.mark.parametrize("read", [scope_name, lambda text: choice(word=text, among=("data", "other"))])
def test_what_is_read_is_a_plain_text(read: Any) -> None:
    """Of the exact type, from then on."""
    assert type(read(Liar("data", "other"))) is str


def test_every_text_is_written_as_a_plain_one() -> None:
    """Names, kinds, units, keys, reasons and people of a class of their own come back as what they say."""
    text = np.str_
    with Ledger("memory://", alert=None, actor=text("ann")) as ledger:
        ledger.open(text("data"), epsilon=1, kind=text("root"), unit=text("person"), currency=text("pure"))
        ledger.open(text("part"), parent=text("data"), epsilon=1)
        ledger.spend(text("part"), text("laplace(scale=10)"), key=text("k"), reason=text("why"), by=text("bob"))
        ledger.freeze(text("part"), reason=text("a question"))
        assert ledger.verify(reprice=True)
