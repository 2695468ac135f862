"""The scopes of a ledger, read once and kept as long as no steward changes their root."""

from __future__ import annotations

from bursar.errors import CurrencyMismatch, InputError, ScopeClosed, ScopeFrozen, ScopeUnknown
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.rows import Head
from bursar.ledger.stores._base import Reader

_DOUBTED = -1  # in place of the number of changes: what is known is not trusted until it is read again


class Catalogue:
    """The scopes of a ledger, kept as long as no steward changes their root."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, Scope, list[str]]] = {}
        self._debits: dict[tuple[str, ...], tuple[tuple[Scope, ...], list[tuple[str, int]]]] = {}

    def find(self, name: str, reader: Reader) -> tuple[Scope, list[str], Head]:
        """A scope, what a charge on it debits, and the end of its root's chain."""
        known = self._known.get(name)
        if known is not None:
            head = reader.head(known[1].row.root)
            if head is not None and head.epoch == known[0]:
                return known[1], known[2], head
        row = reader.scope(name)
        head = None if row is None else reader.head(row.root)
        if row is None or head is None:
            raise ScopeUnknown(f"there is no scope {name!r}")
        scope = Scope(row)
        debited = path(scope, reader)
        self._known[name] = (head.epoch, scope, debited)
        return scope, debited, head

    def debits(self, names: tuple[str, ...], reader: Reader) -> tuple[Scope, ...]:
        """Every scope that a charge on these debits, once, in order, all of them usable and of one measure."""
        known = self._debits.get(names)
        if known is not None:
            scopes, epochs = known
            if all((head := reader.head(root)) is not None and head.epoch == epoch for root, epoch in epochs):
                return scopes
        every = list(dict.fromkeys(name for named in names for name in self.find(named, reader)[1]))
        scopes = tuple(self.find(name, reader)[0] for name in every)
        for scope in dict.fromkeys([*scopes, *(self.find(scope.row.root, reader)[0] for scope in scopes)]):
            usable(scope)  # a block is charged alone, and still stops with its root
            whole(scope)
        measures = {(scope.unit, scope.relation) for scope in scopes}
        if len(measures) > 1:
            said = " and ".join(f"{unit} under {relation}" for unit, relation in sorted(measures))
            raise CurrencyMismatch(f"these scopes protect different things: {said}")
        heads = {scope.row.root: reader.head(scope.row.root) for scope in scopes}
        self._debits[names] = (scopes, [(root, head.epoch) for root, head in heads.items() if head is not None])
        return scopes

    def doubt(self) -> None:
        """After a transaction that failed: what it has seen of its own changes never came true, and another change may
        be counted with the same number.
        """
        self._debits = {}
        self._known = {name: (_DOUBTED, scope, path) for name, (_, scope, path) in list(self._known.items())}

    def root(self, name: str, reader: Reader) -> str | None:
        """The root of a scope, which never changes once it is true."""
        known = self._known.get(name)
        if known is not None and known[0] != _DOUBTED:
            return known[1].row.root
        row = reader.scope(name)
        return None if row is None else row.root

    def likely(self, name: str) -> list[str]:
        """What a charge on a scope debited last time."""
        known = self._known.get(name)
        return [] if known is None or known[0] == _DOUBTED else known[2]

    def known(self, name: str) -> Scope | None:
        """A scope that was met before."""
        found = self._known.get(name)
        return None if found is None else found[1]


def usable(scope: Scope) -> None:
    """Refuse closed and frozen scopes."""
    if scope.row.status == "closed":
        raise ScopeClosed(f"{scope.name} is closed", scope=scope.name)
    if scope.row.status == "frozen":
        raise ScopeFrozen(f"{scope.name} is frozen: a steward must thaw it", scope=scope.name)


def whole(scope: Scope) -> None:
    """Refuse a cohort where a whole data set is charged: its people would be charged beside their own filter."""
    if scope.cohort is not None:
        raise CurrencyMismatch(
            f"{scope.name} is a cohort, whose {scope.cohort['keeps']} are charged one by one: use bursar.cohorts; "
            "spend, reserve, correct, import and scopes below it have no place there"
        )


def path(scope: Scope, reader: Reader) -> list[str]:
    """All scopes that a charge here debits.

    Upwards to the root; but a block stands for its part of the data alone, and a charge on the whole data touches
    every block.
    """
    chain = [scope.row]
    while chain[-1].kind != "block" and chain[-1].parent:
        above = reader.scope(chain[-1].parent)
        if above is None:
            raise InputError(f"{chain[-1].parent} is missing", argument="scope")
        chain.append(above)
    names = [row.name for row in chain]
    if chain[-1].kind == "root":
        names += [row.name for row in reader.scopes(chain[-1].name) if row.kind == "block"]
    return names
