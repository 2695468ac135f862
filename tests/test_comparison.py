"""The comparison: its page is made of what was asked, everybody was asked everything, and nobody is flattered."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from support.where import TOP

sys.path.append(str(TOP / "benchmarks"))
sys.path.append(str(TOP / "docs"))

import budgets
import compared
import comparison
import contest
import contestants
import kept
import remarks
import stamp

FOUND = json.loads((TOP / "benchmarks" / "comparison.json").read_text(encoding="utf-8"))


def test_the_parameters_printed_are_those_that_ran() -> None:
    """The questions that were answered are the ones that the benchmark asks now, digit for digit."""
    assert FOUND["works"] == {name: str(work) for name, work in contest.WORKS.items()}
    page = (TOP / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert [said for said in FOUND["works"].values() if f"\n{said}.\n" not in page] == []


def test_everybody_was_asked_everything() -> None:
    """Each peer has an answer, a failure or "not offered" for each question; bursar answers all of them."""
    assert list(FOUND["answers"]) == list(contestants.PEERS)
    assert {len(given) for given in FOUND["answers"].values()} == {len(contest.WORKS)}
    assert all("value" in answer for answer in FOUND["answers"]["bursar"])
    assert list(FOUND["budgets"]) == list(budgets.KEEPERS)
    assert FOUND["questions"] == list(budgets.QUESTIONS)
    assert {len(given) for given in FOUND["budgets"].values()} == {len(budgets.QUESTIONS)}
    homes = {path.stem for path in (TOP / "benchmarks" / "apart" / "peers").glob("*.py")}
    assert set(contestants.APART.values()) <= homes


@pytest.mark.parametrize(
    ("ends", "two", "said"),
    [
        ((0.9, 0.9), False, "**below** by 10 %"),
        ((0.9, 0.95), True, "**below** by 5 %"),
        ((1.0, 1.0), False, "the same"),
        ((1.1, 1.1), False, "above by 10 %"),
        ((0.9, 1.1), True, "contains it"),
        ((1.1, 1.2), True, "**above**, excludes it"),
        ((float("inf"), float("inf")), False, "infinite"),
    ],
)
def test_sides(ends: tuple[float, float], two: bool, said: str) -> None:
    """Where an answer lies beside a truth of 1."""
    assert compared._side(ends, (1.0, 1.0), two=two) == said


@pytest.mark.parametrize(
    ("value", "truth", "below"),
    [
        (0.9, [1.0, 1.0], True),
        ([0.5, 1.1], [1.0, 1.0], False),
        ("inf", [1.0, 1.0], False),
        (11, 10, True),
        (9, 10, False),
        ({"high": [0.2, 0.09]}, {"low": [0.2, 0.1], "high": [0.2, 0.1]}, True),
        ({"high": [0.2, 0.1]}, {"low": [0.2, 0.1], "high": [0.2, 0.1]}, False),
    ],
)
def test_what_is_below_is_counted(value: object, truth: object, below: bool) -> None:
    """An ε that is too small, more steps than fit, a curve with one point too low."""
    assert compared.is_below(value, truth) is below


def test_failures_and_faster_peers_are_said() -> None:
    """A row with the error, and under the table who was faster and who does not offer the question."""
    answers = {
        "bursar": {"value": [1.0, 1.0], "seconds": 0.1, "megabytes": 1},
        "quick": {"value": 2.0, "seconds": 0.01, "megabytes": 1},
        "broken": {"failed": "ValueError", "megabytes": 1},
        "absent": {"failed": "not offered"},
    }
    text = "\n".join(compared._section(answers, "a question"))
    assert "| broken | ValueError |" in text
    assert "Faster than bursar here: quick. Not offered: absent." in text
    assert "| absent |" not in text


ANSWERS = {"answers": {"bursar": [], "other": []}, "budgets": {"keeper": []}}


def test_one_run_is_said_to_be_one() -> None:
    """Only when everybody has the name of the run in which bursar was asked."""
    run, apart = compared.runs({**ANSWERS, "runs": dict.fromkeys(("bursar", "other", "keeper"), "Monday")})
    assert (run, apart) == ("Monday", {})
    assert compared.said_of(run, apart) == "Everybody was asked in one run: Monday."


@pytest.mark.parametrize("known", [{"bursar": "Monday", "keeper": "Monday"}, {"other": "Tuesday"}])
def test_who_was_asked_apart_is_said(known: dict[str, str]) -> None:
    """A peer whose run is another, or has no name, is not counted to the run."""
    run, apart = compared.runs({**ANSWERS, "runs": known})
    assert apart == {"other": known.get("other")}
    said = compared.said_of(run, apart)
    assert said.startswith("Not all of one run.")
    assert "(other)" in said


def test_runs_without_a_name_are_not_one() -> None:
    """Answers from before runs had names are not called one run."""
    assert "one run" not in compared.said_of(*compared.runs(ANSWERS))


def test_asking_one_anew_keeps_the_run_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All parts of `make bench` have its name; a peer that is asked later has another."""
    monkeypatch.setattr(comparison, "FILE", tmp_path / "comparison.json")
    monkeypatch.setattr(comparison, "interpreter", lambda name: (sys.executable, None))
    monkeypatch.setattr(comparison, "asked", lambda name, python: comparison.failed(name, "no"))
    monkeypatch.setattr(comparison, "version", lambda name, python: "1")
    monkeypatch.setenv("BENCH_RUN", "Monday")
    comparison.main([])
    whole = json.loads(comparison.FILE.read_text(encoding="utf-8"))
    assert compared.runs(whole) == ("Monday", {})
    assert [*whole["answers"], *whole["budgets"]] == [*contestants.PEERS, *budgets.KEEPERS]
    monkeypatch.delenv("BENCH_RUN")
    comparison.main(["opacus GDP"])
    run, apart = compared.runs(json.loads(comparison.FILE.read_text(encoding="utf-8")))
    assert run == "Monday"
    assert list(apart) == ["opacus GDP"]
    assert stamp.machine() in str(apart["opacus GDP"])


def test_bench_is_one_run_that_writes_the_page() -> None:
    """The recipe names a run, asks bursar and everybody in it, and makes the page of both."""
    told = subprocess.run(["make", "-n", "bench"], cwd=TOP, capture_output=True, text=True, check=True).stdout
    parts = ("BENCH_RUN=", "benchmarks/run.py", "benchmarks/comparison.py", "docs/build.py comparison.md")
    places = [told.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


RESULTS = "# R\n\nRun: Monday.\n\n## Ledger: batches\n\n| a |\n|---|\n| 1 |\n\n## Other\n\n| b |\n"


def test_the_ledger_stands_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sections are quoted from the results, with the run that they are of, and what is missing is named."""
    monkeypatch.setattr(kept, "FILE", tmp_path / "RESULTS.md")
    kept.FILE.write_text(RESULTS, encoding="utf-8")
    same, other = ("\n".join(kept.floors(run)) for run in ("Monday", "Tuesday"))
    assert "### Ledger: batches\n\n| a |" in same
    assert "| b |" not in same
    assert "of the same run as the answers above." in same
    assert "The figures are of Monday." in other
    assert "Not measured in that run: cohorts." in same


def test_keepers_are_asked_what_they_would_do() -> None:
    """bursar's ledger on the questions, and one that admits everything."""
    ours = budgets.KEEPERS["bursar, in memory"]
    assert budgets.eleven(ours) == 11
    assert budgets.small(ours) == 557
    assert budgets.refused(ours) == "passes, refused, passes"
    assert budgets.refused(lambda epsilon, delta: lambda loss: True) == "passes, passes, passes"

    def floats(epsilon: Fraction, delta: Fraction) -> budgets.Spend:
        spent = [0.0]

        def spend(loss: Fraction) -> bool:
            spent[0] += float(loss)
            return spent[0] <= float(epsilon)

        return spend

    assert budgets.eleven(floats) == 10


def test_a_faster_keeper_is_named() -> None:
    """Under the table of budgets, for each length of a row."""
    given = [{"value": 1, "seconds": 0.5, "megabytes": 1}]
    found = {"questions": ["250 in a row"], "budgets": {"bursar, SQLite †": given, "slow": given}}
    assert "250 in a row, nobody." in kept._ahead(found)
    found["budgets"]["quick"] = [{"value": 1, "seconds": 0.1, "megabytes": 1}]
    assert "250 in a row, quick." in kept._ahead(found)


def test_remarks_are_there_while_the_answers_bear_them_out() -> None:
    """Of a grid that is on the wrong side, of a Rényi accountant that never is, and of negative answers."""
    peers = {"bursar": 1.0, "dp_accounting PLD, default": 0.1, "some RDP": 1.1}

    def page(values: dict[str, float]) -> str:
        answers = {peer: [{"value": value}] for peer, value in values.items()}
        found = {"works": {"responses": "…"}, "answers": answers, "versions": {"dp-accounting": "0.6.0"}}
        return "\n".join([*remarks.others(found, compared.is_below), *remarks.notes(found, compared.is_below)])

    assert "(0.6.0) ignores the count" in page(peers)
    assert "no row here is below the truth" in page(peers)
    mended = page({**peers, "dp_accounting PLD, default": 1.0, "some RDP": -0.9})
    assert "ignores the count" not in mended
    assert "below the truth here: some RDP" in mended
    assert "Negative answers" in mended
