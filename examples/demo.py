"""A tour of what bursar does, on a realistic workload. Run it with `make demo`."""

from __future__ import annotations

import tempfile

from rich.console import Console
from rich.rule import Rule

import bursar as b


def main() -> None:
    """Show the account of three workloads, plans, and a budget that is spent until it refuses."""
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
    console.print(Rule("plan: how much noise for that training at ε = 1?"))
    found = b.plan("poisson(gaussian(sigma=?), rate=0.01)*10000", epsilon=1, delta=1e-6)
    console.print(found.explain())

    console.print(Rule("plan: the noises of three queries that share (1, 1e-6)"))
    console.print(*str(b.split([1, 2, 5], epsilon=1, delta=1e-6, noise="gaussian")).splitlines()[:5], sep="\n")

    console.print(Rule("plan: how much noise do d counts need?"))
    console.print(str(b.lecture.counting([1, 10, 100, 1000], epsilon=1, delta=1e-6)))
    console.print()
    spend(console)
    console.print("Every ≤ is proved, rounding included; every theorem that does not apply says why.")


def spend(console: Console) -> None:
    """A small survey spends its budget on the embedded store, until a clear refusal."""
    console.print(Rule("spend: a budget of (1, 1e-6) that many people share"))
    with tempfile.TemporaryDirectory() as folder, b.Ledger(f"sqlite:///{folder}/budget.db", alert=None) as ledger:
        ledger.open("survey", epsilon="1", delta="1e-6", unit="person")
        ledger.open("survey/maps", parent="survey", rho="1/100")
        table, map_of = b.Gaussian(sigma=15), b.Laplace(scale=40)
        console.print(f"{ledger.quote('survey', table).fits} tables like {table} would fit.")
        for number in range(6):
            ledger.spend("survey", table, key=f"table-{number}")
        retry = ledger.spend("survey", table, key="table-5")
        console.print(f"Six are charged; a retry of the last one charges nothing: replayed = {retry.replayed}.")
        count = 0
        try:
            while True:
                ledger.spend("survey/maps", map_of, key=f"map-{count}")
                count += 1
        except b.BudgetExceeded as refusal:
            console.print(f"{count} maps, then a refusal: {refusal}")
        try:
            while True:
                ledger.spend("survey", table)
        except b.BudgetExceeded as refusal:
            console.print(str(refusal))
        console.print(str(ledger.show("survey")))
        console.print(str(ledger.verify()))
    console.print()


if __name__ == "__main__":
    main()
