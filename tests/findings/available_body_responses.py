"""A quote of 399 distinct responses burned minutes. It is to be
answered, or refused, within its ceilings: 10 s of the processor to read it, and 10 s to price it.
"""

from __future__ import annotations

from shared import burned, judged

WHAT = " + ".join(f"randomized_response(epsilon=0.{1000 + number})" for number in range(399))


def main() -> tuple[bool, str]:
    """On a service with default settings."""
    return burned("/v1/quote", {"scopes": ["data"], "what": WHAT})


if __name__ == "__main__":
    judged(main)
