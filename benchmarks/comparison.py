"""Every accountant on the same questions, in one run: `make bench` writes comparison.json, `make docs` the page.

`comparison.py PEER …` asks these anew and keeps the answers of the others; CONTEST_SECONDS is how much of the
processor's time a question may take.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from contest import WORKS
from contestants import APART, PEERS

HERE = Path(__file__).parent
FILE = HERE / "comparison.json"
sys.path.insert(0, str(HERE / "apart"))

import run as apart  # noqa: E402

PACKAGES = {"dp_accounting": "dp-accounting", "prv_accountant": "prv-accountant", "PLD-accounting": "PLD-accounting"}


def interpreter(peer: str) -> tuple[Path | str, str | None]:
    """Where a peer lives, and why it does not; an environment that is missing is made."""
    if peer not in APART:
        return sys.executable, None
    name = APART[peer]
    python = apart.PLACE / name / "bin" / "python"
    if python.exists():
        return python, None
    return apart.installed(name, apart.constants(HERE / "apart" / "peers" / f"{name}.py")["REQUIRES"])


def package(peer: str) -> str:
    """Which package answers as this peer."""
    first = peer.split(maxsplit=1)[0].strip(",")
    return PACKAGES.get(first, first)


def asked(peer: str, python: Path | str) -> list[dict[str, Any]]:
    """The peer's answer to every question."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [python, "-W", "ignore", HERE / "contest.py", peer],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **threads},
        encoding="utf-8",
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    said = (done.stderr.strip().splitlines() or ["no answer"])[-1][:80]
    return [*lines, *({"failed": said} for _ in range(len(WORKS) - len(lines)))]


def version(peer: str, python: Path | str) -> str:
    """Of the package, in the environment where it answers."""
    program = f"from importlib.metadata import version; print(version({package(peer)!r}))"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=False).stdout.strip()


def main(names: list[str]) -> None:
    """Ask everybody everything, or some of them."""
    unknown = set(names) - set(PEERS)
    if unknown:
        sys.exit(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    before = json.loads(FILE.read_text(encoding="utf-8")) if names and FILE.exists() else {}
    versions: dict[str, str] = before.get("versions", {})
    answers: dict[str, list[dict[str, Any]]] = before.get("answers", {})
    for peer in names or PEERS:
        python, missing = interpreter(peer)
        if missing is None:
            versions[package(peer)] = version(peer, python)
        answers[peer] = [{"failed": f"did not install: {missing}"} for _ in WORKS] if missing else asked(peer, python)
        print(peer, len(answers[peer]), flush=True)
        page = {
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "versions": versions,
            "works": {name: str(work) for name, work in WORKS.items()},
            "answers": {peer: answers[peer] for peer in PEERS if peer in answers},
        }
        text = json.dumps(page, indent=1, ensure_ascii=False).replace("Infinity", '"inf"')
        FILE.write_text(text + "\n", encoding="utf-8")  # after each, so that a run that is stopped leaves what it has


if __name__ == "__main__":
    main(sys.argv[1:])
