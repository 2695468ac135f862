"""Every finding of an attack stays mended: the scripts of this folder show each of them, the table names them."""

from __future__ import annotations

from pathlib import Path

import pytest
from trying import ROOT, SECTIONS, TABLE, Outcome, finding, scripts, tried

SCRIPTS = scripts()


def test_the_table_names_every_script() -> None:
    """With what it is about, as it shows before and after; no script stands aside of the sections."""
    text = TABLE.read_text(encoding="utf-8")
    for script in SCRIPTS:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| [`{script.stem}`]")]
        assert finding(script).replace("|", "\\|") in row
        assert " | present: " in row, script.stem
        assert " | mended: " in row, script.stem
    shared = {"shared.py", "trying.py", "run.py", Path(__file__).name}
    assert {path.name for path in TABLE.parent.glob("*.py")} == {script.name for script in SCRIPTS} | shared
    assert {script.stem.partition("_")[0] for script in SCRIPTS} == set(SECTIONS)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("print('measured: x')", "mended"),
        ("print('measured: x'); raise SystemExit(1)", "present"),
        ("raise SystemExit(0)", "could not be tried: exit code 0"),
        ("raise SystemExit(3)", "could not be tried: exit code 3"),
        ("1 / 0", "could not be tried: exit code 1"),
    ],
)
def test_a_script_that_measures_nothing_shows_nothing(body: str, status: str, tmp_path: Path) -> None:
    """Only one that prints what it measured is believed, and its exit code says which way."""
    script = tmp_path / "doors_none.py"
    script.write_text(body, encoding="utf-8")
    assert tried(script, ROOT / "src").status == status


@pytest.mark.soak
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_it_stays_mended(script: Path) -> None:
    """On the present source."""
    outcome: Outcome = tried(script, ROOT / "src")
    assert outcome.status == "mended", f"{outcome}\n{outcome.output}"
