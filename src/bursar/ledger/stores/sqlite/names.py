"""The names of a SQLite file: links to it, its anchors, and what of it this process may open."""

from __future__ import annotations

import os
from collections import Counter

from bursar.errors import InputError


def names_of(path: str) -> list[str]:
    """Every name on the way from a path to the file it leads to, the file's own excepted."""
    real, name = os.path.realpath(path), os.path.abspath(path)
    names: list[str] = []
    while name != real and name not in names:
        names.append(name)
        if not os.path.islink(name):  # a folder on the way is a link
            break
        name = os.path.abspath(os.path.join(os.path.dirname(name), os.readlink(name)))
    return names


def refuse_links(path: str) -> None:
    """SQLite keeps its log beside the name by which a file was opened: a second name would have a second log."""
    try:
        names = os.stat(path).st_nlink
    except FileNotFoundError:
        return
    if names > 1:
        raise InputError(
            f"{path} has {names} names (hard links), and a ledger's log and anchor stand beside one of them: through "
            "another it would be charged without them. Keep one name; `bursar ledger backup` makes a copy",
            argument="url",
        )


def refuse_inherited(path: str) -> None:
    """SQLite believes, in a forked process, that it already holds the locks of files that its parent had open."""
    if os.path.realpath(path) in _inherited:
        raise InputError(
            f"{path} was open in the process that this one was forked from, and SQLite cannot share it with a "
            "forked process: spawn processes (multiprocessing.set_start_method('spawn')), or open the ledger "
            "only after the fork",
            argument="url",
        )


def writable(path: str) -> bool:
    """Whether this process may write there."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _forked() -> None:
    _inherited.update(OPEN_HERE)
    OPEN_HERE.clear()


OPEN_HERE: Counter[str] = Counter()
"""How many stores of this process have a file open."""
_inherited: set[str] = set()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
