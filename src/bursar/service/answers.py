"""Problems as HTTP answers."""

from __future__ import annotations

import math
from typing import Any

from starlette.responses import Response

from bursar.errors import RateLimited
from bursar.problems import told
from bursar.wire import encode


def response(error: Exception) -> tuple[Response, str]:
    """The answer to an error, and its code."""
    found = told(error)
    headers: dict[str, Any] = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(math.ceil(error.after))
    if found.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(encode(found), found.status, headers, "application/problem+json"), found.code
