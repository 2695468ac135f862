"""What is optional: parts that need packages which not everybody has installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bursar.errors import ExtraMissing


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Around the imports of an optional part: a package that is missing is a sentence that says what to install.

    A package may also be there and not load (psycopg without its C library); what it said is part of the sentence. A
    module of bursar itself that is missing is a fault, and stays one.
    """
    try:
        yield
    except ExtraMissing:
        raise
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] == "bursar":
            raise
        raise ExtraMissing(f"{what} needs the extra: pip install 'bursar[{extra}]' ({missing})") from missing
