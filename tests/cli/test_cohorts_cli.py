"""`bursar cohorts`: from the first block to the last admitted row, on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bursar.cli import options
from bursar.cli.completing import DEFAULT, address
from bursar.cli.main import app
from bursar.ledger.ledger import Ledger


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command in a folder of its own, where there is a secret and a table."""
    monkeypatch.chdir(tmp_path)
    Path("secret.bin").write_bytes(bytes(range(32)))
    pq.write_table(pa.table({"user": ["ann", "bob"], "value": [0.5, 2.0]}), "rows.parquet")
    monkeypatch.setenv("BURSAR_SECRET_FILE", "secret.bin")
    runner = CliRunner()
    return lambda *words: runner.invoke(app, ["cohorts", *words])


def test_blocks(run: Any) -> None:
    """Create, charge, see the worst blocks, and a refusal that names them with exit code 1."""
    assert run("create", "ads", "--rho", "1/50", "--dimension", "day=30", "--dimension", "segment=9").exit_code == 0
    charged = run("charge", "ads", "gaussian(sigma=8)", "--range", "day=2:5", "--range", "segment=4", "--key", "q-1")
    assert charged.exit_code == 0, charged.output
    assert "day 2, segment 4: 39.07 % used" in run("worst", "ads", "--count", "1").output
    assert '"share"' in run("worst", "ads", "--json").output
    refused = run("charge", "ads", "gaussian(sigma=6)", "--range", "day=4")
    assert refused.exit_code == 1
    assert "day 4, segment 4" in refused.output


def test_people(run: Any) -> None:
    """Create, admit, compact, verify: the rows are in the file, and nothing about them on the screen."""
    create = ["create", "visits", "--rho", "1/100", "--folder", "visits", "--person", "user"]
    assert run(*create).exit_code == 0
    admitted = run("admit", "visits", "rows.parquet", "out.parquet", "--what", "gaussian(sigma=50)", "--key", "q-1")
    assert admitted.exit_code == 0, admitted.output
    assert pq.read_table("out.parquet").num_rows == 2
    assert "2" not in admitted.output.replace("out.parquet", "")
    sums = ["--sums", "value", "--norm", "1", "--sigma", "50", "--key", "q-2"]
    assert run("admit", "visits", "rows.parquet", "sums.parquet", *sums).exit_code == 0
    assert sorted(pq.read_table("sums.parquet")["value"].to_pylist()) == [0.5, 1.0]
    assert run("admit", "visits", "rows.parquet", "sums.parquet", *sums).exit_code == 2
    assert run("compact", "visits").exit_code == 0
    assert run("verify", "visits").exit_code == 0
    for path in Path("visits").rglob("*.parquet"):
        os.truncate(path, 100)
    damaged = run("verify", "visits")
    assert damaged.exit_code == 4
    assert "is not what was committed" in damaged.output


def test_how_many_are_exhausted(run: Any) -> None:
    """Noisy counts, the same again for the same key, until what was set aside is used up: exit code 1."""
    create = ["create", "visits", "--rho", "1/100", "--folder", "visits", "--person", "user", "--reserve", "1/1000"]
    assert run(*create).exit_code == 0
    run("admit", "visits", "rows.parquet", "out.parquet", "--what", "gaussian(sigma=50)", "--key", "q-1")
    ask = ["exhausted", "visits", "gaussian(sigma=5)", "--sigma", "25"]
    first = run(*ask, "--key", "how many", "--json")
    assert first.exit_code == 0, first.output
    assert json.loads(first.output).keys() == {"exhausted", "others", "share"}
    assert run(*ask, "--key", "how many", "--json").output == first.output
    assert "exhausted" in run(*ask, "--key", "how many").output
    refused = run(*ask, "--key", "again")
    assert refused.exit_code == 1
    assert "set aside" in refused.output
    assert run("create", "ads", "--rho", "1", "--dimension", "day=3", "--reserve", "1/2").exit_code == 2


def test_replay(run: Any) -> None:
    """A list of charges becomes a folder of decisions."""
    run("create", "visits", "--rho", "1/100", "--folder", "visits", "--person", "user")
    pq.write_table(pa.table({"query": [1, 2], "person": [7, 7], "charge": [6 * 10**6, 6 * 10**6]}), "charges.parquet")
    assert run("replay", "visits", "charges.parquet", "decided", "--buckets", "2").exit_code == 0
    assert pq.read_table(sorted(Path("decided").glob("*.parquet")))["admitted"].to_pylist() == [True, False]


@pytest.mark.parametrize(
    "words",
    [
        ["create", "ads", "--rho", "1", "--dimension", "day"],
        ["create", "ads", "--rho", "1", "--dimension", "day=3", "--folder", "x"],
        ["create", "ads", "--rho", "1", "--folder", "x", "--person", "user", "--secret-file", "none.bin"],
        ["create", "ads", "--rho", "1"],
        ["create", "ads", "--rho", "1", "--dimension", f"day={'9' * 5000}"],
        ["charge", "nowhere", "gaussian(sigma=8)"],
        ["admit", "nowhere", "rows.parquet", "no/such/out.parquet", "--what", "gaussian(sigma=50)", "--key", "q"],
        ["admit", "nowhere", "rows.parquet", "out.parquet", "--what", "gaussian(sigma=50)", "--key", "q"],
    ],
)
def test_bad_words(run: Any, words: list[str]) -> None:
    """Exit code 2, with a sentence."""
    found = run(*words)
    assert found.exit_code == 2
    assert "bursar: " in found.output


def test_ranges_are_counts(run: Any) -> None:
    """Written as counts are everywhere; what is none is refused, and told to machines in their words."""
    run("create", "ads", "--rho", "1/50", "--dimension", "day=1e3")
    assert run("charge", "ads", "gaussian(sigma=80)", "--range", "day=0:1e2").exit_code == 0
    assert run("charge", "ads", "gaussian(sigma=80)", "--range", "day=999").exit_code == 0
    for wrong in ("9" * 5000, "²", "1e-1", "1:", "1.5:2", "-1", "1e3"):
        found = run("charge", "ads", "gaussian(sigma=80)", "--range", f"day={wrong}", "--json")
        assert (found.exit_code, json.loads(found.output)["code"]) == (2, "input_invalid"), wrong


def test_whoever_is_logged_in_did_it(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry names who it was, without being told."""
    monkeypatch.setattr(options, "user", lambda: "ann")
    run("create", "ads", "--rho", "1/50", "--dimension", "day=30")
    run("charge", "ads", "gaussian(sigma=80)")
    run("create", "visits", "--rho", "1/100", "--folder", "visits", "--person", "user")
    run("admit", "visits", "rows.parquet", "out.parquet", "--what", "gaussian(sigma=50)", "--key", "q-1")
    run("compact", "visits")
    with Ledger(address(DEFAULT)) as ledger:
        actors = {name: [one.entry.actor for one in ledger.entries(name)] for name in ("ads", "visits")}
    assert actors == {"ads": ["ann"] * 2, "visits": ["ann"] * 3}


def test_for_machines(run: Any) -> None:
    """Every command has an answer in JSON."""
    create = ["create", "visits", "--rho", "1/100", "--folder", "visits", "--person", "user"]
    admit = ["admit", "visits", "rows.parquet", "out.parquet", "--what", "gaussian(sigma=50)", "--key", "q-1"]
    pq.write_table(pa.table({"query": [1], "person": [7], "charge": [6]}), "charges.parquet")
    replay = ["replay", "visits", "charges.parquet", "decided", "--buckets", "2"]
    said = {words[0]: json.loads(run(*words, "--json").output) for words in (create, admit, replay)}
    assert said["create"] == {"name": "visits", "keeps": "people", "rho": "1/100"}
    assert said["admit"] == {"target": "out.parquet", "key": "q-1"}
    assert said["replay"] == {"target": "decided"}
    assert json.loads(run("compact", "visits", "--json").output) == {"name": "visits"}
    assert json.loads(run("verify", "visits", "--json").output) == {"ok": True, "problems": [], "orphans": 0}


def test_rows_that_cannot_be_written_are_not_shown(run: Any) -> None:
    """A file of many numbers with one text is guessed wrong: neither the text nor its row is on the screen."""
    rows = [f"person{number},{number}" for number in range(60_000)]
    Path("rows.csv").write_text("\n".join(["user,value", *rows, "ann,secretvalue"]))
    run("create", "visits", "--rho", "1/100", "--folder", "visits", "--person", "user")
    admit = ["admit", "visits", "rows.csv", "out.parquet", "--what", "gaussian(sigma=50)", "--key", "q-1"]
    found = run(*admit)
    assert found.exit_code == 5
    assert "its own message may show data" in found.output
    assert "secretvalue" not in found.output
    assert not Path("out.parquet").exists()
