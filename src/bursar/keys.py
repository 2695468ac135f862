"""Idempotency keys: who sends a request again under the same key is charged once."""

from __future__ import annotations

import secrets
import time


def own_key() -> str:
    """A key for whoever gave none: rising with time, so that a large ledger's index grows at its end."""
    return f"auto-{time.time_ns():016x}-{secrets.token_hex(8)}"
