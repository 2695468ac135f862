"""What cohorts must decide, in plain whole numbers: one dictionary, no tiles, no SQL."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Charges = list[tuple[int, Any, int]]
"""Query, person and charge."""


class Blocks:
    """Every block of a grid as an entry of a dictionary."""

    def __init__(self, sizes: Sequence[int], limit: Mapping[str, int]) -> None:
        self.sizes, self.limit = tuple(sizes), dict(limit)
        self.spent: dict[tuple[int, ...], dict[str, int]] = {}

    def of(self, block: tuple[int, ...]) -> dict[str, int]:
        """What a block has spent on each line."""
        return self.spent.get(block, dict.fromkeys(self.limit, 0))

    def charge(self, ranges: Sequence[tuple[int, int]], amounts: Mapping[str, int]) -> list[tuple[int, ...]]:
        """Charge every block of a box, or none: those that cannot bear it on the first line that is short."""
        box = list(product(*(range(first, last) for first, last in ranges)))
        for line, amount in amounts.items():
            short = [block for block in box if self.of(block)[line] + amount > self.limit[line]]
            if short:
                return short
        for block in box:
            self.spent[block] = {line: spent + amounts[line] for line, spent in self.of(block).items()}
        return []

    def most(self, line: str, ranges: Sequence[tuple[int, int]] | None = None) -> int:
        """What the worst block of a box has spent."""
        whole = [(0, size) for size in self.sizes] if ranges is None else ranges
        return max(self.of(block)[line] for block in product(*(range(*one) for one in whole)))


class People:
    """Every person as an entry of a dictionary: what they were charged, by one of both rules."""

    def __init__(self, limit: int, rule: str) -> None:
        self.limit, self.rule = limit, rule
        self.spent: dict[str, int] = {}

    def admit(self, charges: Mapping[str, int]) -> set[str]:
        """Who of these bears their charge."""
        admitted = set()
        for person, charge in charges.items():
            total = self.spent.get(person, 0) + charge
            if total <= self.limit:
                admitted.add(person)
            if total <= self.limit or self.rule == "halt":
                self.spent[person] = total
        return admitted


def step_of(norm: Fraction) -> Fraction:
    """The power of two of which between 2¹⁹ and 2²⁰ fit into a norm."""
    step = Fraction(1)
    while norm / step >= 2**20:
        step *= 2
    while norm / step < 2**19:
        step /= 2
    return step


def own_charges(
    rows: Iterable[tuple[str, float | None]], norm: Fraction, sigma: Fraction
) -> dict[str, tuple[int, Fraction]]:
    """For each person the charge of the own clipped sum, and the sum on its grid."""
    step = step_of(norm)
    most = math.floor(norm / step)
    cells: dict[str, int] = {}
    for person, value in rows:
        if value is None or math.isnan(value):
            here = 0
        elif math.isinf(value):
            here = most if value > 0 else -most
        else:
            here = max(-most, min(most, math.floor(Fraction(value) / step + Fraction(1, 2))))
        cells[person] = cells.get(person, 0) + here
    found = {}
    price = math.ceil(10**9 * 2**40 * step**2 / (2 * sigma**2))
    for person, total in cells.items():
        clipped = max(-most, min(most, total))
        charge = math.ceil(Fraction(clipped * clipped * price, 2**40))
        assert charge >= 10**9 * (clipped * step) ** 2 / (2 * sigma**2)  # what the theorem asks for
        found[person] = (charge, clipped * step)
    return found


def decided(folder: Path) -> dict[tuple[int, Any], tuple[int, bool]]:
    """What a replay says of each query and person."""
    rows = pq.read_table(sorted(folder.glob("*.parquet"))).to_pylist()
    found = {(row["query"], row["person"]): (row["charge"], row["admitted"]) for row in rows}
    assert len(found) == len(rows)
    return found


def by_dictionary(rows: Charges, limit: int, rule: str) -> dict[tuple[int, Any], tuple[int, bool]]:
    """The same, one query after another."""
    oracle, found = People(limit, rule), {}
    for query in sorted({query for query, _, _ in rows}):
        asked: dict[Any, int] = {}
        for at, who, charge in rows:
            if at == query:
                asked[who] = asked.get(who, 0) + charge
        admitted = oracle.admit(asked)
        found |= {(query, who): (charge, who in admitted) for who, charge in asked.items()}
    return found
