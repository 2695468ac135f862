"""One story in a screen and a half: a statistical office publishes from a census. Run it with `make demo`."""

from __future__ import annotations

import tempfile
import textwrap

import bursar as b
from bursar.presented import columns

WIDTH = 100


def say(text: str = "") -> None:
    """A sentence, in lines that fit a terminal."""
    print(textwrap.fill(text, WIDTH) if text else "")


def ask(question: str) -> None:
    """What comes next."""
    print(f"\n── {question} ".ljust(WIDTH, "─"))


def count() -> None:
    """Account: what a plan of releases costs, beside what a textbook says."""
    ask("account: what would a thousand tables and five maps cost?")
    tables = "gaussian(sigma=20)*1000 + laplace(scale=100)*5"
    survey = "randomized_response(epsilon=0.1, relation=replace_one)*100"
    training = "poisson(gaussian(sigma=1), rate=0.01)*10_000"
    rows = []
    for name, what in (("tables and maps", tables), ("a survey", survey), ("training a model", training)):
        report = b.account(what, delta=1e-6)
        rows.append([name, what, f"{report.epsilon:.4f}", report.decided_by[0]])
    print(columns(["", "releases", "ε at δ = 1e-6, proved", "decided by"], rows, words=2))
    naive, textbook = (b.account(survey, delta=1e-6, theorems=[name]).epsilon.upper for name in ("basic", "advanced"))
    say(f"The survey by adding up: {naive:.4g}; by the textbook: {textbook:.4g}. Both ends above are proved.")


def search() -> None:
    """Plan: the noise that fits a promise."""
    ask("plan: how much noise keeps ε = 1?")
    sigma = b.plan("poisson(gaussian(sigma=?), rate=0.01)*10_000", epsilon=1, delta=1e-6)
    less = 1 - float(sigma.neighbour or 0) / float(sigma.value)
    say(f"Training: σ = {sigma.value:.6g} fits; {less:.0e} of it less does not.")
    shares = b.split([1, 2, 5], epsilon=1, delta=1e-6).shares
    noises = ", ".join(f"± {share.half_width:.3g}" for share in shares)
    say(f"Three counts that one person moves by 1, 2 and 5 can share it: {noises}, 95 % of the time.")


def spend() -> None:
    """Spend: a budget that three people share until it refuses."""
    ask('spend: the budget "census", ε = 1 at δ = 10⁻⁶, protects each person')
    with tempfile.TemporaryDirectory() as folder, b.Ledger(f"sqlite:///{folder}/budget.db", alert=None) as ledger:
        ledger.open("census", epsilon="1", delta="1e-6", unit="person")
        ledger.open("census/maps", rho="1/100")
        table, map_of = b.Gaussian(sigma=15), b.Laplace(scale=40)
        say(f"Ada asks before she spends: {ledger.quote('census', table).fits} tables like {table} would fit.")
        for number in range(6):
            ledger.spend("census", table, key=f"table-{number}", by="ada")
        again = ledger.spend("census", table, key="table-5", by="ada")
        twice = "nothing is charged twice" if again.replayed else "it is charged twice"
        say(f"She publishes six. Her script is started again by mistake: {twice}.")
        maps = 0
        try:
            while True:
                ledger.spend("census/maps", map_of, key=f"map-{maps}", by="bob")
                maps += 1
        except b.BudgetExceeded as refusal:
            say(f"Bob draws {maps} maps from a share of it, then he is refused: {refusal}")
        print(ledger.show("census"))
        say(f"An auditor checks the journal: {ledger.verify()}.")


def main() -> None:
    """The story, and what to try next."""
    say("A census office means to publish, and to promise everybody in the census that it shows.")
    count()
    search()
    spend()
    ask("what to try next")
    print(
        "  source .venv/bin/activate                                   so that your shell finds bursar and its Python\n"
        "  bursar account 'gaussian(sigma=20)*1000' --delta 1e-6       your own releases; -h explains every command\n"
        "  bursar serve --demo                                         the same as a dashboard in the browser\n"
        "  pip install opendp && python examples/kmeans.py             private k-means, with a table and a picture\n"
        "  docs/index.md, or the book: make docs-serve                 from Python, from a notebook, from a service"
    )


if __name__ == "__main__":
    main()
