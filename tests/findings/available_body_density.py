"""A quote of a density that swings a million times burned minutes. It is to be
answered, or refused, within its ceilings: 10 s of the processor to read it, and 10 s to price it.
"""

from __future__ import annotations

from shared import burned, judged

WHAT = "densities(p='1+sin(1000000*x)/2', q='1', low=0, high=1)"


def main() -> tuple[bool, str]:
    """On a service with default settings."""
    return burned("/v1/quote", {"scopes": ["data"], "what": WHAT})


if __name__ == "__main__":
    judged(main)
