"""A line of the journal, and the chain that ties each to the one before.

An entry is hashed over all of its columns, as one canonical JSON array without floats; the hash of the entry before is
one of the columns. With a key (the environment variable BURSAR_CHAIN_KEY) the chain is an HMAC, which only holders of
the key can continue.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from json.encoder import encode_basestring as _quoted
from typing import Any, NamedTuple

import msgspec

FIRST = "0" * 64
"""What stands for the hash before the first entry."""


class Entry(NamedTuple):
    """All columns of the journal but the hash."""

    root: str
    seq: int
    at: int
    """Microseconds since 1970; never earlier than the entry before."""
    kind: str
    key: str
    actor: str
    body: str
    """Canonical JSON: the request, and what it changed."""
    prev: str

    def line(self) -> str:
        """The canonical text that is hashed and exported."""
        root, key, actor = _quoted(self.root), _quoted(self.key), _quoted(self.actor)
        return f'[{root},{self.seq},{self.at},"{self.kind}",{key},{actor},{self.body},"{self.prev}"]'


class Chained(NamedTuple):
    """An entry with its hash."""

    entry: Entry
    hash: str


def read(body: str) -> dict[str, Any]:
    """A body or a detail as the journal has it."""
    content: dict[str, Any] = _decoder.decode(body)
    return content


_decoder = msgspec.json.Decoder()


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces and no floats."""
    return _encoder.encode(value).decode()


_encoder = msgspec.json.Encoder(order="sorted")


class Chain:
    """How entries are hashed."""

    def __init__(self, key: bytes | None = None) -> None:
        given = os.environ.get("BURSAR_CHAIN_KEY", "").encode() if key is None else key
        self._key = given or None

    @property
    def name(self) -> str:
        """The name of the hash, as exports have it."""
        return "sha256" if self._key is None else "hmac-sha256"

    def hash(self, entry: Entry) -> str:
        """The hash of an entry, the one before included."""
        line = entry.line().encode()
        if self._key is None:
            return hashlib.sha256(line).hexdigest()
        return hmac.new(self._key, line, hashlib.sha256).hexdigest()
