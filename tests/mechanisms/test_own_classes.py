"""A class of one's own is never taken for another, whatever it is called, says of itself or keeps: not where it is
merged, charged, written or sampled. One that is registered under a name of its own is charged for what it claims.
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.composition import Composition
from bursar.guarantees import Claim
from bursar.identity import beside, difference, merge_key, same
from bursar.ledger.budget.currencies import currency_with
from bursar.ledger.budget.release import Release
from bursar.ledger.ledger import Ledger
from bursar.losses import Directions
from bursar.mechanisms import CATALOGUE, plugins
from support.catalogue import EXAMPLES
from support.packages import HEAD, Packages, forget

HONEST = f'''{HEAD}
@dataclass(frozen=True, init=False, repr=False)
class Sens(b.Mechanism):
    """Two fields."""

    name = "sens"
    scale: Real
    sens: Real
    relation = "add_remove"

    def __init__(self, scale, sens=1):
        self._set(scale=read(scale, "scale"), sens=read(sens, "sens"))

    def claims(self):
        return pure(self.sens / self.scale)


@dataclass(frozen=True, init=False, repr=False)
class Derived(b.Mechanism):
    """Keeps what it derives from its field, under three kinds of names."""

    name = "derived"
    scale: Real
    relation = "add_remove"

    def __init__(self, scale):
        self._set(scale=read(scale, "scale"))
        self._set(eps=1 / Fraction(self.scale), _parts=[self.scale], _seen={{}})

    def claims(self):
        self._seen["asked"] = True
        return pure(self.eps)


@dataclass(frozen=True)
class Plainly(b.Mechanism):
    """Takes whatever it is given."""

    name = "plainly"
    value: object
    relation = "add_remove"

    def __post_init__(self):
        if self.value == "exit":
            raise SystemExit("bye")
        if self.value == "divide":
            1 / 0

    def claims(self):
        if self.value == "fail":
            raise RuntimeError("boom")
        if self.value == "leave":
            raise SystemExit("bye")
        return 7 if self.value == "seven" else pure(1)


@dataclass(frozen=True, init=False, repr=False)
class Child(Sens):
    """A subclass under a name of its own, which claims twice as much."""

    name = "child"

    def claims(self):
        return pure(2 * self.sens / self.scale)


class Namesake(Sens):
    """A subclass that calls itself what its base is."""

    def claims(self):
        return pure(3 * self.sens / self.scale)
'''
OFFERS = {"sens": "Sens", "derived": "Derived", "plainly": "Plainly", "child": "Child"}


class DoubleClaim(b.Laplace):
    """Two releases at once that state their claims and leave the losses to be inherited."""

    def claims(self) -> tuple[Claim, ...]:
        """2/scale."""
        return (Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)


class DoubleLoss(b.Laplace):
    """The same the other way round: the losses of two, and the claims of one."""

    def losses(self) -> Directions:
        """Those of half the noise."""
        return b.Laplace(scale=self.scale.times(Fraction(1, 2))).losses()


class Twice(b.Laplace):
    """Two releases at once that say all: no losses are known. How its noise grows is inherited, and not its own."""

    claims = DoubleClaim.claims
    losses = b.Mechanism.losses


class TwoGaussians(b.Gaussian):
    """The same of Gaussians."""

    losses = b.Mechanism.losses

    def claims(self) -> tuple[Claim, ...]:
        """√2/σ, rounded up."""
        return (Claim(b.GDP(self.sigma.reciprocal().times(2)), "declared"),)


class Mild(b.NameAndShame):
    """Claims less than its base: it does not leak what that one leaks."""

    def claims(self) -> tuple[Claim, ...]:
        """Nothing but a small ε."""
        return (Claim(b.PureDP("1/10"), "declared"),)


class Sly(b.Laplace):
    """Says that it is equal to whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(b.Laplace(scale=self.scale))


@dataclass(frozen=True)
class Cheap(b.Mechanism):
    """A class of one's own with a catalogue's name, and a small claim."""

    name = "laplace"
    scale: int
    relation = "add_remove"

    def claims(self) -> tuple[Claim, ...]:
        """Next to nothing."""
        return (Claim(b.PureDP("0.01"), "declared"),)


@dataclass(frozen=True, init=False, repr=False)
class OwnPromise(b.PureDP):
    """A promise of one's own inside a declaration."""


@dataclass(frozen=True)
class Own(b.Mechanism):
    """A class that leaves a field out of its comparison."""

    name = "own"
    one: Any
    other: Any = field(default=0, compare=False)
    relation = "add_remove"

    def claims(self) -> tuple[Claim, ...]:
        """Its second field."""
        return (Claim(b.PureDP(Fraction(self.other)), "declared"),)

    @cached_property
    def derived(self) -> list[int]:
        """Computed once, and no part of what it is."""
        return [1]


@dataclass(frozen=True)
class Equal(Own):
    """A class that is equal to everything."""

    __eq__, __hash__ = Sly.__eq__, lambda self: 1


@dataclass(frozen=True, init=False)
class Forgot(Own):
    """A constructor that forgot a field."""

    name = "forgot"

    def __init__(self) -> None:
        self._set(other=1)


@dataclass
class Loose(b.Mechanism):
    """A class whose field may be set."""

    sigma: Fraction
    name = "loose"
    relation = "add_remove"

    def claims(self) -> tuple[Claim, ...]:
        """That of Gaussian noise."""
        return b.Gaussian(self.sigma).claims()

    def losses(self) -> Directions:
        """Those of Gaussian noise."""
        return b.Gaussian(self.sigma).losses()


class Foreign:
    """A value whose text does not tell what it hides."""

    def __str__(self) -> str:
        return "word"


Colour = Enum("Colour", "RED BLUE")
AROUND: tuple[Callable[[Any], Any], ...] = (
    lambda one: one,
    lambda one: b.Group(one, size=2),
    lambda one: b.PoissonSampled(one, rate=1),
    b.Disjoint,
    lambda one: b.Disjoint(b.Group(one, size=1), b.Laplace(scale=10**6)),
)


@pytest.fixture
def own(packages: Packages) -> Any:
    """The module above, installed."""
    packages.install("fixture_own", HONEST, {**OFFERS, "Loud": "Sens", "laplace": "Sens", "pure_dp": "Sens"})
    return __import__("fixture_own")


@contextmanager
def opened(url: str = "memory://", **terms: Any) -> Iterator[Ledger]:
    """A ledger with one scope."""
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", **{"epsilon": 100, **terms})
        yield ledger


def charged(what: Any, **terms: Any) -> float:
    """What a release costs on a line of ε."""
    with opened(**terms) as ledger:
        ledger.spend("data", what)
        assert ledger.verify(reprice=True)
        return float(ledger.show("data").line("epsilon").spent)


def holding(what: Any, **more: Any) -> Any:
    """The same with something beside its fields."""
    vars(what).update(more)
    return what


REGISTER = r".*declared\(…\).*register.*entry point"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda own: Twice(scale=1), f"Twice is a class of your own{REGISTER}"),
        (lambda own: Cheap(scale=1), f"Cheap is a class of your own{REGISTER}"),
        (lambda own: Sly(scale=1), f"Sly is a class of your own{REGISTER}"),
        (lambda own: b.Declared(OwnPromise("0.1")), f"OwnPromise is a class of your own{REGISTER}"),
        (lambda own: own.Namesake(1), f"Namesake is a class of your own{REGISTER}"),
        (
            lambda own: holding(b.Laplace(scale=1), claims=Mild.claims),
            f"laplace holds claims beside its fields{REGISTER}",
        ),
        (lambda own: holding(b.Laplace(scale=1), _promises={}), f"laplace holds _promises beside its fields{REGISTER}"),
        (lambda own: holding(own.Derived(1), eps=20), r"derived holds eps.* beside its fields"),
        (lambda own: holding(own.Sens(1), extra=20), r"sens holds extra beside its fields"),
        (lambda own: own.Plainly(2), r"plainly's value is 2 \(int\) and would be read back as Real\(2\) \(Real\)"),
        (lambda own: own.Plainly(2.5), r"plainly's value is 2.5 \(float\) .* read back as Real\(2.5\) \(Real\)"),
        (lambda own: own.Plainly("12"), r"plainly's value is '12' \(str\) and would be read back as Real\(12\)"),
    ],
)
def test_what_its_text_does_not_mean_is_not_charged_nor_written(own: Any, made: Any, said: str) -> None:
    """Alone or inside, also after an equal one was charged, charging and JSON say what it is and, of what is not
    registered, to declare or register it; people still get a text and an account.
    """
    more = (
        lambda one: b.PoissonSampled(one, rate=0.5),
        lambda one: one * 3 + b.Gaussian(sigma=2),
        lambda one: Composition([(b.Laplace(scale=1), 1), (one, 1)]),
    )
    for around in (*AROUND, *more):
        what = around(made(own))
        with opened() as ledger:
            ledger.spend("data", b.Laplace(scale=1) + own.Derived(1) + own.Sens(1))
            for equal in (b.Laplace(scale=1), own.Derived(1), own.Sens(1)):
                ledger.spend("data", around(equal))
            held = ledger.reserve("data", b.Laplace(scale=1) * 2, ttl=9)
            drawn, last = ledger.draw(held, b.Laplace(scale=1)), ledger.last("data")
            for verb in (
                lambda: ledger.spend("data", what),
                lambda: ledger.quote("data", what),
                lambda: ledger.reserve("data", what, ttl=9),
                lambda: ledger.open("other", epsilon=1, spent=[what]),
                lambda: ledger.draw(held, what),
                lambda: ledger.correct(drawn, what, reason="more"),
                lambda: ledger.run("data", what, lambda: pytest.fail("it ran"), key="k"),
            ):
                with pytest.raises(b.errors.CostInvalid, match=said) as refused:
                    verb()
                assert ("register" in str(refused.value)) == said.endswith(REGISTER)
            assert ledger.last("data") == last
        with pytest.raises(b.errors.SpecError, match=said):
            b.to_json(what)
        assert "(" in str(what)
        if "OwnPromise" not in said:  # it has no conversions
            assert b.account(what, delta=1e-6).epsilon.upper > 0


def test_a_small_claim_under_a_known_name_opens_no_door() -> None:
    """It is refused, and twenty Laplaces do not pass on ε = 1 because of it."""
    with opened(epsilon=1) as ledger:
        with pytest.raises(b.errors.CostInvalid):
            ledger.spend("data", Cheap(1))
        ledger.spend("data", b.Laplace(scale=1))
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("data", b.Laplace(scale=1))


def test_no_subclass_of_the_catalogue_passes_for_it() -> None:
    """A law over the catalogue: the same fields in a subclass are refused, the value itself is what it is read back as,
    and different ones have different keys.
    """
    assert {type(one) for one in EXAMPLES} == set(CATALOGUE.values())
    for one in EXAMPLES:
        changed = object.__new__(type(type(one).__name__, (type(one),), {}))
        for each in dataclasses.fields(one):
            object.__setattr__(changed, each.name, getattr(one, each.name))
        with pytest.raises(b.errors.SpecError):
            b.to_json(changed)
        read = b.from_json(b.to_json(one))
        again = read.terms[0].mechanism
        assert read == one * 1
        assert same(one, again)
        assert merge_key(one) == merge_key(again)
        assert difference(one, again) == ""
    assert len({merge_key(one) for one in EXAMPLES}) == len(set(EXAMPLES))


@pytest.mark.parametrize(
    "pair",
    [
        lambda own: (Own(1, Fraction(1, 100)), Own(1, 1)),
        lambda own: (Equal(1, Fraction(1, 100)), Equal(1, 1)),
        lambda own: (own.Sens(1, sens="1/100"), own.Sens(1, sens=1)),
        lambda own: (b.Laplace(scale=1), Sly(scale=1)),
    ],
)
def test_nothing_is_merged_because_it_says_so(own: Any, pair: Callable[[Any], tuple[Any, Any]]) -> None:
    """Every field and every class counts, alone and in wrappers, and nothing is counted for less than it claims."""
    cheap, dear = pair(own)
    for around in AROUND:
        for one, other in ((cheap, dear), (dear, cheap)):
            found = [
                (type(term.mechanism), term.count)
                for term in Composition([(around(one), 1), (around(other), 20)]).terms
            ]
            assert len(found) == 2
            assert set(found) == {(type(around(one)), 1), (type(around(other)), 20)}
        assert b.account(around(cheap) + around(dear) * 20, delta=0).epsilon.upper >= 20.01
    assert len((dear + pair(own)[1]).terms) == 1


def test_values_of_other_types_are_others() -> None:
    """1 is not True, 0.0 is not -0.0, and a ratio is no number that was read."""
    values = [1, True, 1.0, Fraction(1), b.Laplace(scale=1).scale, "1", (1,), ((1,),), None, *Colour]
    owns = [Own(value) for value in [*values, 0.0, -0.0, b.Laplace(scale=1), b.Laplace(scale=2), b.PureDP(1)]]
    for i, one in enumerate(owns):
        assert [same(one, other) for other in owns] == [i == j for j in range(len(owns))]
    assert len({merge_key(own) for own in owns}) == len(owns)


def test_values_of_unknown_kinds_are_never_read_back() -> None:
    """Nobody knows what they hide: equal ones that are written alike are merged, and none is taken for another."""
    thing = Foreign()
    assert not same(Own(Foreign()), Own(Foreign()))
    assert len((Own(thing) + Own(thing)).terms) == 1
    assert len((Own(thing) + Own(Foreign())).terms) == 2


def test_whatever_is_kept_beside_fields_counts() -> None:
    """Unless it was computed from them once, by the class itself or by bursar."""
    plain, asked, more = Own(1), Own(1), holding(Own(1), sens=[20])
    assert asked.derived == [1]
    asked.promise(b.PureDP), asked.text(), merge_key(asked)
    assert beside(asked) == {}
    assert beside(more) == {"sens": [20]}
    assert same(plain, asked)
    assert len((plain + asked).terms) == 1
    assert not same(plain, more)
    assert len((plain + more).terms) == 2
    assert difference(more, plain) == "own holds sens beside its fields"


def test_two_readings_of_a_number_are_one_in_the_catalogue_alone() -> None:
    """0.1 and 1/10 become one term that covers both; a class of one's own cannot be made so, and stays two terms."""
    for wide, exact in ((b.Laplace(scale=0.3), b.Laplace(scale="0.3")), (b.Laplace(scale="0.3"), b.Laplace(scale=0.3))):
        (term,) = (wide + exact).terms
        assert term.count == 2
        assert (term.mechanism.scale.low, term.mechanism.scale.high) == (Fraction(0.3), Fraction(3, 10))
        assert len((Own(wide) + Own(exact)).terms) == 2
        assert len((b.Group(Own(wide.scale), size=2) + b.Group(Own(exact.scale), size=2)).terms) == 2


def test_a_field_that_may_change_or_is_missing_is_named(own: Any) -> None:
    """A list, also inside a tuple, or a constructor that forgot one: a sentence, when something is composed of it."""
    for changing in ([1], {"a": 1}, {1}, ([1],), [1, 2]):
        for kind, name in (
            (Own, "own holds .* in its field one"),
            (own.Plainly, "plainly holds .* in its field value"),
        ):
            with pytest.raises(b.InputError, match=f"{name}, a {type(changing).__name__}, which may change"):
                kind(changing) * 2
    with pytest.raises(b.InputError, match="forgot was made without its field one"):
        Forgot() * 2


def test_repricing_names_what_was_charged_under_a_known_name() -> None:
    """A journal in which a homonym paid less, or more, than the catalogue's mechanism: both are named."""
    with opened() as ledger:
        for claim in ("0.01", "2", None):
            currency_with.cache_clear()
            ledger.office.catalogue = type(ledger.office.catalogue)()
            release = Release("laplace(scale=1)", None, "add_remove", (("laplace(scale=1)", 1),))
            if claim is not None:
                release.__dict__["mechanisms"] = (b.Declared(b.PureDP(claim)),)
            ledger.spend("data", release)
        found = ledger.verify(reprice=True)
        assert len(found.problems) == len(found.notices) == 1
        assert "entry 2 charged data less than its price, or something else was charged" in found.problems[0]
        assert "entry 3 charged data more than today's price, or something else" in found.notices[0]
        assert "laplace(scale=1)" in found.notices[0]
        assert all(said in str(found) for said in (*found.problems, *found.notices))


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("derived(scale=4)*2", 0.5),
        ("derived(scale=0.5)*2 + derived(scale=4)", 4.25),
        ("group(derived(scale=4), size=3)", 0.75),
        ("disjoint(derived(scale=4)*2, derived(scale=2))", 0.5),
        ("child(scale=4, sens=1) + sens(scale=4, sens=1)", 0.75),
        ("sens(scale=1, sens=1)*20 + sens(scale=1, sens=1/100)", 20.01),
        ("group(sens(scale=1, sens=1), size=2)*20 + group(sens(scale=1, sens=1/100), size=2)", 40.02),
    ],
)
def test_a_plug_in_is_read_written_charged_and_shown(text: str, price: float) -> None:
    """Under its own name, in text, JSON, journal and statement; with its own price, which every field counts for."""
    what = b.parse(text)
    assert str(what) == text
    assert b.from_json(b.to_json(what)) == what
    assert charged(what) == charged(text) == price
    with opened(epsilon=str(price)) as ledger:
        ledger.spend("data", what)
        assert ledger.show("data").line("epsilon").left == 0
        assert ledger.show("data").released == ((text, 1),)


def test_a_plug_in_may_keep_what_it_derives(own: Any) -> None:
    """Attributes that its constructor derives are there wherever it is priced, sampled, copied or merged."""
    assert charged("derived(scale=0.5)*2", delta="1e-6") == 4
    assert 0 < charged("poisson(derived(scale=4), rate=0.5)") < 0.25
    one = b.parse("derived(scale=0.1)").terms[0].mechanism
    assert charged(one) == 10
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again.promise(b.PureDP).epsilon == 10
    both = one + own.Derived("0.1")  # two readings of a number, of which the class knows only one at a time
    assert b.account(both, epsilon=30).delta.upper == 0
    assert b.account(both, delta=0).epsilon.upper >= 20
    assert charged("child(scale=4)") == charged(own.Child(4)) == 2 * charged("sens(scale=4)") == 0.5


def test_without_its_plug_in_a_ledger_is_read_and_verified(
    own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show and verify work; repricing and charging refuse by name."""
    with opened(f"sqlite:///{tmp_path}/a.db", delta="1e-6") as ledger:
        ledger.spend("data", own.Derived(40))
        held = ledger.reserve("data", own.Derived(40) * 2, ttl=1000)
    monkeypatch.undo()
    forget()
    with Ledger(f"sqlite:///{tmp_path}/a.db", alert=None) as ledger:
        shown = ledger.show("data")
        assert shown.odometer is None
        assert shown.line("epsilon").spent > 0
        assert ledger.verify()
        problems = ledger.verify(reprice=True).problems
        assert len(problems) == 2
        assert all("derived" in problem for problem in problems)
        with pytest.raises(b.errors.SpecError, match="derived"):
            ledger.spend("data", "derived(scale=40)")
        ledger.draw(held)  # all that is left: it was priced when it was reserved


def test_names_that_are_taken_are_refused(packages: Packages, own: Any) -> None:
    """The catalogue's names keep their meaning; a name that two packages offer has none, not even for a value of its
    class, while what else they offer is meant; a name with capitals is none.
    """
    assert plugins.plugins() == sorted([*OFFERS, "Loud"])
    assert type(b.parse("laplace(scale=4)").terms[0].mechanism) is b.Laplace
    with pytest.raises(b.errors.SpecError, match="lower-case"):
        b.parse("Loud(scale=4)")
    packages.install("fixture_twin", HONEST.replace("2 * self.sens", "9 * self.sens"), {"sens": "Sens"})
    for what in ("sens(scale=4)", "group(sens(scale=4), size=2)"):
        with pytest.raises(b.errors.SpecError, match="fixture_own and fixture_twin"):
            charged(what)
    for module in (own, __import__("fixture_twin")):
        with pytest.raises(b.errors.CostInvalid, match="fixture_own and fixture_twin"):
            charged(module.Sens(4))
    assert charged("derived(scale=4)") == 0.25


def odd(fields: str, more: str = "", frame: str = "@dataclass(frozen=True)", base: str = "b.Mechanism") -> str:
    """A class with these fields and members."""
    return f"""{HEAD}
{frame}
class Odd({base}):
    name = "odd"
    relation = "add_remove"
    {fields}
    {more}

    def claims(self):
        return pure(1)
"""


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (odd("scale: object", base="object"), "it is no class that derives from"),
        (odd("scale: object", 'name = "other"'), "the class calls itself 'other'"),
        (odd("scale: object").replace("Odd", "Other"), "be loaded"),
        (odd("scale: object\n    sens: object = field(default=1, compare=False)"), "sens out of its comparison"),
        (odd("scale: object", "def __eq__(self, other): return True"), "__eq__ of its own"),
        (odd("scale: object", "def __hash__(self): return 1"), "__hash__ of its own"),
        (odd("scale: object", frame="@dataclass(frozen=True, eq=False)"), "__eq__ of its own"),
        (odd("bins: InitVar[int] = 1", "def __post_init__(self, bins): pass"), "takes bins.*no field"),
        (odd("scale: object", "def __init__(self, scale, sens=1): pass"), "takes sens=1, which is no field"),
        (odd("scale: object", "def __init__(self, scale, **more): pass"), r"takes \*\*more, which is no field"),
        (odd("scale: object", "def __init__(self, *scale): pass"), r"takes \*scale"),
        (odd("scale: object", "def __new__(cls, scale): return object.__new__(cls)"), "__new__ of its own"),
        (odd("scale: object\n    eps: object = field(init=False)"), "does not take its field eps"),
        (odd("scale: object", '__slots__ = ("hidden",)'), "keeps hidden beside its fields"),
        (odd("scale: object", base="b.Laplace"), "derives from Laplace"),
        (f"{HEAD}\nraise SystemExit('bye')", r"be loaded: SystemExit\('bye'\)"),
        (f"{HEAD}\nclass Stop(BaseException): pass\nraise Stop('bye')", r"be loaded: Stop\('bye'\)"),
    ],
)
def test_classes_whose_text_would_not_say_all_are_refused(packages: Packages, module: str, said: str) -> None:
    """Fields that do not count, an equality of its own, more than fields: a sentence when the name is used."""
    packages.install("fixture_odd", module, {"odd": "Odd"})
    with pytest.raises(b.errors.SpecError, match=rf"odd of fixture_odd cannot.*{said}"):
        b.parse("odd(scale=1)")


@pytest.mark.parametrize(
    "module",
    [
        odd("scale: object"),
        odd("scale: object", frame="@dataclass(frozen=True, slots=True)"),
        odd("scale: object\n    sens: object = 1", frame="@dataclass(frozen=True, kw_only=True)"),
        odd("scale: object", "def __init__(self, *, scale): self._set(scale=scale)"),
    ],
)
def test_an_ordinary_class_may_be_registered(packages: Packages, module: str) -> None:
    """The controls of the test above: with slots, with an own constructor, with a default."""
    packages.install("fixture_odd", module, {"odd": "Odd"})
    assert charged("odd(scale=1)*3") == 3


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("plainly(value=divide)", r"plainly \(fixture_own.Plainly\) cannot be made so.*ZeroDivisionError"),
        ("plainly(value=exit)", r"cannot be made so.*SystemExit\('bye'\)"),
        ("plainly()", r"cannot be made so; it takes value.*missing 1 required"),
        ("plainly(value=fail)", r"failed to state its claims: RuntimeError\('boom'\)"),
        ("group(plainly(value=leave), size=2)", r"failed to state its claims: SystemExit\('bye'\)"),
        ("plainly(value=seven)", r"states 7 as its claims, not a tuple of claims"),
        (
            "plainly(value=[1, 2])",
            r"plainly holds \[Real\(1\), Real\(2\)\] in its field value, a list, which may change",
        ),
    ],
)
def test_what_foreign_code_raises_is_said_with_its_name(what: str, said: str) -> None:
    """In accounts and in ledgers of both kinds: a sentence, never its own exception, and never the end of all."""
    for asked in (
        lambda: b.account(b.parse(what), delta=0),
        lambda: charged(what),
        lambda: charged(what, delta="1e-6"),
    ):
        with pytest.raises(b.BursarError, match=said):
            asked()


def test_a_subclass_inherits_no_noise_that_it_does_not_claim() -> None:
    """Whichever of claims and losses it states, an account is never the base's, alone, repeated, sampled or in a group;
    one that states nothing is its base, and children of such a class are asked like itself.
    """

    def epsilon(what: Any, delta: Any = 0) -> Any:
        return b.account(what, delta=delta).epsilon

    for kind in (DoubleClaim, type("Child", (DoubleClaim,), {}), DoubleLoss, Twice):
        for around in (lambda one: one, lambda one: one * 3, lambda one: b.Group(one, size=2)):
            assert epsilon(around(kind(scale=1)), "1e-6").upper >= epsilon(around(b.Laplace(scale="1/2")), "1e-6").lower
    sampled = epsilon(b.PoissonSampled(DoubleClaim(scale=1), rate="1/2")).upper
    assert sampled >= epsilon(b.PoissonSampled(b.Laplace(scale="1/2"), rate="1/2")).lower
    assert epsilon(b.Group(Twice(scale=1), size=2)).upper >= 4
    assert epsilon(b.Group(b.Laplace(scale=1), size=2)).upper == 2
    two = TwoGaussians(sigma=2, relation="replace_one")
    assert epsilon(b.PoissonSampled(two, rate="0.999999"), 1e-6).upper >= 0.99 * epsilon(two, 1e-6).upper
    with pytest.raises(b.errors.LossUnknown, match="DoubleClaim claims something of its own"):
        DoubleClaim(scale=1).losses()
    assert DoubleLoss(scale=1).claims() == ()
    assert epsilon(Mild(delta="1/2")).lower <= 0.1 == epsilon(Mild(delta="1/2")).upper
    assert epsilon(type("Plain", (b.Laplace,), {})(scale=1), "1e-6") == epsilon(b.Laplace(scale=1), "1e-6")


@pytest.mark.parametrize("around", [lambda one: one, lambda one: b.PoissonSampled(one, "1/2")])
def test_parameters_stay_once_it_was_asked_what_it_costs(around: Callable[[b.Mechanism], b.Mechanism]) -> None:
    """A tenth of the noise after the account would be answered as before: it is refused, also where it stands inside;
    until then fields may be set, and private names always.
    """
    one = Loose(Fraction(1))
    one.sigma = Fraction(10)
    what = around(one) * 3
    before = b.account(what, delta=1e-6).epsilon
    with pytest.raises(b.InputError, match="Loose has stated what it costs, and its sigma cannot change"):
        one.sigma = Fraction(1)
    one._note = "seen"  # type: ignore[attr-defined]
    assert b.account(what, delta=1e-6).epsilon == before
    assert copy.copy(one).sigma == pickle.loads(pickle.dumps(one)).sigma == 10
