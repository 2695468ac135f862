"""Every accountant and every keeper of a budget on the same questions, in one run: `make bench` writes comparison.json.

`comparison.py NAME …` asks these anew and keeps the answers of the others: each answer names the run that it is of, and
the page says who was asked apart. CONTEST_SECONDS is how much of the processor's time a question may take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import stamp
from budgets import KEEPERS, QUESTIONS
from contest import WORKS
from contestants import APART, PEERS
from homes import home

HERE = Path(__file__).parent
FILE = HERE / "comparison.json"
PACKAGES = {"dp_accounting": "dp-accounting", "prv_accountant": "prv-accountant", "OpenDP": "opendp"}


def interpreter(name: str) -> tuple[Path | str, str | None]:
    """Where somebody lives, and why they do not; an environment that is missing is made."""
    return home(APART[name]) if name in APART else (sys.executable, None)


def package(name: str) -> str:
    """Which package answers by this name."""
    first = name.split(maxsplit=1)[0].strip(",")
    return PACKAGES.get(first, first)


def asked(name: str, python: Path | str) -> list[dict[str, Any]]:
    """The answer to every question."""
    program = "contest.py" if name in PEERS else "budgets.py"
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [python, "-W", "ignore", HERE / program, name],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **threads},
        encoding="utf-8",
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    said = (done.stderr.strip().splitlines() or ["no answer"])[-1][:80]
    return [*lines, *failed(name, said)[len(lines) :]]


def failed(name: str, why: str) -> list[dict[str, Any]]:
    """No answer to any question."""
    return [{"failed": why} for _ in (WORKS if name in PEERS else QUESTIONS)]


def version(name: str, python: Path | str) -> str:
    """Of the package, in the environment where it answers."""
    program = f"from importlib.metadata import version; print(version({package(name)!r}))"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=False).stdout.strip()


def main(names: list[str]) -> None:
    """Ask everybody everything, or some of them."""
    everybody = [*PEERS, *KEEPERS]
    unknown = set(names) - set(everybody)
    if unknown:
        sys.exit(f"no such peer: {', '.join(sorted(unknown))}; there are {'; '.join(everybody)}")
    before = json.loads(FILE.read_text(encoding="utf-8")) if names and FILE.exists() else {}
    versions: dict[str, str] = before.get("versions", {})
    runs: dict[str, str] = before.get("runs", {})
    answers: dict[str, list[dict[str, Any]]] = before.get("answers", {}) | before.get("budgets", {})
    this = stamp.run()
    for name in names or everybody:
        begun = time.perf_counter()
        python, missing = interpreter(name)
        if missing is None:
            versions[package(name)] = version(name, python)
        answers[name] = asked(name, python) if missing is None else failed(name, f"did not install: {missing}")
        runs[name] = this
        print(f"{name}: {len(answers[name])} answers in {time.perf_counter() - begun:.0f} s", flush=True)
        page = {
            "runs": {name: runs[name] for name in everybody if name in runs},
            "versions": versions,
            "works": {title: str(work) for title, work in WORKS.items()},
            "answers": {name: answers[name] for name in PEERS if name in answers},
            "questions": list(QUESTIONS),
            "budgets": {name: answers[name] for name in KEEPERS if name in answers},
        }
        text = json.dumps(page, indent=1, ensure_ascii=False).replace("Infinity", '"inf"')
        FILE.write_text(text + "\n", encoding="utf-8")  # after each, so that a run that is stopped leaves what it has


if __name__ == "__main__":
    main(sys.argv[1:])
