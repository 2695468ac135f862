"""The written forms: text and JSON, read back without loss, and refused with the place where they cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bursar as b
from bursar.guarantees import KINDS
from bursar.mechanisms import CATALOGUE
from support.catalogue import EXAMPLES, GOLDEN, account
from support.patience import within

DEEP = "poisson(" * 30 + "gaussian(sigma=1)" + ", rate=0.5)" * 30

GOOD = [
    ("nothing", "nothing"),
    ("  nothing ", "nothing"),
    ("gaussian(sigma=1)*0", "nothing"),
    ("gaussian(sigma=1)\n+\tgaussian(sigma=1)", "gaussian(sigma=1)*2"),
    ("2*gaussian(sigma=1)*3", "gaussian(sigma=1)*6"),
    ("(gaussian(sigma=1) + laplace(scale=2))*3", "gaussian(sigma=1)*3 + laplace(scale=2)*3"),
    ("2*(laplace(scale=2)*3 + gaussian(sigma=1))", "gaussian(sigma=1)*2 + laplace(scale=2)*6"),
    ("((gaussian(sigma=1)))", "gaussian(sigma=1)"),
    ("gaussian(sigma=1.50)", "gaussian(sigma=1.5)"),
    ("gaussian(sigma=15e-1,)", "gaussian(sigma=1.5)"),
    ("gaussian(sigma=.5)", "gaussian(sigma=0.5)"),
    ("gaussian(sigma=1/3)", "gaussian(sigma=1/3)"),
    ("gaussian(sigma=2/6)", "gaussian(sigma=1/3)"),
    ("gaussian(sigma=1, relation=add_remove)", "gaussian(sigma=1)"),
    ("gaussian(relation='replace_one', sigma=1)", "gaussian(sigma=1, relation=replace_one)"),
    ("poisson(rate=0.1, mechanism=gaussian(sigma=1))", "poisson(gaussian(sigma=1), rate=0.1)"),
    ("group(laplace(scale=2), size=3)", "group(laplace(scale=2), size=3)"),
    ("disjoint(laplace(scale=2)*2, gaussian(sigma=1))", "disjoint(gaussian(sigma=1), laplace(scale=2)*2)"),
    ("declared(renyi(orders=[2, 8], values=[0.1, 0.5]))", "declared(renyi(orders=[2, 8], values=[0.1, 0.5]))"),
    ("declared(profile(points=[[1, 0]]))", "declared(profile(points=[[1, 0]]))"),
    ("table(p=[1/2, 0.5], q=[1, 0])", "table(p=[0.5, 0.5], q=[1, 0])"),
    ('densities("1", "1 + x", low=0, high=1)', 'densities("1", "1 + x", low=0, high=1)'),
]

# A text, what the message says, and what stands at the caret ("" is the end of the text).
BAD = [
    ("", "nothing to read", ""),
    ("   ", "nothing to read", ""),
    ("nothing*3", "expected", "*3"),
    ("gaussian", r"\(", ""),
    ("gaussian(", "value", ""),
    ("gaussian(sigma=1", r"\)", ""),
    ("gaussian(sigma=)", "value|expected", ")"),
    ("gaussian()", "sigma", "gaussian()"),
    ("gaussian(sigma=1) gaussian(sigma=2)", r"'\+'", "gaussian(sigma=2)"),
    ("gaussian(sigma=1) + ", "mechanism", ""),
    ("gaussian(sigma=1) ++ gaussian(sigma=1)", "mechanism", "+ gaussian(sigma=1)"),
    ("gaussian(sigma=1)*", "count", ""),
    ("gaussian(sigma=1)*1.5", "count", "1.5"),
    ("gaussian(sigma=1)*-2", "count", "-2"),
    ("gaussian(sigma=1)*gaussian(sigma=1)", "count", "gaussian(sigma=1)"),
    ("gaussian(sigma=1)*" + "9" * 40, "count", "9" * 40),
    ("gaussian(sigma=1)*2000000000000", "count", "gaussian(sigma=1)*2000000000000"),
    ("gaussian(sigma=1)*1000000*1000000*10", "count", "gaussian(sigma=1)*1000000*1000000*10"),
    ("gaussian(1)", "sigma", "gaussian(1)"),
    ("gaussian(sigma=1, sigma=2)", "twice", "sigma=2)"),
    ("gaussian(sigma=1, mu=2)", "no 'mu'.*sigma", "mu=2)"),
    ("gaussian(sigma=-1)", "sigma must be above 0", "sigma=-1)"),
    ("gaussian(sigma=0) + laplace(scale=1)", "sigma must be above 0", "sigma=0) + laplace(scale=1)"),
    ("laplace(scale=1) + gaussian(sigma=nan)", "sigma", "sigma=nan)"),
    ("gaussian(sigma=1/0)", "zero", "1/0)"),
    ("gaussian(sigma=1e999999)", "range", "1e999999)"),
    ("gaussian(sigma=1, relation=mine)", "relation must be one of", "relation=mine)"),
    ("gaussian(sigma=1; x)", "';'", "; x)"),
    ("gaussian(sigma=1)\x00", r"\\x00", "\x00"),
    ("gaussian(sigma=1) # two", "'#'", "# two"),
    ("randomised_response(epsilon=1)", "unknown name.*randomized_response", "randomised_response(epsilon=1)"),
    ("gauss(sigma=1) + laplace(scale=1)", "unknown name 'gauss'", "gauss(sigma=1) + laplace(scale=1)"),
    ("pure_dp(epsilon=1)", "declared", "pure_dp(epsilon=1)"),
    ("declared(gaussian(sigma=1))", "promise", "declared(gaussian(sigma=1))"),
    ("poisson(gaussian(sigma=1)*2, rate=0.5)", "one mechanism", "poisson(gaussian(sigma=1)*2, rate=0.5)"),
    ("poisson(gaussian(sigma=1), rate=2)", "rate must be above 0", "rate=2)"),
    ("poisson(gaussian(sigma=0), rate=0.5)", "sigma must be above 0", "sigma=0), rate=0.5)"),
    ("laplace(scale=1) + gaussian(sigma=1, relation=replace_one)", "relation", "laplace(scale=1) + "),
    ('densities("1", "y", low=0, high=1)', "may use only", "densities("),
    ("table(p=[1, 0], q=[1])", "outcomes", "q=[1])"),
    ("table(p=[1, q=[1])", r"\]", "=[1])"),
    ("gaussian(sigma=[1])", "sigma", "sigma=[1])"),
    ("gaussian(sigma=gaussian(sigma=1))", "sigma", "sigma=gaussian(sigma=1))"),
    ("group(laplace(scale=2), size=1.5)", "size", "size=1.5)"),
    (DEEP, "deep", "poisson("),
    ("(" * 500, "deep", "("),
    ("table(p=" + "[" * 500, "deep", "["),
    ("gaussian(sigma=1) + " * 6000 + "gaussian(sigma=1)", "100000 characters", None),
]

DANGEROUS = ["__import__('os')", "os.system('x')", "eval('1')", "open('x')", "gaussian.__class__()", "lambda: 1"]
DANGEROUS += [
    "__init__()",
    "Gaussian(sigma=1)",
    "Mechanism()",
    "_set(x=1)",
    "gaussian(__class__=1)",
    "gaussian(name='x')",
]


def shorten(text: object) -> str:
    """An id for a long text."""
    return str(text)[:40]


@pytest.mark.parametrize(("text", "canonical"), GOOD, ids=shorten)
def test_good_text_has_one_meaning(text: str, canonical: str) -> None:
    """Spaces, order, brackets and ways to write a number do not matter: the canonical text says the same."""
    assert str(b.parse(text)) == canonical
    assert b.parse(canonical) == b.parse(text)


@pytest.mark.parametrize(("text", "says", "place"), BAD, ids=shorten)
def test_bad_text_is_refused_at_its_place(text: str, says: str, place: str | None) -> None:
    """The message says what is wrong, and the caret stands below the place."""
    with pytest.raises(b.errors.SpecError, match=f"(?s){says}") as caught:
        b.parse(text)
    if place is None:
        assert caught.value.position is None
        return
    position = caught.value.position
    assert position is not None
    assert text[position:].startswith(place)
    assert place or position == len(text)
    _, line, caret = str(caught.value).rsplit("\n", 2)
    assert caret.strip() == "^"
    assert line[caret.index("^") :].startswith(place[:20])
    assert len(caret) <= len(line) + 1 <= 82


@pytest.mark.parametrize("text", DANGEROUS)
def test_only_the_catalogue_is_read(text: str) -> None:
    """Names outside the catalogue are refused, in text and in JSON, whatever they mean in Python."""
    with pytest.raises(b.errors.SpecError):
        b.parse(text)
    with pytest.raises(b.errors.SpecError):
        b.from_json({"bursar": 1, "terms": [{"mechanism": {"name": text.partition("(")[0]}, "count": 1}]})


@pytest.mark.parametrize("line", GOLDEN, ids=shorten)
def test_written_forms_keep_their_meaning(line: str) -> None:
    """What was written with an earlier version still reads as the same composition, with the same cost."""
    text, canonical, lower, upper = map(str.strip, line.split("|"))
    composition = b.parse(text)
    assert str(composition) == (canonical or text)
    bound = account(composition, delta="1e-6").epsilon
    assert float(lower) <= bound.lower <= bound.upper <= float(upper)


def read(reader: Any, form: Any) -> None:
    """Reading ends soon, in a composition or a SpecError."""
    with within(5):
        try:
            assert isinstance(reader(form), b.Composition)
        except b.errors.SpecError as problem:
            assert problem.position is None or 0 <= problem.position <= len(form)  # noqa: PT017


WORDS = [*CATALOGUE, *KINDS, "nothing", "sigma", "relation", "orders", "p", "0.1", "1/3", "1e-6", "007", "-1"]
PIECES = st.sampled_from([*WORDS, *"()[],=+*'\" \n", "é", "²", "\x00", "1e400", "1e-400", "9" * 99, "exp(-x)"])


@given(st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=25).map("".join)))
@settings(max_examples=300)
def test_random_text_is_read_or_refused(text: str) -> None:
    """Any text parses or raises a SpecError, and nothing else."""
    read(b.parse, text)


@given(st.sampled_from(EXAMPLES), st.data())
@settings(max_examples=300)
def test_mutated_text_is_read_or_refused(mechanism: b.Mechanism, data: st.DataObject) -> None:
    """Valid text with pieces cut out, put in or doubled parses or raises a SpecError, and nothing else."""
    text = str(mechanism * 2)
    for _ in range(data.draw(st.integers(1, 3))):
        start, end = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
        text = text[:start] + data.draw(st.one_of(PIECES, st.just(text[start:end] * 2), st.just(""))) + text[end:]
    read(b.parse, text)


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(WORDS), st.text(max_size=5))
KEYS = st.sampled_from(["bursar", "terms", "name", "mechanism", "count", "sigma", "blocks", "points", "p", "guarantee"])
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """The JSON form of an example with one value somewhere replaced, or one key added or removed."""
    form = json.loads(json.dumps(b.to_json(draw(st.sampled_from(EXAMPLES)) * 2)))
    spot, key = {"": form}, ""
    while isinstance(spot[key], (dict, list)) and spot[key] and draw(st.integers(0, 4)):
        spot = spot[key]
        key = draw(st.sampled_from(sorted(spot) if isinstance(spot, dict) else range(len(spot))))
    if isinstance(spot, dict) and key and draw(st.booleans()):
        del spot[key]
        spot[draw(KEYS)] = draw(JUNK)
    elif key != "":
        spot[key] = draw(JUNK)
    return form


@given(st.one_of(JUNK, mutated(), JUNK.map(lambda terms: {"bursar": 1, "terms": terms})))
@settings(max_examples=400)
def test_random_json_is_read_or_refused(form: Any) -> None:
    """Any JSON value is read or raises a SpecError, and nothing else."""
    read(b.from_json, form)


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"bursar": 2, "terms": []}, "version 1, not 2"),
        ({"bursar": "1", "terms": []}, "version"),
        ({"bursar": True, "terms": []}, "version"),
        ({"terms": []}, "bursar"),
        ({"bursar": 1, "terms": [], "extra": 1}, "bursar"),
        ({"bursar": 1, "terms": {}}, "terms must be a list"),
        ({"bursar": 1, "terms": [{"mechanism": {"name": "gaussian", "sigma": "0"}, "count": 1}]}, r"terms\[0\].*sigma"),
        ({"bursar": 1, "terms": [{"mechanism": {"name": "gaussian", "sigma": "1"}, "count": -1}]}, "count"),
        ({"bursar": 1, "terms": [{"mechanism": {"name": "pure_dp", "epsilon": "1"}, "count": 1}]}, "mechanism"),
        ({"bursar": 1, "terms": [{"mechanism": {"name": "os"}, "count": 1}]}, "unknown name 'os'"),
        ("{", "not JSON"),
        (b"\xff", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"bursar": 1, "terms": NaN}', "terms"),
        (None, "bursar"),
    ],
    ids=shorten,
)
def test_bad_json_is_refused_by_place(form: Any, says: str) -> None:
    """JSON of another version or shape is refused with the place."""
    with pytest.raises(b.errors.SpecError, match=says):
        b.from_json(form)


@pytest.mark.parametrize("text", [None, 5, b"gaussian(sigma=1)", ["gaussian(sigma=1)"]], ids=shorten)
def test_only_text_is_parsed(text: Any) -> None:
    """What is not a string is refused."""
    with pytest.raises(b.errors.SpecError, match="string"):
        b.parse(text)
