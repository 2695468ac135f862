"""A quote of 29 sampled Laplaces burned minutes. It is to be
answered, or refused, within its ceilings: 10 s of the processor to read it, and 10 s to price it.
"""

from __future__ import annotations

from shared import burned, judged

WHAT = " + ".join(f"poisson(laplace(scale=1.{100 + number}), rate=0.1)" for number in range(29))


def main() -> tuple[bool, str]:
    """On a service with default settings."""
    return burned(WHAT)


if __name__ == "__main__":
    judged(main)
