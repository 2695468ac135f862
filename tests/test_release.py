"""What is released: the wheel is built from the sdist, holds the package whole and nothing else, and works."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bursar as b
from support.where import TOP

sys.path.insert(0, str(TOP / "docs"))

import release


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, by way of the sdist."""
    _, made = release.built(tmp_path_factory.mktemp("dist"))
    return made


def test_the_wheel_is_the_package(wheel: Path) -> None:
    """Every file of the source is in it, and no test, page or example is."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        (about,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        metadata = archive.read(about).decode()
    source = TOP / "src"
    there = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert inside == {name for name in there if "__pycache__" not in name}
    assert f"Version: {b.__version__}" in metadata
    assert "Requires-Python: >=3.11" in metadata


def test_the_wheel_works(wheel: Path, tmp_path: Path) -> None:
    """Unpacked alone on the path it accounts, plans and keeps a ledger: what `make release` tries on every Python."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n{release.SMOKE}\nprint(b.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "site") in done.stdout


def test_versions_and_pythons_agree() -> None:
    """The citation has the package's version; the Pythons that are promised are those that are tried."""
    citation = (TOP / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {b.__version__}\n" in citation
    project = (TOP / "pyproject.toml").read_text(encoding="utf-8")
    promised = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    assert tuple(promised) == release.PYTHONS


def test_pythons_are_found_by_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name or in pyenv's folder; a name that leads to another version, or nowhere, is no Python of that version."""
    mine = ".".join(map(str, sys.version_info[:2]))
    kept = tmp_path / "versions" / f"{mine}.0" / "bin"
    kept.mkdir(parents=True)
    (kept / "python").symlink_to(sys.executable)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert release.found(mine) == str(kept / "python")
    for name, program in (("python3.98", sys.executable), ("python3.99", "/bin/false")):
        (tmp_path / name).symlink_to(program)
        assert release.found(name.removeprefix("python")) is None
    assert [test for test in release.TESTS if not (TOP / test).exists()] == []
