"""Every accountant that is there, on the same questions, in one run: `make bench` writes comparison.json."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from contest import PEERS, WORKS

HERE = Path(__file__).parent
FILE = HERE / "comparison.json"
PACKAGES = ("bursar", "dp_accounting", "prv_accountant", "opacus")
LONGEST = 120  # seconds of the processor


def asked(peer: str, work: str) -> dict[str, Any]:
    """One answer; what takes too long, or falls, has failed."""
    limit = f'ulimit -t {LONGEST}; exec {sys.executable} {HERE / "contest.py"} "$1" "$2"'
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        ["sh", "-c", limit, "sh", peer, work], capture_output=True, text=True, check=False, env=alone, encoding="utf-8"
    )
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if lines else {"failed": f"no answer within {LONGEST} s, or no memory"}


def main() -> None:
    """Ask everybody everything."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    found: dict[str, dict[str, Any]] = {}
    for work in WORKS:
        answers = {}
        for peer in PEERS:
            answers[peer] = asked(peer, work)
            print(work, peer, answers[peer], flush=True)
        found[work] = {"asked": str(WORKS[work]), "answers": answers}
        page = {"machine": machine, "versions": versions, "works": found}
        text = json.dumps(page, indent=1, ensure_ascii=False, default=float).replace("Infinity", '"inf"')
        FILE.write_text(text + "\n", encoding="utf-8")  # after each, so that a run that is stopped leaves what it has


if __name__ == "__main__":
    main()
