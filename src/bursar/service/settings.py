"""How a service is set up: one TOML file, and environment variables that win over it.

Every key of the file is a field below; the variable of ``rate`` is BURSAR_RATE.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from bursar.errors import InputError
from bursar.ledger.budget.amounts import exact


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be set, with what holds if it is not."""

    ledger: str = "sqlite:///budget.db"
    """The store: sqlite:///file, postgresql://… or memory://."""
    anchor: str | None = None
    """The anchor file, best on another disk; beside a SQLite file if not given."""
    tokens: str = "bursar-tokens.db"
    """The file that keeps the hashes of tokens."""
    host: str = "127.0.0.1"
    """The address to listen on: this machine alone, unless it is another one."""
    port: int = 8765
    """The port there."""
    tls_certificate: str | None = None
    """A PEM file; without one put a proxy that speaks TLS in front."""
    tls_key: str | None = None
    """The PEM file with its key."""
    behind_proxy: bool = False
    """Whether a proxy on this machine says who the client is, and speaks TLS."""
    rate: float = 200.0
    """Requests a second for each token, after a burst of twice as many."""
    guesses: int = 10
    """Wrong tokens a minute from one address."""
    largest_body: int = 65_536
    """Bytes."""
    patience: float = 10.0
    """Seconds for a body to arrive."""
    work_seconds: float = 20.0
    """Seconds of the processor that one account or plan may take."""
    price_seconds: float = 10.0
    """Seconds of the processor that one quote, or the price of one charge, may take."""
    work_a_minute: float = 20.0
    """Seconds of the processor that one token may use within about a minute, while others wait."""
    work_memory: int = 1024
    """Mebibytes that one of these may take."""
    most_waiting: int = 100
    """Requests of one token that may wait to be counted."""
    most_connections: int = 1000
    """Connections in all; the longest idle one makes room for another."""
    most_from_one_address: int = 200
    """Connections from one address, and requests at a time from one behind a trusted proxy."""
    trusted_proxies: str = "127.0.0.1"
    """Addresses, separated by commas, that may say who the client is; where behind_proxy is true."""
    most_scopes: int = 16
    """Scopes in one charge."""
    largest_charge: str | None = None
    """The share of a limit that one charge may take, such as 1/10."""
    largest_reserved: str = "1/2"
    """The share of a limit that may sit reserved."""

    def __post_init__(self) -> None:
        checks = [
            (0 < self.port < 65_536, "port must be between 1 and 65535"),
            (self.rate > 0 and self.patience > 0, "rate and patience must be above 0"),
            (self.guesses >= 1 and self.most_scopes >= 1, "guesses and most_scopes must be at least 1"),
            (self.largest_body >= 1024, "largest_body must be at least 1024"),
            (min(self.work_seconds, self.price_seconds, self.work_a_minute) > 0, "seconds must be above 0"),
            (self.work_memory >= 64 and self.most_waiting >= 1, "work_memory must be at least 64, most_waiting 1"),
            (min(self.most_connections, self.most_from_one_address) >= 1, "connections must be at least 1"),
            ((self.tls_certificate is None) == (self.tls_key is None), "tls_certificate and tls_key go together"),
        ]
        for fine, problem in checks:
            if not fine:
                raise ValueError(problem)
        for name in ("largest_charge", "largest_reserved"):
            share = getattr(self, name)
            if share is not None and not 0 < exact(share, name) <= 1:
                raise ValueError(f"{name} must be a share above 0 and at most 1")

    def share(self, name: str) -> Fraction | None:
        """The exact number of a setting that is a share; None where it is not set."""
        text = getattr(self, name)
        return None if text is None else exact(text, name)


def load(path: str | None = None, environ: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """From a file, then the environment, then what is given here."""
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise InputError(f"{path}: {problem}", argument="config") from None
    variables = os.environ if environ is None else environ
    for field in Settings.__struct_fields__:
        if (text := variables.get(f"BURSAR_{field.upper()}")) is not None:
            values[field] = text
    values.update({name: value for name, value in given.items() if value is not None})
    if isinstance(where := values.get("ledger"), str) and "://" not in where:
        values["ledger"] = f"sqlite:///{where}"  # a plain file, as on the command line
    try:
        return msgspec.convert(values, Settings, strict=False)
    except (msgspec.ValidationError, ValueError) as problem:
        where = "" if path is None else f"{path}: "
        raise InputError(f"{where}{problem}", argument="config") from None
