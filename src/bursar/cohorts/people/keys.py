"""Who a person is in files: HMAC-SHA256 of the id, 128 bits of it. The secret is the caller's and is kept nowhere here.

A shorter hash would not do: where two people share one, each is charged for the other, and a person whose charges
depend on somebody else's data is not protected.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, NamedTuple

from bursar.errors import InputError

BYTES = 16
_SHORTEST = 16
_BLOCK = 64


class Pads(NamedTuple):
    """A secret as the two blocks that HMAC puts in front, so that an engine with SHA-256 alone can compute it."""

    inner: bytes
    outer: bytes

    def __repr__(self) -> str:
        return "<Pads>"


def secret_of(given: Any) -> bytes:
    """A secret that is long enough; what was given is not shown."""
    secret = given.encode() if isinstance(given, str) else given
    if not isinstance(secret, (bytes, bytearray)) or len(secret) < _SHORTEST:
        raise InputError(
            f"secret must be at least {_SHORTEST} bytes that nobody can guess, such as secrets.token_bytes(32), and "
            "the same for the life of the filter",
            argument="secret",
        )
    return bytes(secret)


def pads_of(secret: bytes) -> Pads:
    """The two blocks of a secret."""
    key = (hashlib.sha256(secret).digest() if len(secret) > _BLOCK else secret).ljust(_BLOCK, b"\0")
    return Pads(bytes(byte ^ 0x36 for byte in key), bytes(byte ^ 0x5C for byte in key))


def person_of(secret: bytes, id: str) -> bytes:
    """The person behind an id."""
    return hmac.new(secret, id.encode(), hashlib.sha256).digest()[:BYTES]


def check_of(secret: bytes, name: str) -> str:
    """What the ledger keeps to know a wrong secret: with another one everybody would be new, and have a new budget."""
    return hmac.new(secret, f"bursar cohort {name}".encode(), hashlib.sha256).hexdigest()[:32]
