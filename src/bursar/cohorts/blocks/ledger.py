"""The block ledger: a budget for every block of a grid, such as day × segment; the guarantee is that of the worst one.

    blocks = BlockLedger.create(ledger, "ads", {"day": 365, "segment": 10_000}, rho="1/50")
    blocks.spend(Gaussian(sigma=80), day=(0, 7), segment=(120, 121), key="q-1")

What is charged follows from the text of a query alone, never from data, so that everything here may be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bursar.cohorts.blocks.charge import ChargeBlocks, chargeable
from bursar.cohorts.blocks.ranges import dimensions_of, ranges_of
from bursar.cohorts.blocks.views import Block, Heat, Left, heat_of, left_of, worst_of
from bursar.errors import CurrencyMismatch, InputError
from bursar.ledger.budget.release import release_of
from bursar.ledger.budget.scope import Scope, scope_name
from bursar.ledger.commit.view import View
from bursar.ledger.journal.blocks import grid_of
from bursar.ledger.journal.entry import canonical
from bursar.ledger.ledger import Ledger
from bursar.ledger.receipt import Receipt
from bursar.ledger.stores._base import Reader
from bursar.ledger.verbs.open import Place, open_scope
from bursar.numerics.validate import whole
from bursar.relations import ADD_REMOVE

FIXED_PRICES = ("pure", "sums", "zcdp", "gdp")
"""Currencies in which a release costs the same whatever a block has spent."""


class BlockLedger:
    """The blocks of one root of a ledger."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        """Of blocks that were created before."""
        self.ledger, self.name = ledger, scope_name(name)
        kept = self.scope.cohort
        if kept is None or kept["keeps"] != "blocks":
            raise InputError(f"{name} does not keep blocks: it is a {self.scope.kind}", argument="name")
        self.dimensions: tuple[tuple[str, int], ...] = tuple((name, size) for name, size in kept["dimensions"])

    @classmethod
    def create(
        cls,
        ledger: Ledger,
        name: str,
        dimensions: Mapping[str, int],
        *,
        rho: Any = None,
        epsilon: Any = None,
        delta: Any = None,
        mu: Any = None,
        currency: str | None = None,
        unit: str | None = None,
        second_person: bool = False,
        key: str | None = None,
        by: str | None = None,
    ) -> BlockLedger:
        """A root of the ledger whose limit every block has: ``rho`` (zCDP), ``mu`` (GDP), ``epsilon`` (pure), or
        ``epsilon`` and ``delta`` (by sums). Other currencies price a release by what was spent before, which differs
        from block to block.
        """
        limits = {"rho": rho, "epsilon": epsilon, "delta": delta, "mu": mu}
        chosen = "sums" if currency is None and rho is None and mu is None and delta is not None else currency
        if chosen is not None and chosen not in FIXED_PRICES:
            raise CurrencyMismatch(
                f"blocks keep one of {', '.join(FIXED_PRICES)}, not {chosen}: its prices depend on what each block has "
                "spent before"
            )
        sizes = dimensions_of(dimensions)
        cut = list(grid_of([size for _, size in sizes]).tile)
        kept = canonical({"keeps": "blocks", "dimensions": [list(one) for one in sizes], "tile": cut})
        options = {"unit": unit, "relation": ADD_REMOVE, "second_person": second_person, "cohort": kept}
        verb = open_scope(name, Place(kind="root"), chosen, limits, options)
        ledger.office.submit(ledger.request(verb, key=key, by=by))
        return cls(ledger, name)

    @property
    def scope(self) -> Scope:
        """The root that these blocks belong to."""
        return self.ledger.scope(self.name)

    def spend(
        self, what: Any, *, key: str | None = None, by: str | None = None, delta: Any = None, **ranges: Any
    ) -> Receipt:
        """Charge a release to every block that it reads, or to none: `BlocksExhausted` names those that have not enough
        left. A range is a whole number or (first, end) without its end; a dimension that is not named is meant whole.
        """
        verb = ChargeBlocks(self.name, ranges_of(self.dimensions, ranges), release_of(what, delta))
        return self.ledger.office.submit(self.ledger.request(verb, key=key, by=by))

    def left(self, **ranges: Any) -> Left:
        """What every block of these ranges has left: that of the worst of them."""
        box = ranges_of(self.dimensions, ranges)
        with self._looking() as (view, scope):
            return left_of(view, scope, box)

    def worst(self, count: int = 10) -> list[Block]:
        """The blocks that have spent the largest shares of their limit, the worst first."""
        most = whole(count=count, at_least=1, at_most=10_000)
        with self._looking() as (view, scope):
            return worst_of(view, scope, most)

    def heat(self, across: str, down: str, *, cells: int = 64) -> Heat:
        """The worst share spent over two dimensions, in up to ``cells`` by ``cells`` parts of equal length."""
        names = [name for name, _ in self.dimensions]
        for argument, given in (("across", across), ("down", down)):
            if given not in names:
                raise InputError(f"{argument} must be one of {', '.join(names)}, not {given!r}", argument=argument)
        if across == down:
            raise InputError("a map has two different dimensions", argument="down")
        most = whole(cells=cells, at_least=1, at_most=1024)
        with self._looking() as (view, scope):
            return heat_of(view, scope, names.index(across), names.index(down), most)

    @contextmanager
    def _looking(self) -> Iterator[tuple[View[Reader], Scope]]:
        self.ledger.office.check()
        with self.ledger.store.reading() as reader:
            view = self.ledger.office.view(reader)
            yield view, view.scope(self.name)

    def __repr__(self) -> str:
        sizes = " × ".join(f"{size} {name}" for name, size in self.dimensions)
        return f"<BlockLedger {self.name}: {sizes}>"


__all__ = ["Block", "BlockLedger", "Heat", "Left", "chargeable"]
