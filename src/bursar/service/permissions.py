"""Who may do what: a role says which verbs, a token's scope says where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bursar.errors import NotPermitted
from bursar.ledger.ledger import Ledger
from bursar.service.tokens import EVERYTHING, Token

_COUNT = {"account", "plan"}
_LOOK = {"scopes", "show", "released", "entries"}
_AUDIT = {"verify", "export", "metrics"}
_SPEND = {"quote", "spend", "reserve", "draw", "close"}
_STEWARD = {"open", "limit", "freeze", "thaw", "retire", "correct", "bring_in"}
_TOKENS = {"token_list", "token_add", "token_revoke"}
MAY: dict[str, frozenset[str]] = {
    "auditor": frozenset(_COUNT | _LOOK | _AUDIT),
    "analyst": frozenset(_COUNT | _LOOK | _SPEND),
    "steward": frozenset(_COUNT | _LOOK | _AUDIT | _SPEND | _STEWARD),
    "owner": frozenset(_COUNT | _LOOK | _AUDIT | _SPEND | _STEWARD | _TOKENS),
}
"""The verbs of each role. What is nobody's here is everybody's: health and the description of the service."""


class Tree:
    """Which scope lies above which; a parent never changes, so what is known stays true."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parents: dict[str, str | None] = {}
        self.beside: dict[tuple[str, str], tuple[int, Counter[str]]] = {}
        """By what a token is bound to and a scope: what ran there that it is not told, up to which entry."""

    def knows(self, names: Iterable[str]) -> bool:
        """Whether it has met them all."""
        return all(name in self._parents for name in names)

    def refresh(self) -> None:
        """Read all of them anew; this may have to wait for other readers."""
        self._parents = {scope.name: scope.row.parent for scope in self._ledger.scopes()}

    def below(self, name: str, top: str) -> bool:
        """Whether a scope is another one, or lies below it, as far as it is known."""
        place: str | None = name
        while place is not None:
            if place == top:
                return True
            place = self._parents.get(place)
        return False

    def leaves(self, names: Iterable[str]) -> list[str]:
        """Those with none of the others below them."""
        every = list(names)
        return [name for name in every if not any(other != name and self.below(other, name) for other in every)]


def permit(token: Token, verb: str) -> None:
    """Refuse a verb that is not the role's."""
    if verb not in MAY[token.role]:
        raise NotPermitted(f"{_article(token.role)} may not {verb.replace('_', ' ')}")


def covers(token: Token, tree: Tree, name: str) -> bool:
    """Whether a token reaches a scope."""
    return token.scope == EVERYTHING or tree.below(name, token.scope)


def within(token: Token, tree: Tree, names: Sequence[str]) -> None:
    """Refuse scopes outside the token's part of the tree, in the same words whether they exist or not."""
    for name in names:
        if not covers(token, tree, name):
            raise NotPermitted(f"this token does not reach {name}")


def everywhere(token: Token, verb: str) -> None:
    """Refuse what concerns the whole ledger to a token that is bound to a part."""
    if token.scope != EVERYTHING:
        raise NotPermitted(f"to {verb} needs a token for the whole ledger")


def _article(role: str) -> str:
    return f"an {role}" if role[0] in "ao" else f"a {role}"
