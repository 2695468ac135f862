"""Neighbour relations: which databases count as differing by one unit.

- ``add_remove``: one has a record more than the other.
- ``replace_one``: a record of the one is another record in the other; how many there are is public.
- ``zero_out``: a record of the one is a null record in the other, which keeps its place and contributes nothing; how
  many there are is public. Noise on a sum sees no difference between a null record and none at all, so it costs what it
  costs under add_remove; a sample of fixed size does, because the null record takes somebody's place.

A promise under one of them is none under another: they are never mixed.
"""

from __future__ import annotations

from bursar.numerics.validate import choice

ADD_REMOVE = "add_remove"
REPLACE_ONE = "replace_one"
ZERO_OUT = "zero_out"
RELATIONS = (ADD_REMOVE, REPLACE_ONE, ZERO_OUT)


def relation_field(relation: object) -> str:
    """Check a ``relation`` argument."""
    return choice(relation=relation, among=RELATIONS)
