"""Optional parts without their packages: a sentence that says what to install, in Python and on the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bursar as b
from bursar.extras import needs

HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""
PARTS = [
    ("postgres", {"psycopg"}, "b.Ledger('postgresql://nowhere/x')"),
    ("plot", {"matplotlib"}, "import bursar.plot; bursar.plot.epsilon_figure(b.Gaussian(sigma=1))"),
    ("client", {"httpx"}, "from bursar.client import Client"),
    ("google", {"dp_accounting"}, "import bursar.adapters.google"),
    ("opendp", {"opendp"}, "import bursar.adapters.opendp"),
    ("opacus", {"opacus"}, "import bursar.adapters.opacus"),
    ("jax", {"jax_privacy"}, "import bursar.adapters.jax"),
]
COMMANDS = [
    ("postgres", {"psycopg"}, ["ledger", "show", "--ledger", "postgresql://nowhere/x"]),
    ("postgres", {"psycopg"}, ["serve", "--ledger", "postgresql://nowhere/x"]),
    ("plot", {"matplotlib"}, ["plot", "epsilon", "gaussian(sigma=1)"]),
    *(("serve", {name}, ["serve"]) for name in ("starlette", "uvicorn", "jinja2", "httptools")),
]


def ran(hidden: set[str], code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Some code in a process that cannot import these packages."""
    return subprocess.run(
        [sys.executable, "-c", HIDDEN.format(hidden=hidden) + code],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )


@pytest.mark.parametrize(("extra", "hidden", "code"), PARTS, ids=[part[0] for part in PARTS])
def test_in_python(extra: str, hidden: set[str], code: str, tmp_path: Path) -> None:
    """An error that is bad input for whoever catches bursar's, and an ImportError for whoever tries an import."""
    asked = f"""
import bursar as b
try:
    {code}
except b.InputError as missing:
    assert isinstance(missing, ImportError)
    print(missing)
"""
    done = ran(hidden, asked, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"needs the extra: pip install 'bursar[{extra}]'" in done.stdout


@pytest.mark.parametrize(("extra", "hidden", "words"), COMMANDS, ids=[" ".join(one[2][:2]) for one in COMMANDS])
def test_on_the_command_line(extra: str, hidden: set[str], words: list[str], tmp_path: Path) -> None:
    """One line, and exit code 2."""
    done = ran(hidden, f"from bursar.cli.main import main\nsys.argv = ['bursar', *{words!r}]\nmain()", tmp_path)
    assert done.returncode == 2, done.stderr
    assert f"pip install 'bursar[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_faults_of_our_own_stay_faults() -> None:
    """A module of bursar that is missing is not blamed on an extra; a package that is there and does not load is."""
    with pytest.raises(ModuleNotFoundError) as missing, needs("serve", "the service"):
        import bursar.nowhere  # noqa: F401
    assert not isinstance(missing.value, b.errors.ExtraMissing)
    with pytest.raises(b.errors.ExtraMissing, match="no pq wrapper"), needs("postgres", "PostgreSQL"):
        raise ImportError("no pq wrapper available")
