"""A class of one's own is never taken for another, whatever it is called or keeps; registered, it costs its claims."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, make_dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.composition import Composition
from bursar.guarantees import Claim, Tightness
from bursar.identity import beside, difference, merge_key, same
from bursar.ledger.budget.currencies import currency_with
from bursar.ledger.budget.release import Release
from bursar.ledger.ledger import Ledger
from bursar.mechanisms import CATALOGUE, plugins
from bursar.numerics.real import Real, read
from support.catalogue import EXAMPLES
from support.packages import HEAD, Packages, forget


def pure(epsilon: Any) -> tuple[Claim, ...]:
    """The claim of a pure ε."""
    return (Claim(b.PureDP(Fraction(epsilon)), "declared"),)


@dataclass(frozen=True, init=False, repr=False)
class Sens(b.Mechanism):
    """Two fields."""

    name = "sens"
    scale: Real
    sens: Real
    relation = "add_remove"

    def __init__(self, scale: Any, sens: Any = 1) -> None:
        self._set(scale=read(scale, "scale"), sens=read(sens, "sens"))

    def claims(self) -> tuple[Claim, ...]:
        """Their ratio."""
        return pure(self.sens / self.scale)


@dataclass(frozen=True, init=False, repr=False)
class Derived(Sens):
    """Keeps what it derives from its fields under three kinds of names, and claims twice as much as its base."""

    name = "derived"

    def __init__(self, scale: Any, sens: Any = 1) -> None:
        super().__init__(scale, sens)
        self._set(eps=2 * Fraction(self.sens) / Fraction(self.scale), _parts=[self.scale], _seen={})

    def claims(self) -> tuple[Claim, ...]:
        """What it kept."""
        self._seen["asked"] = True
        return pure(self.eps)


@dataclass(frozen=True)
class Plainly(b.Mechanism):
    """Takes whatever it is given, and raises what that says."""

    name = "plainly"
    value: Any
    relation = "add_remove"

    def __post_init__(self) -> None:
        if self.value in ("exit", "divide"):
            raise SystemExit("bye") if self.value == "exit" else ZeroDivisionError

    def claims(self) -> Any:
        """One."""
        if self.value in ("fail", "leave"):
            raise RuntimeError("boom") if self.value == "fail" else SystemExit("bye")
        return 7 if self.value == "seven" else pure(1)


def own_class(title: str, base: type, *fields: Any, frozen: bool = True, **stated: Any) -> Any:
    """A class that adds these fields to its base, if any, and states these things itself."""
    stated["__module__"] = __name__
    if not fields:
        return type(title, (base,), stated)
    return make_dataclass(title, fields, bases=(base,), frozen=frozen, namespace={"relation": "add_remove", **stated})


HIDDEN = ("other", Any, field(default=0, compare=False))
Hidden = own_class("Hidden", Plainly, HIDDEN, claims=lambda self: pure(self.other))  # claims what it does not compare
Equal = own_class("Equal", Hidden, __eq__=lambda self, other: True, __hash__=Hidden.__hash__)
Sly = own_class("Sly", b.Laplace, __eq__=lambda self, other: True, __hash__=b.Laplace.__hash__)
Cheap = own_class("Cheap", b.Mechanism, "scale", name="laplace", claims=lambda self: pure("0.01"))
Namesake = own_class("Namesake", Sens, claims=lambda self: pure(3 * self.sens / self.scale))
OwnPromise = own_class("OwnPromise", b.PureDP)
Word = own_class("Word", object, __str__=lambda self: "word")  # hides what it is
Twice = own_class("Twice", b.Laplace, claims=lambda self: pure(2 / self.scale), losses=b.Mechanism.losses)
DoubleClaim = own_class("DoubleClaim", b.Laplace, claims=lambda self: pure(2 / self.scale))
DoubleLoss = own_class("DoubleLoss", b.Laplace, losses=lambda self: b.Laplace(scale=self.scale / 2).losses())
TWO = {"claims": lambda self: (Claim(b.GDP(2 / self.sigma), "declared"),), "losses": b.Mechanism.losses}
TwoGaussians = own_class("TwoGaussians", b.Gaussian, **TWO)  # √2/σ, rounded up
Mild = own_class("Mild", b.NameAndShame, claims=lambda self: pure("1/10"))  # does not leak what its base leaks
SAYS = {"claims": lambda self: b.Gaussian(self.sigma).claims(), "losses": lambda self: b.Gaussian(self.sigma).losses()}
Loose = own_class("Loose", b.Mechanism, "sigma", frozen=False, name="loose", **SAYS)  # its field may be set
AROUND: tuple[Callable[[Any], Any], ...] = (
    lambda one: one,
    lambda one: b.Group(one, size=2),
    lambda one: b.PoissonSampled(one, rate=1),
    b.Disjoint,
    lambda one: b.Disjoint(b.Group(one, size=1), b.Laplace(scale=10**6)),
)
KNOWN = {"laplace": "Sens", "pure_dp": "Sens"}
OFFERS = {"Loud": "Sens", "derived": "Derived", "plainly": "Plainly", "sens": "Sens"}
REGISTER = r".*declared\(…\).*register.*entry point"


@pytest.fixture(autouse=True)
def _own(packages: Packages) -> None:
    """A package that offers three classes of this module, one of them also under names that it may not have."""
    packages.install("fixture_own", f"from {__name__} import Derived, Plainly, Sens", OFFERS | KNOWN)


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
        (epsilon,) = (line for line in ledger.show("data").lines if line.means == "Σε")
        return float(epsilon.spent)


def holding(what: Any, **more: Any) -> Any:
    """The same with something beside its fields."""
    vars(what).update(more)
    return what


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (Twice(scale=1), f"Twice is a class of your own{REGISTER}"),
        (Cheap(scale=1), f"Cheap is a class of your own{REGISTER}"),
        (Sly(scale=1), f"Sly is a class of your own{REGISTER}"),
        (Namesake(1), f"Namesake is a class of your own{REGISTER}"),
        (b.Declared(OwnPromise("0.1")), f"OwnPromise is a class of your own{REGISTER}"),
        (holding(b.Laplace(scale=2), claims=lambda: pure(2)), f"laplace holds claims beside its fields{REGISTER}"),
        (holding(b.Laplace(scale=2), _promises={b.PureDP: 0}), f"laplace holds _promises beside its fields{REGISTER}"),
        (holding(Derived(1), eps=20), "derived holds eps.* beside its fields"),
        (holding(Sens(1), extra=20), "sens holds extra beside its fields"),
        (Plainly("12"), r"plainly's value is '12' \(str\) and would be read back as Real\(12\) \(Real\)"),
    ],
)
def test_what_its_text_does_not_mean_is_not_charged_nor_written(odd: Any, said: str) -> None:
    """No verb takes it, alone, inside or after an equal one, and says what to do; people get a text and an account."""
    more = (lambda one: one * 3 + b.Laplace(scale=3), lambda one: Composition([(b.Laplace(scale=1), 1), (one, 1)]))
    for around in (*AROUND, *more, lambda one: b.PoissonSampled(one, rate=0.5)):
        what = around(odd)
        with opened() as ledger:
            for equal in (b.Laplace(scale=1), b.Laplace(scale=2), Derived(1), Sens(1)):
                ledger.spend("data", around(equal))
            held = ledger.reserve("data", b.Laplace(scale=1) * 2, ttl=9)
            drawn = ledger.draw(held, b.Laplace(scale=1))
            last = ledger.last("data")
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
                assert ("register" in str(refused.value)) == (REGISTER in said)
            assert ledger.last("data") == last
        with pytest.raises(b.errors.SpecError, match=said):
            b.to_json(what)
        assert "(" in str(what)
        if not isinstance(odd, b.Declared):  # a promise of one's own has no conversions
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
    """A law over the catalogue: the same fields in a subclass are refused, and the value itself is read back."""
    assert {type(one) for one in EXAMPLES} == set(CATALOGUE.values())
    for one in EXAMPLES:
        changed = object.__new__(own_class(type(one).__name__, type(one)))
        holding(changed, **{each.name: getattr(one, each.name) for each in fields(one)})
        with pytest.raises(b.errors.SpecError):
            b.to_json(changed)
        ((again, count),) = b.from_json(b.to_json(one)).terms
        assert (again, count) == (one, 1)
        assert same(one, again)
        assert merge_key(one) == merge_key(again)
        assert difference(one, again) == ""
    assert len({merge_key(one) for one in EXAMPLES}) == len(set(EXAMPLES))


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [
        (Hidden(1, Fraction(1, 100)), Hidden(1, 1)),
        (Equal(1, Fraction(1, 100)), Equal(1, 1)),
        (Sens(1, sens="1/100"), Sens(1)),
        (b.Laplace(scale=1), Sly(scale=1)),
    ],
)
def test_nothing_is_merged_because_it_says_so(cheap: Any, dear: Any) -> None:
    """Every field and every class counts, alone and in wrappers, and nothing is counted for less than it claims."""
    for around in (*AROUND, lambda one: b.Group(one, size=1)):
        once, often = around(cheap), around(dear)
        for terms in ([(once, 1), (often, 20)], [(often, 20), (once, 1)], [(once, 20), (often, 1)]):
            found = [(type(term.mechanism), term.count) for term in Composition(terms).terms]
            assert sorted(found, key=str) == sorted(((type(one), count) for one, count in terms), key=str)
        assert b.account(once + often * 20, delta=0).epsilon.upper >= 20.01
    assert len((dear + copy.copy(dear)).terms) == 1


def test_values_of_other_types_are_others() -> None:
    """1 is not True, 0.0 is not -0.0, unknown kinds may hide anything; what is kept counts unless computed once."""
    values = [1, True, 1.0, Fraction(1), b.Laplace(scale=1).scale, "1", (1,), ((1,),), None, *Tightness, 0.0, -0.0]
    values += [b.Laplace(scale=1), b.Laplace(scale=2), b.PureDP(1), Word(), Word()]
    ones = [*map(Plainly, values), holding(Plainly(1), sens=[20])]
    for i, one in enumerate(ones):
        copies = [copy.copy(other) for other in ones]
        assert [same(one, other) for other in copies] == [i == j for j in range(len(ones))]
        assert [len((one + other).terms) for other in copies] == [1 if i == j else 2 for j in range(len(ones))]
    assert len({merge_key(one) for one in ones}) == len(ones)
    assert beside(ones[-1]) == {"sens": [20]}
    assert difference(ones[-1], ones[0]) == "plainly holds sens beside its fields"
    kind = own_class("Computing", Plainly, computed=cached_property(lambda self: [1]))
    asked = kind(1)
    assert asked.computed == [1]
    asked.promise(b.PureDP), asked.text(), merge_key(asked)
    assert beside(asked) == {}
    assert same(kind(1), asked)
    assert len((kind(1) + asked).terms) == 1


def test_two_readings_of_a_number_are_one_in_the_catalogue_alone() -> None:
    """0.1 and 1/10 become one term that covers both; a class of one's own cannot be made so, and stays two terms."""
    for wide, exact in ((0.3, "0.3"), ("0.3", 0.3)):
        one, other = b.Laplace(scale=wide), b.Laplace(scale=exact)
        (term,) = (one + other).terms
        assert term.count == 2
        assert (term.mechanism.scale.low, term.mechanism.scale.high) == (Fraction(0.3), Fraction(3, 10))
        assert len((Plainly(one) + Plainly(other)).terms) == 2
        assert len((b.Group(Plainly(one.scale), size=2) + b.Group(Plainly(other.scale), size=2)).terms) == 2


def test_a_field_that_may_change_or_is_another_when_read_back_is_named() -> None:
    """A list, also inside a tuple, one that was left out, or a number that was not read."""
    for one in ([1], {"a": 1}, {1}, ([1],)):
        said = f"plainly holds .* in its field value, a {type(one).__name__}, which may change"
        with pytest.raises(b.InputError, match=said):
            Plainly(one) * 2
    with pytest.raises(b.InputError, match="plainly was made without its field value"):
        object.__new__(Plainly) * 2
    for number, kind in ((2, "int"), (2.5, "float")):
        said = rf"plainly's value is {number} \({kind}\) and would be read back as Real\({number}\) \(Real\)"
        with pytest.raises(b.errors.CostInvalid, match=said) as refused:
            charged(Plainly(number))
        assert "register" not in str(refused.value)


def test_repricing_names_what_was_charged_under_a_known_name() -> None:
    """A journal in which a homonym paid less, or more, than the catalogue's mechanism: both are named."""
    text = "laplace(scale=1)"
    with opened() as ledger:
        for paid in (b.Declared(b.PureDP("0.01")), b.Declared(b.PureDP(2)), b.Laplace(scale=1)):
            currency_with.cache_clear()
            ledger.office.catalogue = type(ledger.office.catalogue)()
            ledger.spend("data", holding(Release(text, None, "add_remove", ((text, 1),)), mechanisms=(paid,)))
        found = ledger.verify(reprice=True)
        assert len(found.problems) == len(found.notices) == 1
        assert "entry 2 charged data less than its price, or something else was charged" in found.problems[0]
        assert "entry 3 charged data more than today's price, or something else" in found.notices[0]
        assert text in found.notices[0]
        assert all(said in str(found) for said in (*found.problems, *found.notices))


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("derived(scale=1, sens=1)*2 + derived(scale=8, sens=1) + sens(scale=8, sens=1)", 4.375),
        ("group(derived(scale=8, sens=1), size=3)*2", 1.5),
        ("disjoint(derived(scale=4, sens=1), derived(scale=8, sens=1)*2)", 0.5),
        ("sens(scale=1, sens=1)*20 + sens(scale=1, sens=1/100)", 20.01),
        ("group(sens(scale=1, sens=1), size=2)*20 + group(sens(scale=1, sens=1/100), size=2)", 40.02),
    ],
)
def test_a_plug_in_is_read_written_charged_and_shown(text: str, price: float) -> None:
    """Under its own name, in text, JSON, journal and statement; with its own price, by value and by text."""
    what = b.parse(text)
    assert str(what) == text
    assert b.from_json(b.to_json(what)) == what
    assert charged(what) == charged(text) == price
    with opened(epsilon=str(price)) as ledger:
        ledger.spend("data", what)
        assert ledger.show("data").line("epsilon").left == 0
        assert ledger.show("data").released == ((text, 1),)


def test_a_plug_in_may_keep_what_it_derives() -> None:
    """Attributes that its constructor derives are there wherever it is priced, sampled, copied or merged."""
    assert charged("derived(scale=1)*2", delta="1e-6") == 4
    assert 0 < charged("poisson(derived(scale=8), rate=0.5)") < 0.25
    one = b.parse("derived(scale=0.1)").terms[0].mechanism
    assert charged(one) == charged(Derived("0.1")) == 20
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again.promise(b.PureDP).epsilon == 20
    both = one + Derived("0.1")  # two readings of a number, of which the class knows only one at a time
    assert b.account(both, epsilon=60).delta.upper == 0
    assert b.account(both, delta=0).epsilon.upper >= 40


def test_without_its_plug_in_a_ledger_is_read_and_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Show and verify work; repricing and charging refuse by name."""
    url = f"sqlite:///{tmp_path}/a.db"
    with opened(url, epsilon=1, delta="1e-6") as ledger:
        ledger.spend("data", Sens(40))
        held = ledger.reserve("data", Sens(40) * 2, ttl=1000)
    monkeypatch.undo()
    forget()
    with Ledger(url, alert=None) as ledger:
        assert ledger.show("data").odometer is None
        assert ledger.show("data").line("pure").spent > 0
        assert ledger.verify()
        problems = ledger.verify(reprice=True).problems
        assert len(problems) == 3  # two prices, and what an engine found of the second
        assert all("sens" in problem for problem in problems)
        with pytest.raises(b.errors.SpecError, match="sens"):
            ledger.spend("data", "sens(scale=40)")
        ledger.draw(held)  # all that is left: it was priced when it was reserved


def odd_class(members: str, more: str = "", *, frame: str = "frozen=True", base: str = "b.Mechanism") -> str:
    """A module with a class that has these fields and members."""
    body = f"name = 'odd'\n    relation = 'add_remove'\n    {members}\n    {more}\n    claims = lambda self: pure(1)"
    return f"{HEAD}\n@dataclass({frame})\nclass Odd({base}):\n    {body}\n"


def test_names_that_are_taken_are_refused(packages: Packages) -> None:
    """The catalogue's names keep their meaning; one that two packages offer has none, for texts and for values."""
    assert plugins.plugins() == list(OFFERS)
    assert type(b.parse("laplace(scale=4)").terms[0].mechanism) is b.Laplace
    with pytest.raises(b.errors.SpecError, match="lower-case"):
        b.parse("Loud(scale=4)")
    packages.install("fixture_twin", odd_class("scale: object", "name = 'sens'"), {"sens": "Odd"})
    for what in ("sens(scale=4)", "group(sens(scale=4), size=2)"):
        with pytest.raises(b.errors.SpecError, match="fixture_own and fixture_twin"):
            charged(what)
    for value in (Sens(4), __import__("fixture_twin").Odd(4)):
        with pytest.raises(b.errors.CostInvalid, match="fixture_own and fixture_twin"):
            charged(value)
    assert charged("derived(scale=8)") == 0.25


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (odd_class("scale: object"), ""),
        (odd_class("scale: object", frame="frozen=True, slots=True"), ""),
        (odd_class("scale: object\n    sens: object = 1", frame="frozen=True, kw_only=True"), ""),
        (odd_class("scale: object", "def __init__(self, *, scale): self._set(scale=scale)"), ""),
        (odd_class("scale: object", base="object"), "it is no class that derives from"),
        (odd_class("scale: object", "name = 'other'"), "the class calls itself 'other'"),
        (odd_class("scale: object", base="b.Laplace"), "derives from Laplace"),
        (odd_class("scale: object = field(compare=False)"), "leaves scale out of its comparison"),
        (odd_class("scale: object", "def __eq__(self, other): return True"), "__eq__ of its own"),
        (odd_class("scale: object", "def __hash__(self): return 1"), "__hash__ of its own"),
        (odd_class("scale: object", frame="frozen=True, eq=False"), "__eq__ of its own"),
        (odd_class("bins: InitVar[int] = 1", "def __post_init__(self, bins): pass"), "takes bins.*no field"),
        (odd_class("scale: object", "def __init__(self, scale, sens=1): pass"), "takes sens=1, which is no field"),
        (odd_class("scale: object", "def __init__(self, scale, **more): pass"), r"takes \*\*more, which is no field"),
        (odd_class("scale: object", "def __init__(self, *scale): pass"), r"takes \*scale"),
        (odd_class("scale: object", "def __new__(cls, scale): return object.__new__(cls)"), "__new__ of its own"),
        (odd_class("eps: object = field(init=False)"), "does not take its field eps"),
        (odd_class("scale: object", "__slots__ = ('hidden',)"), "keeps hidden beside its fields"),
        (HEAD, "be loaded"),
        (f"{HEAD}\nraise SystemExit('bye')", r"be loaded: SystemExit\('bye'\)"),
        (f"{HEAD}\nclass Stop(BaseException): pass\nraise Stop('bye')", r"be loaded: Stop\('bye'\)"),
    ],
)
def test_classes_whose_text_would_not_say_all_are_refused(packages: Packages, module: str, said: str) -> None:
    """By a sentence when the name is used; ordinary ones, with slots, defaults or an own constructor, are charged."""
    packages.install("fixture_odd", module, {"odd": "Odd"})
    if said:
        with pytest.raises(b.errors.SpecError, match=rf"odd of fixture_odd cannot.*{said}"):
            b.parse("odd(scale=1)")
    else:
        assert charged("odd(scale=1)*3") == 3


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("plainly(value=divide)", rf"plainly \({__name__}.Plainly\) cannot be made so.*ZeroDivisionError"),
        ("plainly(value=exit)", r"cannot be made so.*SystemExit\('bye'\)"),
        ("plainly()", r"cannot be made so; it takes value.*missing 1 required"),
        ("plainly(value=fail)", r"failed to state its claims: RuntimeError\('boom'\)"),
        ("group(plainly(value=leave), size=2)", r"failed to state its claims: SystemExit\('bye'\)"),
        ("plainly(value=seven)", r"states 7 as its claims, not a tuple of claims"),
        ("plainly(value=[1, 2])", r"plainly holds \[Real\(1\), Real\(2\)\] in its field value, a list, which may"),
    ],
)
def test_what_foreign_code_raises_is_said_with_its_name(what: str, said: str) -> None:
    """In accounts and in ledgers of both kinds: a sentence, never its own exception, and never the end of all."""
    for ask in (lambda: b.account(b.parse(what), delta=0), lambda: charged(what), lambda: charged(what, delta="1e-6")):
        with pytest.raises(b.BursarError, match=said):
            ask()


def test_a_subclass_inherits_no_noise_that_it_does_not_claim() -> None:
    """Whichever of claims and losses it or its parent states, no account is the base's; one that states none is it."""

    def epsilon(what: Any, delta: Any = 0) -> Any:
        return b.account(what, delta=delta).epsilon

    twice, many = b.Laplace(scale="1/2"), (lambda one: one * 3, lambda one: b.PoissonSampled(one, "1/2"))
    for kind in (DoubleClaim, own_class("Child", DoubleClaim), DoubleLoss, Twice):
        for around in (*AROUND[:2], *many):
            for delta in (0, "1e-6"):
                assert epsilon(around(kind(scale=1)), delta).upper >= epsilon(around(twice), delta).lower
    assert epsilon(b.Group(b.Laplace(scale=1), size=2)).upper == 2
    two = TwoGaussians(sigma=2, relation="replace_one")
    assert epsilon(b.PoissonSampled(two, rate="0.999999"), 1e-6).upper >= 0.99 * epsilon(two, 1e-6).upper
    with pytest.raises(b.errors.LossUnknown, match="DoubleClaim claims something of its own"):
        DoubleClaim(scale=1).losses()
    assert DoubleLoss(scale=1).claims() == ()
    assert epsilon(Mild(delta="1/2")).lower <= 0.1 == epsilon(Mild(delta="1/2")).upper
    assert epsilon(own_class("Plain", b.Laplace)(scale=1), "1e-6") == epsilon(b.Laplace(scale=1), "1e-6")


@pytest.mark.parametrize("around", [lambda one: one, lambda one: b.PoissonSampled(one, "1/2")])
def test_parameters_stay_once_it_was_asked_what_it_costs(around: Callable[[b.Mechanism], b.Mechanism]) -> None:
    """Or noise would be answered for that is no longer there; until then fields may be set, private names always."""
    one = Loose(Fraction(1))
    one.sigma = Fraction(10)
    what = around(one) * 3
    before = b.account(what, delta=1e-6).epsilon
    with pytest.raises(b.InputError, match="Loose has stated what it costs, and its sigma cannot change"):
        one.sigma = Fraction(1)
    one._note = "seen"  # type: ignore[attr-defined]
    assert b.account(what, delta=1e-6).epsilon == before
    assert copy.copy(one).sigma == pickle.loads(pickle.dumps(one)).sigma == 10
