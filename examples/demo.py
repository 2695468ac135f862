"""A tour of what bursar does, on a realistic workload. Run it with `make demo`."""

from __future__ import annotations

from rich.console import Console
from rich.rule import Rule

import bursar as b


def main() -> None:
    """Show the account of three workloads."""
    console = Console(width=min(Console().width, 100), highlight=False)
    survey = b.RandomizedResponse(epsilon=0.1) * 100
    tables = b.Gaussian(sigma=20) * 1000 + b.Laplace(scale=100) * 5
    training = b.PoissonSampled(b.Gaussian(sigma=1), rate="0.01") * 10_000

    console.print(Rule("account: a survey of 100 randomized responses"))
    console.print(b.account(survey, delta=1e-6))
    console.print("\nNaively 100 × 0.1 = 10. The optimum is known exactly, from both sides.\n")

    console.print(Rule("account: a statistical agency's tables"))
    console.print(b.account(tables, delta=1e-6))

    console.print(Rule("account: ten thousand steps of private training"))
    console.print(b.account(training, delta=1e-6))
    console.print()
    console.print("Every ≤ is proved, rounding included; every theorem that does not apply says why.")


if __name__ == "__main__":
    main()
