"""The literature: one BibTeX file, looked up by key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache


@cache
def entries() -> dict[str, str]:
    """Every entry of references.bib by its key."""
    from importlib import resources  # for those who cite, not for all who count

    text = resources.files("bursar").joinpath("references.bib").read_text(encoding="utf-8")
    found = {}
    for match in re.finditer(r"^@\w+\{([^,\s]+),.*?^\}", text, re.MULTILINE | re.DOTALL):
        found[match[1]] = match[0]
    return found


def bibtex(keys: Iterable[str]) -> str:
    """The entries for some keys, each once, in the order given."""
    known = entries()
    return "\n\n".join(known[key] for key in dict.fromkeys(keys) if key in known)
