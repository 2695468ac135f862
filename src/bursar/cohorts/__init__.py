"""Cohorts: budgets for many at once. Blocks are public parts of the data; people are private, and each has a filter."""

from bursar.cohorts.blocks.exhausted import BlocksExhausted as BlocksExhausted
from bursar.cohorts.blocks.ledger import BlockLedger as BlockLedger
from bursar.cohorts.people.filter import PersonFilter as PersonFilter
