"""Neighbour relations: which databases count as differing by one unit."""

from __future__ import annotations

from bursar.numerics.validate import choice

ADD_REMOVE = "add_remove"
REPLACE_ONE = "replace_one"
RELATIONS = (ADD_REMOVE, REPLACE_ONE)


def relation_field(relation: object) -> str:
    """Check a ``relation`` argument."""
    return choice(relation=relation, among=RELATIONS)
