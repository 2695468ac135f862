"""Code of one's own, behind a guard: whatever it raises or gives that nobody can use is said in a sentence, with its
name. Nothing of bursar's own is caught here, so that its faults stay visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from bursar.errors import BursarError, InputError, LossUnknown, described
from bursar.guarantees import Claim
from bursar.identity import KEPT, is_foreign
from bursar.losses import Directions


def _claims(given: object) -> bool:
    return isinstance(given, (tuple, list)) and all(isinstance(one, Claim) for one in given)


ASKED = f"{KEPT}asked"
"""Kept with whatever has stated what it costs."""
_GIVES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "claims": (_claims, "a tuple of claims"),
    "losses": (lambda given: isinstance(given, Directions), "its losses in both directions"),
    "relation": (lambda given: isinstance(given, str), "a word"),
    "text": (lambda given: isinstance(given, str), "a text"),
    "to_dict": (lambda given: isinstance(given, dict), "an object"),
    "leaks": (lambda given: True, ""),
    "enlarged": (lambda given: True, ""),
}
"""What code of one's own is asked for, and what it must give."""


@contextmanager
def named(what: str) -> Iterator[None]:
    """Turn whatever foreign code raises into an `InputError` that begins so. Ends of the whole program do not pass
    either, except for an interrupt by its user.
    """
    try:
        yield
    except (BursarError, MemoryError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as problem:
        raise InputError(f"{what}: {described(problem)}") from problem


def guard(kind: type) -> None:
    """Put the guard before everything that a class states itself."""
    for name in _GIVES:
        stated = vars(kind).get(name)
        if isinstance(stated, property) and stated.fget is not None:
            setattr(kind, name, property(_guarded(name, stated.fget), stated.fset, stated.fdel, stated.__doc__))
        elif callable(stated) and not isinstance(stated, type):
            setattr(kind, name, _guarded(name, stated))


def sever(kind: type, root: type) -> None:
    """Keep a class that derives from one of the catalogue's from being taken for it: where it states its claims, the
    losses that it inherits are its base's and not its own, and the other way round. ``root`` is `Mechanism`, which
    states neither.
    """
    for stated, inherited, unknown in (("claims", "losses", _no_losses), ("losses", "claims", _no_claims)):
        mine, base = _place(kind, stated), _place(kind, inherited)
        owner = kind.__mro__[base]
        if mine < base and owner is not root and not is_foreign(owner):
            setattr(kind, inherited, unknown)
            if _place(kind, "leaks") > mine:
                kind.leaks = vars(root)["leaks"]  # type: ignore[attr-defined]


def _place(kind: type, name: str) -> int:
    """How far up a class has what it states or inherits."""
    return next(i for i, one in enumerate(kind.__mro__) if name in vars(one))


def _no_losses(self: Any) -> Directions:
    """Not those of the class that it derives from."""
    raise LossUnknown(
        f"{type(self).__qualname__} claims something of its own, so the losses that it inherits are not its own"
    )


def _no_claims(self: Any) -> tuple[Claim, ...]:
    """Not those of the class that it derives from, whose losses it does not have."""
    return ()


def _guarded(name: str, stated: Callable[..., Any]) -> Callable[..., Any]:
    fits, wanted = _GIVES[name]

    @wraps(stated)
    def asked(self: Any, *given: Any, **more: Any) -> Any:
        kind = type(self)
        who = f"{getattr(kind, 'name', '?')} ({kind.__module__}.{kind.__qualname__})"
        with named(f"{who} failed to state its {name}"):
            found = stated(self, *given, **more)
        if not fits(found):
            raise InputError(f"{who} states {described(found)} as its {name}, not {wanted}")
        if name in ("claims", "losses"):
            vars(self)[ASKED] = True
        return found

    return asked
