"""Typical mistakes, each with the sentence that it gets: it names the argument, shows the value, says what is allowed,
and knows the nearest right spelling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app

PYTHON: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: b.Gaussian(noise_multiplier=1.1),
        r"Gaussian has no argument noise_multiplier=1\.1 \(did you mean sigma\?\)",
    ),
    (b.Gaussian, r"Gaussian needs sigma; it takes sigma, relation"),
    (lambda: b.Gaussian(1, 2), r"Gaussian takes 1 argument without its name \(sigma\), not 2"),
    (lambda: b.Gaussian(sigma=0), r"sigma must be above 0, not 0"),
    (lambda: b.Gaussian(sigma="two"), r"sigma must be a number such as 0\.1, 1e-6 or 1/3, not 'two'"),
    (
        lambda: b.Gaussian(sigma=1, relation="add-remove"),
        r"relation must be one of .*not 'add-remove' \(did you mean add_remove\?",
    ),
    (lambda: b.Laplace(b=10), r"Laplace has no argument b=10 \(did you mean scale\?\)"),
    (lambda: b.PoissonSampled(b.Gaussian(1), q=0.01), r"no argument q=0\.01 \(did you mean rate\?\)"),
    (lambda: b.PoissonSampled(b.Gaussian(1), rate=1.5), r"rate must be .*at most 1, not 1\.5"),
    (lambda: b.RandomizedResponse(eps=1), r"no argument eps=1 \(did you mean epsilon\?\)"),
    (lambda: b.Gaussian(1) * 2.5, r"count must be a whole number, not 2\.5"),
    (lambda: b.Gaussian(1) * -1, r"count must be a whole number from 0 to \d+, not -1"),
    (lambda: b.Composition([1, 2]), r"a term is a mechanism or \(mechanism, count\), not 1"),
    (lambda: b.account(b.Gaussian(1)), r"ask one thing: give delta= to learn ε, or epsilon= to learn δ"),
    (lambda: b.account(b.Gaussian(1), detla=1e-6), r"account has no argument detla=1e-06 \(did you mean delta\?\)"),
    (lambda: b.account(b.Gaussian(1), 1e-6), r"account takes 1 argument without its name \(composition\), not 2"),
    (lambda: b.account(b.Gaussian(1), delta=2), r"delta must be at least 0 and at most 1, not 2"),
    (lambda: b.account("gaussian(sgima=1)", delta=1e-6), r"gaussian has no 'sgima' \(did you mean sigma\?\)"),
    (lambda: b.account("guassian(sigma=1)", delta=1e-6), r"unknown name 'guassian' \(did you mean gaussian\?\)"),
    (
        lambda: b.account("gaussian(sigma=1)*x", delta=1e-6),
        r"expected a count: a whole number such as 100, 1e3 or 10_000",
    ),
    (
        lambda: b.account("gaussian(sigma=1)", delta=1e-6, theorems=["advance"]),
        r"unknown theorem 'advance' \(did you mean advanced\?",
    ),
    (
        lambda: b.account("gaussian(sigma=1)", delta=1e-6, effort="hgih"),
        r"effort must be one of .*not 'hgih' \(did you mean high\?",
    ),
    (lambda: b.account(42, delta=1e-6), r"expected a mechanism or a composition, not 42"),
    (
        lambda: b.plan("gaussian(sigma=1)", epsilon=1, delta=1e-6),
        r"a plan has one unknown, written \?; this text has 0",
    ),
    (lambda: b.plan("gaussian(sigma=?)", target_epsilon=1, delta=1e-6), r"target_epsilon=1 \(did you mean epsilon\?\)"),
    (
        lambda: b.training(records=100, batch_size=200, epochs=1, sigma=1, delta=1e-5),
        r"batch_size must be .*from 1 to 100, not 200",
    ),
    (
        lambda: b.training(n=100, batch_size=20, epochs=1, sigma=1, delta=1e-5),
        r"no argument n=100 \(did you mean records\?\)",
    ),
    (
        lambda: b.convert("zcdp(rho=1)", "aprox_dp", delta=1e-6),
        r"to must be one of .*not 'aprox_dp' \(did you mean approx_dp\?",
    ),
    (lambda: b.convert("gaussian(sigma=1)", "zcdp"), r"expected a promise such as pure_dp\(epsilon=1\)"),
    (
        lambda: b.split([1, 2], epsilon=1, delta=1e-6, noise="gauss"),
        r"noise must be one of .*not 'gauss' \(did you mean gaussian\?",
    ),
]
"""In Python: what was written, and the sentence."""

SHELL: list[tuple[str, int, str]] = [
    (
        "acount x --delta 1e-6",
        2,
        r"there is no command acount \(did you mean account\?\); bursar -h shows what there is",
    ),
    ("calibrate x", 2, r"there is no command calibrate \(did you mean plan\?\)"),
    (
        "account gaussian(sigma=1) --detla 1e-6",
        2,
        r"there is no option --detla \(did you mean --delta\?\); bursar account -h",
    ),
    ("account gaussian(sigma=1) --eps 1", 2, r"there is no option --eps \(did you mean --epsilon\?\)"),
    ("account gaussian(sigma=1) --delta often", 2, r"delta must be a number such as 0\.1, 1e-6 or 1/3, not 'often'"),
    ("account gaussian(sigma=1)", 2, r"ask one thing: --delta to learn ε, or --epsilon to learn δ"),
    ("account gaussian(sigma=-1) --delta 1e-6", 2, r"sigma must be above 0, not -1"),
    ("account", 2, r"missing argument 'composition'"),
    ("plan gaussian(sigma=?) --epsilon 1", 2, r"missing option '--delta'"),
    (
        "plan declared(pure_dp(epsilon=2))*? --epsilon 1 --delta 0",
        1,
        r"no value meets ε = 1 at δ = 0; the closest is|no value",
    ),
    (
        "training --records 1e3 --batch-size 1.5 --epochs 1 --sigma 1 --delta 1e-5",
        2,
        r"batch_size must be a whole number, not 1\.5",
    ),
    ("training --dataset-size 5", 2, r"there is no option --dataset-size \(did you mean --records\?\)"),
    ("ledger spend budget gaussian(sigma=50)", 2, r"there is no ledger budget\.db"),
    ("ledger log", 2, r"there is no command log \(did you mean history\?\)"),
    ("ledger history data --most many", 2, r"most must be a number such as .*not 'many'"),
    ("ledger history data --most 0", 2, r"most must be a whole number from 1 to 1000, not 0"),
    (
        "plot loss gaussian(sigma=1) --to loss.jpg",
        2,
        r"to must be a file that ends in \.png, \.svg, \.pdf, not 'loss\.jpg'",
    ),
    ("convert zcdp(rho=1) --to gpd", 2, r"to must be one of .*not 'gpd' \(did you mean gdp\?\)"),
]
"""At the shell: the words, the exit code, and the sentence."""


def said(problem: Exception) -> str:
    """An error's words in one line."""
    return " ".join(str(problem).split())


@pytest.mark.parametrize(("mistake", "sentence"), PYTHON, ids=range(len(PYTHON)))
def test_in_python(mistake: Callable[[], Any], sentence: str) -> None:
    """Each is an InputError with its sentence; a wrong call is a TypeError too, as Python's own would be."""
    with pytest.raises(b.InputError) as found:
        mistake()
    assert re.search(sentence, said(found.value)), said(found.value)
    wrong_call = " has no argument " in str(found.value) or " without its name" in str(found.value)
    assert isinstance(found.value, TypeError) is (wrong_call or " needs " in str(found.value))


@pytest.mark.parametrize(("words", "code", "sentence"), SHELL, ids=range(len(SHELL)))
def test_at_the_shell(words: str, code: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one sentence on standard error and an exit code; with --json it is a problem, with the same words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BURSAR_LEDGER", raising=False)
    if "history" in words:
        with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
            ledger.open("data", epsilon=1)
    done = CliRunner().invoke(app, words.split())
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    assert done.stderr.startswith("bursar: ")
    assert re.search(sentence, " ".join(done.stderr.split())), done.stderr
    told = CliRunner().invoke(app, [*words.split(), "--json"])
    assert (told.exit_code, told.stderr) == (code, "")
    problem = json.loads(told.stdout)
    assert re.search(sentence, " ".join(problem["detail"].split())), problem
    assert problem["code"] in ("input_invalid", "impossible")


def test_there_are_forty() -> None:
    """The table does not shrink."""
    assert len(PYTHON) + len(SHELL) >= 40


def test_a_mechanism_that_is_no_dataclass_is_told_so() -> None:
    """A class of one's own whose parameters nobody can list is refused by its name, with what it lacks."""

    class Own(b.Mechanism):
        name, relation = "own", "add_remove"

        def claims(self) -> tuple[b.Claim, ...]:
            return (b.Claim(b.PureDP(epsilon=1), "DMNS06"),)

    with pytest.raises(b.InputError, match=r"Own is no dataclass.*@dataclass\(frozen=True\)"):
        b.account(Own(), delta=1e-6)


def test_a_fault_inside_is_no_wrong_call() -> None:
    """A TypeError of code that a function calls stays what it is."""

    def make(sigma: float) -> Any:
        return len(sigma)  # type: ignore[arg-type]

    with pytest.raises(Exception, match="has no len") as found:
        b.plan(make, epsilon=1, delta=1e-6)
    assert "needs" not in str(found.value)
