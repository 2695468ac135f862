"""Cohorts: budgets for many at once. Blocks are public parts of the data; people are private, and each has a filter."""

from typing import TYPE_CHECKING

from bursar.lazy import names_from

if TYPE_CHECKING:
    from bursar.cohorts.blocks.exhausted import BlocksExhausted as BlocksExhausted
    from bursar.cohorts.blocks.ledger import BlockLedger as BlockLedger
    from bursar.cohorts.people.filter import PersonFilter as PersonFilter

_HOMES = {
    "BlocksExhausted": "blocks.exhausted",
    "BlockLedger": "blocks.ledger",
    "PersonFilter": "people.filter",
}
__getattr__ = names_from(__name__, _HOMES)  # Spark's workers need neither, and each of them would wait for both
__all__ = ["BlockLedger", "BlocksExhausted", "PersonFilter"]
