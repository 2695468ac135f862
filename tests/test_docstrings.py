"""What the source says of itself: shapes that a reflow destroys stay, and a docstring says what is given."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "bursar"
PACKAGES = [path.parent for path in sorted(SRC.rglob("__init__.py"))]
FILES = sorted(SRC.rglob("*.py"))
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
LABELS = ("Hypotheses", "Source", "Code/paper", "Rounding", "Checked", "Proof")
COLUMNS = re.compile(r"\S {3,}\S")
CODE = re.compile(r"\bfrom [\w.]+ import \w|\bimport [\w.]+ as \w|\bwith [\w.]+\(.*\) as \w+:|>>> ")
ITEMS = re.compile(r"(?:^|\s)[-•] \S.*\s[-•] \S|(?:^|\s)1[.)] \S.*\s2[.)] \S")
SECTIONS = re.compile(rf"\S.* (?:{'|'.join(LABELS)}): ")
BROKEN = re.compile(r" [=≤≥<+−·×~]$|^\s*[=≤≥<+·×~] ")
CAPITAL = re.compile(r"(?:^|[.:;] )(?!Code/paper)(?:[A-Z][a-z]+ ?[·+×/^√=] ?[\w√(]|[A-Z][a-z]* times the\b)")

FORMULA = re.compile(r"[=≤≥<>+−·×÷/^√∫Σ∂∈~(|²\[α-ω]")
LOOSE = re.compile(
    r"(?:after|always|as|at|before|by|else|for|found|from|here|in|into|nearly|of|on|once|only|remembered|so|then|there"
    r"|this|unless|until|where|with)\b"
)
STATE = re.compile(r"(?:it|its \w+|they|there|nothing|nobody) (?:is|are|has|reads|waits)\b")
NOBODY = {"it", "them", "that", "this", "one", "ones", "so", "they"}
ARTICLES = {"a", "all", "an", "any", "both", "each", "every", "no", "the", "what", "whether", "which", "how"}


def documented(path: Path) -> Iterator[tuple[Documented, str, str]]:
    """Everything in a file that has a docstring: the node, its place and the text, blocks indented as they are."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Documented) and (text := ast.get_docstring(node, clean=False)):
            margin = " " * node.body[0].col_offset
            yield (
                node,
                f"{path.relative_to(SRC)}:{getattr(node, 'lineno', 1)}",
                "\n".join(line.removeprefix(margin) for line in text.rstrip().splitlines()),
            )


def destroyed(text: str) -> Iterator[str]:
    """Each line of a docstring that looks like a table, a code block, a list or a formula after a reflow."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        block = line.startswith("    ")
        if COLUMNS.search(line) and not block:
            yield f"columns outside of a block: {line}"
        if len(COLUMNS.findall(line)) > 2:
            yield f"rows run together: {line}"
        bare = re.sub(r"``.*?``|`.*?`", "", line)
        if not block and (CODE.search(bare) or _statement(line)):
            yield f"code outside of a block: {line}"
        if ITEMS.search(bare) and not block:
            yield f"items run together: {line}"
        if SECTIONS.search(line):
            yield f"sections run together: {line}"
        if BROKEN.search(line) and not _literal(lines, number):
            yield f"a formula in two lines: {line}"
        if CAPITAL.search(bare):
            yield f"a symbol that was capitalised: {line}"


def _statement(line: str) -> bool:
    """Whether a line by itself is a statement of Python that prose is not: an import, a call, an assignment."""
    try:
        found = ast.parse(line).body
    except SyntaxError:
        return False
    if len(found) != 1 or (isinstance(found[0], ast.Assign) and not isinstance(found[0].value, ast.Call)):
        return False
    return isinstance(found[0], (ast.Import, ast.ImportFrom, ast.Assign)) or (
        isinstance(found[0], ast.Expr) and isinstance(found[0].value, ast.Call) and bool(found[0].value.keywords)
    )


def _literal(lines: list[str], number: int) -> bool:
    """Whether a line stands in a block: indented, after an empty line and other lines of the block."""
    while number >= 0 and lines[number].startswith("    "):
        number -= 1
    return number >= 0 and not lines[number].strip()


def says_nothing(text: str) -> bool:
    """Whether a docstring answers a question that nobody asked ("Once.") in place of saying what is given.

    Four words do, and so do three with an article ("The largest ε.", "Open a scope.") and every formula ("√Σμᵢ²."); but
    no short one that begins in the middle of a sentence ("At the end."), or whose subject is a pronoun ("Count it.").
    """
    first = text.split("\n\n", maxsplit=1)[0].lower()
    words = re.findall(r"[^\W\d_][\w'-]*", first)
    formula = bool(FORMULA.search(first))
    if len(words) < 8 and not formula and (LOOSE.match(first) or STATE.match(first)):
        return True
    if len(words) < 5 and NOBODY & set(words):
        return True
    return not formula and (len(words) < 3 or (len(words) == 3 and not ARTICLES & set(words)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_no_shape_is_destroyed(path: Path) -> None:
    """Tables, code, lists and formulas of a docstring stand on lines of their own, and symbols keep their case."""
    assert [f"{place}: {one}" for _, place, text in documented(path) for one in destroyed(text)] == []


def test_docstrings_say_what_is_given() -> None:
    """No public function has a docstring that answers an unasked question."""
    found = [
        f"{place} {node.name}: {text}"
        for path in FILES
        for node, place, text in documented(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
        if says_nothing(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("module", "lines"),
    [
        ("guarantees", ["PureDP         P(S) ≤ e^ε Q(S)", "TCDP           D_α ≤ ρα at orders below ω"]),
        ("jobs.spec_text", ['term        = [ count "*" ] factor { "*" count }', "number      = 20 | 0.1 | 1e-6 | 1/3"]),
        ("guarantees.order", ["δ(ε) ≤ e^{(α−1)(γ−ε)}·(1/α)(1 − 1/α)^{α−1}."]),
        ("guarantees.sampled_renyi", ["(n−1)D_n ≤ ln Σ_l C(n,l)(1−q)^{n−l}q^l·f_l·e^{(l−1)γ(l)},"]),
        ("lecture.simulation", ["U = ((1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε), δ, 0)"]),
        ("lecture", ["from bursar import lecture"]),
        (
            "errors",
            ["├── Refused               the ledger refuses, for one of a closed list of codes; nothing was charged"],
        ),
    ],
)
def test_what_was_restored_stays(module: str, lines: list[str]) -> None:
    """The tables, the grammar and the formulas that a reflow once ran together stand in blocks."""
    text = (SRC.joinpath(*module.split("."))).with_suffix(".py")
    blocks = _blocks(text if text.exists() else text.with_suffix("") / "__init__.py")
    assert set(lines) <= blocks


@pytest.mark.parametrize("adapter", ["google", "jax", "opacus", "opendp"])
def test_the_code_of_the_adapters_stays_code(adapter: str) -> None:
    """Each adapter shows its use in a block that Python reads."""
    _, _, text = next(documented(SRC / "adapters" / f"{adapter}.py"))
    code = textwrap.dedent("\n".join(line for line in text.splitlines() if not line or line.startswith("    ")))
    assert ast.parse(code.replace("…one epoch…", "...")).body


def _blocks(path: Path) -> set[str]:
    """The indented lines of a module's docstring, without their margin."""
    _, _, text = next(documented(path))
    return {line.strip() for line in text.splitlines() if line.startswith("    ")}


@pytest.mark.parametrize(
    "text",
    [
        "Promises.\n\nPure         P(S) ≤ e^ε Approx       P(S) ≤ e^ε + δ Range   the loss fits",
        "Reads a text.\n\n    term        = count factor      = name argument    = value",
        "An adapter.\n\nConfigure(accountant=Ours())",
        'An adapter.\n\nengine = Engine(accountant="ours")',
        "An adapter. Use it: from bursar.adapters import x and go on.",
        "Two things: - the first one - the second one",
        "Two things: 1. the first one 2. the second one",
        "Statement: all holds. Source: a paper.",
        "The tail bound is δ(ε) ≤\ne^{(α−1)(γ−ε)}.",
        "The laws U = (p, q), V\n= (q, p).",
        "Mean + √(2S·ln(1/δ)).",
        "Size times the sensitivity.",
        "Q times the base's.",
    ],
)
def test_destroyed_shapes_are_recognised(text: str) -> None:
    """What a reflow or a capitalising tool does to tables, code, lists and formulas is seen."""
    assert list(destroyed(text))


@pytest.mark.parametrize(
    "text",
    [
        "Promises.\n\n    Pure         P(S) ≤ e^ε\n    Approx       P(S) ≤ e^ε + δ",
        "The bound.\n\n    ln[1 + q²C(n,2)\n       + Σ_j q^j]",
        "Statement: k mechanisms, adaptively composed, hold\n    together.\nSource: a paper.",
        "Whether A_m = P(X ≤ m) decides; the call ``f(x=1)`` is prose.",
    ],
)
def test_whole_shapes_are_left_alone(text: str) -> None:
    """Blocks, sections and sentences with formulas in them are as they should be."""
    assert list(destroyed(text)) == []


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        *((text, True) for text in ("Once.", "It is here.", "Quadratic.", "At the end.", "Of a root.", "Count it.")),
        *((text, True) for text in ("All of them.", "A fresh one.", "By name.", "For machines.", "Its place is free.")),
        *((text, False) for text in ("√Σμᵢ².", "P(L < x).", "The largest ε.", "Open a scope.", "The JSON form.")),
        ("The ε at which δ is reached, rounded up.", False),
    ],
)
def test_empty_docstrings_are_recognised(text: str, nothing: bool) -> None:
    """Answers to unasked questions are seen; formulas, results and commands are not taken for them."""
    assert says_nothing(text) is nothing


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SRC.parent)))
def test_every_room_has_a_sentence(package: Path) -> None:
    """Every floor and every room says in its ``__init__`` what it is for."""
    _, _, text = next(documented(package / "__init__.py"))
    first = " ".join(text.split("\n\n")[0].split())
    assert len(first.split()) >= 5
    assert first.endswith(".")
