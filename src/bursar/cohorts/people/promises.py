"""What a person filter promises, from the texts of its queries.

Statement: where every person's charges ρᵢ are admitted only while their sum stays within B, what is released is B-zCDP
for everybody, however queries were chosen; where all of it is Gaussian, it is √(2B)-GDP. What is set aside for
questions about the filter is a part of B (`proofs/exhausted.md`); their noise is discrete, without a promise of GDP.
Source: Feldman and Zrnic 2021 (individual filters); Koskela, Tobaben and Honkela 2022 (Gaussian ones).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from bursar.cohorts.people.charges import query_of
from bursar.cohorts.people.commit import Commit
from bursar.cohorts.people.share import AskShare
from bursar.cohorts.people.units import NANO
from bursar.guarantees import GDP, ZCDP, Guarantee
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained

_FINE = 10**12


def promised(limit: int, entries: Iterable[Chained]) -> list[Guarantee]:
    """With the largest limit there ever was, in units, and the entries of the root."""
    most = Fraction(limit, NANO)
    found: list[Guarantee] = [ZCDP(rho=most)]
    asked = [body_in(chained.entry.body).asked() for chained in entries]
    queries = [one for one in asked if one.get("verb") == Commit.name and "compact" not in one]
    questions = any(one.get("verb") == AskShare.name for one in asked)
    if not questions and all(
        query_of(*(one.get(name) for name in ("what", "sums", "norm", "sigma"))).gaussian for one in queries
    ):
        root = Fraction(math.isqrt(math.floor(2 * most * _FINE**2)) + 1, _FINE)  # rounded up
        found.append(GDP(mu=root))
    return found
