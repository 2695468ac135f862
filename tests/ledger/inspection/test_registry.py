"""The draft for the deployments registry: valid for every currency by the registry's schema, and nothing made up."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from typer.testing import CliRunner

import bursar as b
from bursar.cli.facts import read_facts
from bursar.cli.main import app
from bursar.ledger.budget.currencies import CURRENCIES
from bursar.ledger.inspection.registry_facts import FIELDS, HEAD, OURS, REQUIRED, TEXTS
from bursar.ledger.ledger import Ledger
from support.hands import FACTS, agreed
from support.terms import TERMS
from support.where import DATA

SCHEMA = json.loads((DATA / "registry_fields.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema_rs.validator_for(SCHEMA, validate_formats=True)
VARIANTS = {
    "pure": "Pure DP",
    "zcdp": "Zero-concentrated DP",
    "renyi": "Renyi DP",
    "gdp": "Custom",
}


def draft(ledger: Ledger, **facts: Any) -> dict[str, Any]:
    """The draft as somebody else's reader of YAML sees it, after the registry's own check."""
    found: dict[str, Any] = yaml.safe_load(ledger.export("opendp", root="data", facts={**FACTS, **facts}))
    assert [error.message for error in VALIDATOR.iter_errors(found)] == []
    return found


@pytest.mark.parametrize("name", CURRENCIES)
def test_every_currency_is_valid(name: str) -> None:
    """By the schema, with the variant and the numbers of its limit."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", currency=name, unit="person", **TERMS[name])
        ledger.spend("data", b.Gaussian(sigma=1000) if name == "gdp" else b.Laplace(scale=1000))
        found = draft(ledger)["deployment"]
    assert found["dp_variant"]["variant_name"] == VARIANTS.get(name, "Approximate DP")
    numbers = found["privacy_loss"].get("privacy_parameters", {})
    given = {key: float(Fraction(value)) for key, value in TERMS[name].items() if key in ("epsilon", "delta", "rho")}
    assert numbers == given
    assert all(type(value) is float for value in numbers.values())
    assert found["privacy_loss"]["privacy_unit"] == "person"
    assert found["implementation"]["mechanisms"].startswith("1 × ")
    if name == "gdp":
        assert "μ of Gaussian DP = 0.3" in found["privacy_loss"]["privacy_parameters_details"]


def test_the_table_of_fields_is_the_registrys() -> None:
    """Names, homes, lists of what is allowed, and what is required."""
    whole = SCHEMA["properties"]
    sections = whole["deployment"]["properties"]
    assert FIELDS.keys() == sections.keys()
    for section, fields in FIELDS.items():
        assert fields.keys() == sections[section]["properties"].keys()
        for name, kind in fields.items():
            part = sections[section]["properties"][name]
            if isinstance(kind, tuple):
                assert list(kind) == part["enum"]
            elif kind is not OURS and part:
                assert part["type"] == ("array" if kind is TEXTS else "string"), name
                assert "enum" not in part
    assert {name: list(kind) for name, kind in HEAD.items() if isinstance(kind, tuple)} == {
        name: whole[name]["enum"] for name in ("status", "tier")
    }
    assert set(REQUIRED) == set(sections["basic"]["required"]) - {"name"}
    assert sections["administrative"]["required"] == ["registry_authors"]


def test_the_validator_finds_what_is_wrong() -> None:
    """A negative control: the same draft with one field changed is not valid."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        found = draft(ledger)
    for section, name, wrong in (
        ("basic", "publication_date", "July"),
        ("basic", "data_product_type", "Counts"),
        ("dp_variant", "variant_name", "Gaussian DP"),
        ("privacy_loss", "privacy_parameters", {"epsilon": "1"}),
        ("accounting", "theorem", "x"),
    ):
        changed = json.loads(json.dumps(found))
        changed["deployment"][section][name] = wrong
        assert not VALIDATOR.is_valid(changed), name


def test_what_is_missing_is_named() -> None:
    """All of it at once, and nothing is put in its place."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        for given in (None, {}, {"intended_use": "Planning"}):
            with pytest.raises(b.InputError) as refused:
                ledger.export("opendp", root="data", facts=given)
            assert refused.value.argument == "facts"
            for name in REQUIRED:
                assert (name in str(refused.value)) is (name not in (given or {}))
        with pytest.raises(b.InputError, match="registry_authors"):
            ledger.export("opendp", root="data", facts={**FACTS, "notes": "a draft"})
        found = draft(ledger)
        assert "administrative" not in found["deployment"]
        assert "deployment_model" not in found["deployment"]
        assert draft(ledger, notes="a draft", registry_authors=["Ada"])["deployment"]["administrative"]["notes"]
        with pytest.raises(b.errors.ScopeUnknown):
            ledger.export("opendp", root="nothing", facts=FACTS)
        with pytest.raises(b.InputError, match="registry"):
            ledger.export("csv", facts=FACTS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data_curators", "The Bureau"),
        ("data_curators", []),
        ("data_curators", ["The Bureau", 3]),
        ("description", ["one", "two"]),
        ("description", "  "),
        ("description", "\ud800"),
        ("description", None),
        ("data_product_type", "Counts"),
        ("data_product_sector", "government"),
        ("publication_date", "01.07.2026"),
        ("publication_date", "2026-02-30"),
        ("publication_date", "20260701"),
        ("model_name", "central"),
        ("tier", 4),
        ("tier", True),
        ("status", "Done"),
        ("colour", "blue"),
        (7, "blue"),
        ("variant_name", "Pure DP"),
        ("privacy_parameters", {"epsilon": 0.1}),
        ("mechanisms", "something milder"),
        ("accounting", {"data_curators": ["The Bureau"]}),
        ("basic", {"data_curators": ["Somebody else"]}),
    ],
)
def test_facts_that_cannot_be_meant(name: Any, value: Any) -> None:
    """Unknown names, other kinds, values that the registry does not list, and what only the ledger may say."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        with pytest.raises(b.InputError) as refused:
            ledger.export("opendp", root="data", facts={**FACTS, name: value})
        inner = next(iter(value)) if isinstance(value, dict) and name in FIELDS else name
        assert str(inner) in str(refused.value)


def test_facts_may_come_in_the_registrys_own_sections() -> None:
    """As its files have them; a day may be a day."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        rest = {name: value for name, value in FACTS.items() if name != "publication_date"}
        nested = {"tier": 1, "deployment": {"basic": {**rest, "publication_date": date(2026, 7, 1)}}}
        assert yaml.safe_load(ledger.export("opendp", root="data", facts=nested)) == draft(ledger)
        with pytest.raises(b.InputError, match="mapping"):
            ledger.export("opendp", root="data", facts=[("name", "x")])  # type: ignore[arg-type]


def test_tiers_follow_from_what_is_told() -> None:
    """The registry's tiers are about how much is disclosed."""
    model = {
        "model_name": "Central",
        "release_type": "Many releases",
        "data_source_type": "Static",
        "access_type": "Interactive",
    }
    more = dict.fromkeys(
        (
            "data_domain",
            "unprotected_quantities",
            "post_processing",
            "preprocessing_and_hyperparameter_tuning",
            "justification",
        ),
        "as the report says",
    )
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        assert [draft(ledger, **facts)["tier"] for facts in ({}, model, model | more, {"tier": 2})] == [1, 2, 3, 2]


def test_numbers_are_never_below_the_limit() -> None:
    """Also where no decimal is exact, and where some readers take 1e-06 for a word."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon="1/3", delta="1/3000000", currency="sums")
        numbers = draft(ledger)["deployment"]["privacy_loss"]["privacy_parameters"]
    assert (
        Fraction(repr(numbers["epsilon"])) >= Fraction(1, 3) > Fraction(repr(numbers["epsilon"])) - Fraction(1, 10**15)
    )
    assert Fraction(repr(numbers["delta"])) >= Fraction(1, 3_000_000)
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon="1e-5")
        assert draft(ledger)["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1e-5}


def test_an_exceeded_limit_is_no_parameter() -> None:
    """After a correction beyond the limit the limit says nothing about what was lost, and the draft says that."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        agreed(ledger, ledger.spend("data", b.Laplace(scale=2)), b.Laplace(scale=1), reason="forgotten")
        found = draft(ledger)["deployment"]["privacy_loss"]
    assert "privacy_parameters" not in found
    assert "exceeded" in found["privacy_parameters_details"]


def test_any_text_survives() -> None:
    """Quotes, colons, line breaks, and what YAML does not print."""
    awkward = 'a: "b"\n# c\t\\ \x07 \x85 \x7f \u2028 \ufeff 😀 é: - [x] {y} NO'
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, unit="household")
        found = draft(ledger, description=awkward, name="NO", privacy_unit_details="A year of it.")["deployment"]
    assert found["basic"]["description"] == awkward
    assert found["basic"]["name"] == "NO"
    assert found["privacy_loss"]["privacy_unit_details"].endswith("one household. A year of it.")


YAML = """\
---
# about the census
data_curators:
- The Bureau      # of statistics
- "Ministry: planning"
intended_use: 'Planning of schools, it''s said'
data_product_type: Summary statistics
data_product_region: NO
description: >
  Counts by district:  people,
  and households.

  A second paragraph # with a sign.
publication_date: 2026-07-01
basic:
  data_product_sector: Government
registry_authors: [Ada, "Grace, too"]
notes: |
  one
  two
tier: 1
"""


def test_facts_from_a_file(tmp_path: Path) -> None:
    """Every value is the text that stands there, as a reader that guesses nothing sees it; JSON is read too."""
    file = tmp_path / "about.yaml"
    file.write_text(YAML, encoding="utf-8")
    found = read_facts(file)
    expected = yaml.load(YAML, Loader=yaml.BaseLoader)
    assert {name: value.strip() if isinstance(value, str) else value for name, value in expected.items()} == found
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        made = yaml.safe_load(ledger.export("opendp", root="data", facts=found))
    assert VALIDATOR.is_valid(made)
    assert made["deployment"]["basic"]["data_product_region"] == "NO"
    file.write_text(json.dumps(FACTS), encoding="utf-8")
    assert read_facts(file) == FACTS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no facts"),
        ("just words\n", "line 1"),
        ("name: a\nname: b\n", "line 2.*twice"),
        ("name: a\n   more of it\n", "line 2"),
        ("name:\ndescription: x\n", "line 1"),
        ("name: *other\n", "quotes"),
        ("name: !!int 3\n", "quotes"),
        ("name: a: b\n", "quotes"),
        ("name: {a: b}\n", "quotes"),
        ('name: "a\n', "quotes"),
        ("data_curators: [a, b\n", "brackets"),
        ("data_curators: [a,, b]\n", "brackets"),
        ("data_curators: [[a]]\n", "brackets"),
        ("basic:\n\tname: a\n", "tabs"),
        ("basic:\n  name: a\n deeper: b\n", "line 3"),
        ("name: |\nother: x\n", "line 1"),
        ('{"name": "a", "name": "b"}', "twice"),
        ('{"name": ', "JSON"),
    ],
)
def test_files_that_leave_doubts(tmp_path: Path, text: str, said: str) -> None:
    """They are refused, with the line."""
    file = tmp_path / "about.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(b.InputError, match=said):
        read_facts(file)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a file of facts the draft is valid; without, exit code 2 and the names of what is missing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "about.yaml").write_text(YAML, encoding="utf-8")
    run = CliRunner().invoke
    run(app, ["ledger", "open", "data", "--epsilon", "1", "--delta", "1e-6"])
    words = ["ledger", "export", "--form", "opendp", "--root", "data"]
    bare = run(app, words)
    assert bare.exit_code == 2
    assert "publication_date" in bare.stderr
    done = run(app, [*words, "--facts", "about.yaml"])
    assert done.exit_code == 0, done.output
    assert VALIDATOR.is_valid(yaml.safe_load(done.stdout))
    assert run(app, [*words, "--facts", "about.yaml", "--curator", "Somebody"]).exit_code == 2
    assert run(app, [*words, "--facts", "nowhere.yaml"]).exit_code == 2
