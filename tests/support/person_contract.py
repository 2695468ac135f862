"""What every engine of a person filter must decide, whichever of them comes next on the same ledger."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import bursar as b
from bursar.cohorts import PersonFilter
from support.cohorts import People, own_charges
from support.tables import Rows

ODD = (None, float("nan"), float("inf"), float("-inf"), 1e300, -1e300, 5e-324, 0.0)
NORMS = ((Fraction(1), 15), (Fraction("0.3"), 4), (Fraction(5), 70))


def read(table: Any) -> Rows:
    """The rows of a table of any kind, in order."""
    if type(table).__module__.startswith("pyspark"):
        found = [tuple(row) for row in table.collect()]
    else:
        found = [tuple(row.values()) for row in table.to_pylist()]
    return sorted(found, key=repr)


def some_rows(chance: random.Random, people: int) -> Rows:
    """Some people, some of them with several rows, with values that are odd now and then."""
    chosen = [f"person {chance.randrange(people)}" for _ in range(chance.randrange(1, 2 * people))]
    return [(one, chance.choice(ODD) if chance.random() < 0.2 else chance.uniform(-2, 2)) for one in chosen]


def decided_alike(
    made: PersonFilter, frames: Sequence[Callable[[Rows], Any]], *, queries: int, compacted: Sequence[int]
) -> None:
    """Random queries on a filter with ρ = 1/200, each in the next kind of table: the rows that a dictionary of whole
    numbers admits.
    """
    chance = random.Random(7)
    oracle = People(5 * 10**6, made.rule)
    left_out = 0
    for number in range(queries):
        rows, frame = some_rows(chance, 12), frames[number // 2 % len(frames)]
        if number % 2:
            sigma = chance.choice((20, 30))
            found = read(made.admit(frame(rows), b.Gaussian(sigma=sigma), key=f"q-{number}"))
            admitted = oracle.admit({one: -(-(10**9) // (2 * sigma**2)) for one, _ in rows})
            expected = [row for row in rows if row[0] in admitted]
        else:
            norm, sigma = chance.choice(NORMS)
            found = read(made.admit(frame(rows), sums="value", norm=norm, sigma=sigma, key=f"q-{number}"))
            charges = own_charges(rows, norm, Fraction(sigma))
            admitted = oracle.admit({one: charge for one, (charge, _) in charges.items()})
            expected = [(one, float(charges[one][1])) for one in admitted]
        assert repr(found) == repr(sorted(expected, key=repr)), number
        left_out += len({one for one, _ in rows} - admitted)
        if number in compacted:
            made.compact()
    assert left_out > queries // 2
    assert made.verify().ok
