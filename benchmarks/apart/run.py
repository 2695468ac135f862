"""Peers, plug-ins and heavy packages, each in an environment of its own: `make peers` writes PEERS.md one folder up.

A peer is one file in `peers/`: REQUIRES are the packages that it needs, TESTS the tests of ours that need them (with
OPTIONS of pytest's), and run as a script it prints rows (`said.py`). Nothing else knows it, and no test depends on it.
`run.py NAME …` renews the rows of some peers only.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PLACE, PAGE = ROOT / ".peers", ROOT / "benchmarks" / "PEERS.md"
HEAD = """# Peers, each in an environment of its own

`make peers` writes this page, `python benchmarks/apart/run.py NAME` the rows of one peer. Times are processor time,
ours with nothing known beforehand.

| peer | question | ours, certified | theirs | account | peer | ratio |
|---|---|---|---|---|---|---|
"""


def constants(file: Path) -> dict[str, list[str]]:
    """REQUIRES, TESTS and OPTIONS of a peer, read without importing it."""
    found = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def run(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """A command on one thread, with what it says."""
    own = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1") | {"PYTHONPATH": str(HERE)}
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True, check=False)


def installed(name: str, requires: list[str]) -> tuple[Path, str | None]:
    """The python of the peer's environment, and why it is not there."""
    python = PLACE / name / "bin" / "python"
    made = run([sys.executable, "-m", "venv", PLACE / name])
    if made.returncode == 0:
        made = run([python, "-m", "pip", "install", "--quiet", *requires, "pytest", "hypothesis", ROOT])
    if made.returncode == 0:
        return python, None
    said = [line for line in made.stderr.splitlines() if line.startswith("ERROR")] or made.stderr.splitlines()[-1:]
    return python, (said or ["no reason given"])[0].removeprefix("ERROR: ").replace(str(ROOT), "…")[:140]


def versions(python: Path, requires: list[str]) -> str:
    """Which version of the first package answered."""
    name = requires[0].split("[")[0].split("=")[0].split("<")[0].split(">")[0]
    asked = run([python, "-c", f"from importlib.metadata import version; print(version({name!r}))"])
    return f"{name} {asked.stdout.strip()}"


def lines(name: str) -> Iterator[str]:
    """A peer's rows, or the one that says why there are none."""
    file = HERE / "peers" / f"{name}.py"
    known = constants(file)
    requires = known["REQUIRES"]
    python, missing = installed(name, requires)
    if missing is not None:
        yield f"| {name} | did not install: {missing} | | | | | |"
        return
    peer = f"{name}: {versions(python, requires)}"
    asked = run([python, "-P", file])  # the file has the name of its package, which must not stand in its way
    for line in asked.stdout.splitlines():
        row = json.loads(line)
        times = f"{row['account']:.2f} s | "
        times += "| " if row["peer"] is None else f"{row['peer']:.2f} s | {row['peer'] / row['account']:.1f}× "
        yield f"| {peer} | {row['question']} | {row['ours']} | {row['theirs']} | {times}|"
    if asked.returncode:
        yield f"| {peer} | did not run: {asked.stderr.strip().splitlines()[-1][:140]} | | | | | |"
    for test in known.get("TESTS", []):
        tried = run([python, "-m", "pytest", "-p", "no:cacheprovider", *known.get("OPTIONS", []), test])
        said = tried.stdout.strip().splitlines()[-1] if tried.stdout.strip() else tried.stderr.strip()[-140:]
        yield f"| {peer} | `{test}` | | {said.strip('= ')} | | | |"


def main(asked: list[str]) -> None:
    """Renew the rows of these peers, or of all."""
    names = sorted(file.stem for file in (HERE / "peers").glob("*.py"))
    unknown = set(asked) - set(names)
    if unknown:
        sys.exit(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    before = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    page = []
    for name in names:
        if asked and name not in asked:
            page += [line for line in before if line.startswith((f"| {name}:", f"| {name} "))]
            continue
        for line in lines(name):
            print(line, flush=True)
            page.append(line)
    PAGE.write_text(HEAD + "\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
