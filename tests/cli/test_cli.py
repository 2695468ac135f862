"""The command line says what the library says; and what importing the library costs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app
from bursar.theorems import THEOREMS
from support.catalogue import EXAMPLES, SLOW
from support.patience import NET
from support.where import TOP

SAMPLED = "poisson(gaussian(sigma=1.5), rate=0.01)*1000"
PUBLIC = re.findall(
    r"\w+",
    """
    Gaussian Laplace RandomizedResponse DiscreteGaussian DiscreteLaplace Exponential NameAndShame PoissonSampled
    Declared PureDP ApproxDP Renyi ZCDP TCDP GDP account plan parse to_json from_json Composition Report Plan Ledger
    BursarError InputError Refused BudgetExceeded
    """,
)


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    """The command in this process: exit code, output, errors."""
    result = CliRunner().invoke(app, list(arguments), input=stdin, env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def outside(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A fresh interpreter."""
    return subprocess.run(
        [sys.executable, *arguments], input=stdin, capture_output=True, text=True, timeout=NET, check=False
    )


def answer(*arguments: str, stdin: str | None = None) -> dict[str, object]:
    """The JSON that ``bursar account … --json`` prints."""
    code, out, err = run("account", *arguments, "--json", stdin=stdin)
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    return json.loads(out)


@pytest.mark.parametrize("theorems", [None, ["basic", "renyi"]], ids=["all", "some"])
@pytest.mark.parametrize(
    ("text", "composition"),
    [
        (SAMPLED, b.PoissonSampled(b.Gaussian(sigma=1.5), rate=0.01) * 1000),
        ("randomized_response(epsilon=0.1)*10", b.RandomizedResponse(epsilon=0.1) * 10),
        ("gaussian(sigma=20.0)*7 + laplace(scale=0.3)", b.Gaussian(sigma=20.0) * 7 + b.Laplace(scale=0.3)),
        ("discrete_laplace(scale=1/3)", b.DiscreteLaplace(scale="1/3") * 1),
        ("nothing", b.Composition()),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("name", "value"), [("delta", 1e-6), ("delta", 0.1), ("epsilon", 0.1), ("epsilon", 1), ("delta", 0)], ids=str
)
def test_json_is_what_python_says(
    text: str, composition: b.Composition, name: str, value: float, theorems: list[str] | None
) -> None:
    """--json prints the report of the Python call with the same numbers, to the last digit."""
    asked = [option for theorem in theorems or [] for option in ("--theorem", theorem)]
    expected = b.account(composition, **{name: value}, theorems=theorems).to_dict()
    assert answer(text, f"--{name}", repr(value), *asked) == expected
    assert answer("-", f"--{name}={value!r}", *asked, stdin=f" {text}\n") == expected


@pytest.mark.parametrize("mechanism", [m for m in EXAMPLES if m.name not in SLOW], ids=str)
def test_every_mechanism_can_be_typed(mechanism: b.Mechanism) -> None:
    """The text form of every mechanism is an argument of the command, with the same report."""
    assert answer(str(mechanism * 2), "--delta", "1e-6") == b.account(mechanism * 2, delta=1e-6).to_dict()


def test_the_table_is_the_report() -> None:
    """Without options the table is printed, in 80 columns."""
    code, out, err = run("account", SAMPLED, "--delta", "1e-6")
    report = b.account(b.parse(SAMPLED), delta=1e-6)
    assert (code, err) == (0, "")
    assert out.split() == str(report).split()
    assert max(map(len, out.splitlines())) <= 80


def test_sentences_and_sources() -> None:
    """--explain prints the sentences, --cite the BibTeX, both together one after the other."""
    report = b.account(b.parse(SAMPLED), delta=1e-6)
    asked = ("account", SAMPLED, "--delta", "1e-6")
    code, sentences, _ = run(*asked, "--explain")
    assert (code, sentences.split()) == (0, report.explain().split())
    assert max(map(len, sentences.splitlines())) <= 80
    assert run(*asked, "--cite") == (0, report.cite() + "\n", "")
    assert run(*asked, "--explain", "--cite") == (0, f"{sentences}\n{report.cite()}\n", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gaussian(sigma=0)", "--delta", "1e-6"], "sigma must be above 0"),
        (["gaussian(sigma=1)", "--delta", "2"], "delta must be .*at most 1"),
        (["gaussian(sigma=1)", "--delta", "abc"], "delta must be a number"),
        (["gaussian(sigma=1)", "--delta", "nan"], "delta must be a number"),
        (["gaussian(sigma=1)", "--delta", ""], "delta must be a number"),
        (["gaussian(sigma=1)", "--epsilon=-1"], "epsilon must be at least 0"),
        (["gaussian(sigma=1)", "--delta", "1e999999"], "delta .*out of range"),
        (["gaussian(sigma=1)"], "--delta.*--epsilon|delta=.*epsilon="),
        (["gaussian(sigma=1)", "--delta", "0.1", "--epsilon", "1"], "delta.*epsilon"),
        (["gauss(sigma=1)", "--delta", "0.1"], "unknown name 'gauss'"),
        (["", "--delta", "0.1"], "nothing to read"),
        (["gaussian(sigma=1)", "--delta", "0.1", "--theorem", "mine"], "unknown theorem 'mine'"),
        (["gaussian(sigma=1)*2000000000000", "--delta", "0.1"], "count must be"),
        (["gaussian(sigma=1)", "--delta", "0.1", "--nonsense"], "there is no option --nonsense"),
        ([], "missing argument"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(arguments: list[str], says: str) -> None:
    """Bad input prints what is wrong on standard error, nothing on standard output, no traceback, and exits with 2."""
    code, out, err = run("account", *arguments)
    assert (code, out) == (2, "")
    assert re.search(says, re.sub(r"\s+", " ", err)), err
    assert "Traceback" not in err
    assert len(err.splitlines()[0]) > 10


def test_errors_come_with_the_place() -> None:
    """An error in the text is one line, followed by the text with a caret below the place."""
    code, out, err = run("account", "laplace(scale=1) + gaussian(sigma=-1)", "--delta", "0.1")
    first, text, caret = err.rstrip("\n").split("\n")
    assert (code, out) == (2, "")
    assert first == "bursar: sigma must be above 0, not -1"
    assert text[caret.index("^") :] == "sigma=-1)"


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command but for old names, with the words that call it."""
    below = getattr(command, "commands", None)
    if below is None and not command.hidden:
        yield path, command
    for name, sub in (below or {}).items():
        yield from commands(sub, *path, name)


@pytest.mark.parametrize(("path", "command"), list(commands(get_command(app))), ids=lambda part: str(part)[:40])
def test_every_command_and_option_is_documented(path: tuple[str, ...], command: Any) -> None:
    """Each command says what it does, each option and argument what it means; the help and the page show them all."""
    assert (command.help or "").strip(), path
    _, out, _ = run(*path, "--help")
    page = (TOP / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    section = page.split(f"## `bursar {' '.join(path)}`\n")[1].split("\n## ")[0]
    for parameter in command.params:
        assert (getattr(parameter, "help", None) or "").strip(), (path, parameter.name)
        for option in parameter.opts:
            assert option in out.lower(), (path, option)
            assert f"`{option}`" in section, (path, option)


def test_answers_can_be_json_everywhere() -> None:
    """Every command has --json."""
    assert [path for path, one in commands(get_command(app)) if not any("--json" in p.opts for p in one.params)] == []


def test_examples_in_the_help_work() -> None:
    """Those of account are run."""
    account = re.sub(r"[│\s]+", " ", run("account", "--help")[1])
    examples = re.findall(r"bursar account '([^']+)' (--\w+) ([\d.e-]+)", account)
    assert len(examples) >= 3
    for text, option, value in examples:
        assert answer(text, option, value)


def test_help_fits_eighty_columns() -> None:
    """No line is longer, on any command."""
    for path, _ in commands(get_command(app)):
        _, out, _ = run(*path, "--help")
        assert max(len(line) for line in out.splitlines()) <= 80, path


def test_completion_for_shells() -> None:
    """What a shell asks when somebody presses the tab key: commands, and options of a command."""

    def completed(line: str) -> str:
        words = {"_BURSAR_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        code = "import sys; sys.argv = ['bursar']; from bursar.cli.main import app; app(prog_name='bursar')"
        return subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **words}, capture_output=True, text=True, check=False
        ).stdout

    assert completed("bursar le").split() == ["ledger"]
    assert "--reprice" in completed("bursar ledger verify --re").split()


def test_no_arguments_show_the_help() -> None:
    """``bursar`` alone shows what there is."""
    _, out, err = run()
    assert "account" in out + err


def test_the_command_runs_outside() -> None:
    """``python -m bursar`` answers, reads standard input, and exits with 2 and no traceback on bad input."""
    good = outside("-m", "bursar", "account", "-", "--delta", "1e-6", "--json", stdin="laplace(scale=0.3)*2")
    assert (good.returncode, good.stderr) == (0, "")
    assert json.loads(good.stdout) == b.account(b.Laplace(scale=0.3) * 2, delta=1e-6).to_dict()
    bad = outside("-m", "bursar", "account", "laplace(scale=0)", "--delta", "1e-6")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("bursar: scale must be above 0, not 0\n")


HEAVY = "[m for m in ('numpy', 'scipy', 'flint') if m in sys.modules]"


def test_the_version_is_cheap() -> None:
    """--version prints the version and imports neither numpy nor scipy nor flint."""
    code = f"import sys; sys.argv = ['bursar', '--version']; import atexit; atexit.register(lambda: print({HEAVY}));"
    done = outside("-c", code + "import bursar.__main__")
    assert done.stdout.split("\n")[:2] == [f"bursar {b.__version__}", "[]"]
    assert (done.returncode, done.stderr) == (0, "")
    assert run("--version") == (0, f"bursar {b.__version__}\n", "")


def test_importing_is_cheap_and_lazy() -> None:
    """``import bursar`` loads no numerical library, defines every public name, and lists them."""
    done = outside(
        "-c",
        f"import sys, bursar; print({HEAVY}); assert dir(bursar) == sorted(bursar.__all__);"
        "[getattr(bursar, name) for name in bursar.__all__]; print(len(bursar.__all__))",
    )
    assert done.stderr == ""
    assert done.stdout.split("\n")[:2] == ["[]", str(len(b.__all__))]
    assert set(PUBLIC) <= set(b.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Gausian'"):
        _ = b.Gausian
    star: dict[str, object] = {}
    exec("from bursar import *", star)
    assert set(b.__all__) <= set(star)


def test_accounting_needs_no_scipy_for_closed_forms() -> None:
    """A question that closed forms answer does not wait for scipy to load."""
    basic = "bursar.account(bursar.parse('gaussian(sigma=1)'), delta=1e-6, theorems=['basic', 'gdp'])"
    done = outside("-c", f"import sys, bursar; {basic}; print('scipy' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


def test_every_theorem_can_be_asked_alone() -> None:
    """--theorem takes each id, and the report has that row only."""
    for theorem in THEOREMS:
        rows = answer("randomized_response(epsilon=0.1)*3", "--delta", "1e-6", "--theorem", theorem.id)["theorems"]
        assert [row["id"] for row in rows] == [theorem.id]


def test_a_charge_that_cannot_be_reported_is_no_refusal(tmp_path: Path) -> None:
    """Where the answer cannot be written the exit code is 3, which claims neither, and the charge stands."""
    program = [sys.executable, "-m", "bursar", "ledger"]
    subprocess.run(
        [*program, "open", "data", "--epsilon", "1", "-l", "b.db"], cwd=tmp_path, check=True, capture_output=True
    )
    spend = [*program, "spend", "data", "laplace(scale=10)", "-l", "b.db"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        found = subprocess.run([*spend, "--key", "a"], cwd=tmp_path, stdout=full, stderr=-1, text=True, check=False)
        settings = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        mute = subprocess.run([*spend, "--key", "c"], cwd=tmp_path, stdout=full, stderr=full, check=False, env=settings)
    assert mute.returncode == 3
    assert (found.returncode, found.stderr.count("\n")) == (3, 1)
    assert "could not be written" in found.stderr
    closed = subprocess.Popen([*spend, "--key", "b"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert closed.stdout is not None
    assert closed.stderr is not None
    closed.stdout.close()
    assert closed.stderr.read() == b""
    assert closed.wait() == 3
    closed.stderr.close()
    with b.Ledger(tmp_path / "b.db") as ledger:
        assert float(ledger.show("data").line("epsilon").spent) == 0.3


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    """Bytes that are no text, and folders: bad input, as JSON where that was asked for."""
    file, place = tmp_path / "past.csv", ["-l", str(tmp_path / "b.db")]
    assert run("ledger", "open", "data", "--epsilon", "1", *place)[0] == 0
    file.mkdir() if content is None else file.write_bytes(content)
    assert run("ledger", "import", "data", str(file), "--json", *place)[0] == 2
    assert run("ledger", "export", "--verifier", str(tmp_path / "no" / "x.py"), *place)[0] == 2


def test_letters_that_the_terminal_lacks() -> None:
    """They are replaced; the numbers arrive."""
    answer = subprocess.run(
        [sys.executable, "-m", "bursar", "account", "laplace(scale=1)", "--delta", "1e-6"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert answer.returncode == 0
    assert b"0.999998" in answer.stdout


def test_many_different_releases() -> None:
    """More totals than a float can count are only said to be too many."""
    parts = " + ".join(f"randomized_response(epsilon={number / 10000})*7" for number in range(1, 481))
    code, out, _ = run("account", parts, "--delta", "1e-6", "--json", "--effort", "low")
    assert code == 0
    assert json.loads(out)["epsilon"]["upper"] > 0
