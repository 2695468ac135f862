"""Tables of (user, value) for person filters."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

SECRET = bytes(range(32))
Rows = list[tuple[Any, Any]]


def arrow(rows: Rows) -> Any:
    """An Arrow table."""
    users, values = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"user": pa.array(users, pa.string()), "value": pa.array(values, pa.float64())})
