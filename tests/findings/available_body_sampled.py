"""An account of 29 sampled Laplaces, to be known to 1e-12, burned minutes. It is to be answered, or refused, within its
ceiling: 20 s of the processor.
"""

from __future__ import annotations

from shared import burned, judged

WHAT = " + ".join(f"poisson(laplace(scale=1.{100 + number}), rate=0.1)" for number in range(29))


def main() -> tuple[bool, str]:
    """On a service with default settings."""
    body = {"composition": WHAT, "delta": "1e-6", "width": "1e-12", "effort": "high"}
    return burned("/v1/account", body, most=30.0)


if __name__ == "__main__":
    judged(main)
