"""Mechanisms of one's own: which classes may be registered, and what becomes of those that keep or raise too much."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import bursar as b
from bursar.guarantees import Claim
from bursar.ledger.ledger import Ledger
from bursar.losses import Directions
from support.packages import HEAD, Packages

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


class Sly(Sens):
    """A subclass that calls itself what its base is."""

    def claims(self):
        return pure(3 * self.sens / self.scale)
'''
OFFERS = {"sens": "Sens", "derived": "Derived", "plainly": "Plainly", "child": "Child"}


@pytest.fixture
def honest(packages: Packages) -> Any:
    """The module above, installed."""
    packages.install("fixture_honest", HONEST, OFFERS)
    return __import__("fixture_honest")


def charged(what: Any, **terms: Any) -> float:
    """What a release costs on a line of ε."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", **{"epsilon": 100, **terms})
        ledger.spend("data", what)
        assert ledger.verify(reprice=True)
        return float(ledger.show("data").line("epsilon").spent)


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
        (
            odd("scale: object\n    sens: object = field(default=1, compare=False)"),
            r"leaves sens out of its comparison",
        ),
        (odd("scale: object", "def __eq__(self, other): return True"), r"__eq__ of its own"),
        (odd("scale: object", "def __hash__(self): return 1"), r"__hash__ of its own"),
        (odd("scale: object", frame="@dataclass(frozen=True, eq=False)"), r"__eq__ of its own"),
        (
            odd("scale: object\n    bins: InitVar[int] = 1", "def __post_init__(self, bins): pass"),
            r"takes bins.*no field",
        ),
        (odd("scale: object", "def __init__(self, scale, sens=1): pass"), r"takes sens=1, which is no field"),
        (odd("scale: object", "def __init__(self, scale, **more): pass"), r"takes \*\*more, which is no field"),
        (odd("scale: object", "def __init__(self, *scale): pass"), r"takes \*scale"),
        (odd("scale: object", "def __new__(cls, scale): return object.__new__(cls)"), r"__new__ of its own"),
        (odd("scale: object\n    eps: object = field(init=False)"), r"does not take its field eps"),
        (odd("scale: object", '__slots__ = ("hidden",)'), r"keeps hidden beside its fields"),
        (odd("scale: object", base="b.Laplace"), r"derives from Laplace"),
        (f"{HEAD}\nraise SystemExit('bye')", r"be loaded: SystemExit\('bye'\)"),
        (f"{HEAD}\nclass Stop(BaseException): pass\nraise Stop('bye')", r"be loaded: Stop\('bye'\)"),
    ],
)
def test_classes_whose_text_would_not_say_all_are_refused(packages: Packages, module: str, said: str) -> None:
    """Fields that do not count, an equality of its own, more than fields: a sentence when the name is used."""
    packages.install("fixture_odd", module, {"odd": "Odd"})
    with pytest.raises(b.errors.SpecError, match=rf"odd of fixture_odd cannot.*{said}"):
        b.parse("odd(scale=1)")


def test_an_ordinary_class_may_be_registered(packages: Packages) -> None:
    """The controls of the test above: with slots, with an own constructor, with a default."""
    for number, (fields, more, frame) in enumerate(
        [
            ("scale: object", "", "@dataclass(frozen=True)"),
            ("scale: object", "", "@dataclass(frozen=True, slots=True)"),
            ("scale: object\n    sens: object = 1", "", "@dataclass(frozen=True, kw_only=True)"),
            ("scale: object", "def __init__(self, *, scale): self._set(scale=scale)", "@dataclass(frozen=True)"),
        ]
    ):
        module = odd(fields, more, frame).replace('"odd"', f'"odd{number}"')
        packages.install(f"fixture_odd{number}", module, {f"odd{number}": "Odd"})
        assert charged(f"odd{number}(scale=1)*3") == 3


@pytest.mark.usefixtures("honest")
def test_a_plug_in_may_keep_what_it_derives() -> None:
    """Attributes that its constructor derives are there wherever it is priced, sampled, grouped, copied or merged."""
    assert charged("derived(scale=0.5)*2 + derived(scale=4)") == 4.25
    assert charged("derived(scale=0.5)*2", delta="1e-6") == 4
    assert charged("group(derived(scale=4), size=3)") == 0.75
    assert charged("disjoint(derived(scale=4)*2, derived(scale=2))") == 0.5
    assert 0 < charged("poisson(derived(scale=4), rate=0.5)") < 0.25
    one = b.parse("derived(scale=0.1)").terms[0].mechanism
    assert charged(one) == 10
    for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again.promise(b.PureDP).epsilon == 10
    both = one + type(one)("0.1")  # two readings of a number, of which the class knows only one at a time
    assert b.account(both, epsilon=30).delta.upper == 0
    assert b.account(both, delta=0).epsilon.upper >= 20


def test_state_beside_the_fields_is_not_charged(honest: Any) -> None:
    """What the text would not say is refused, however deep it stands inside, also after an equal one was charged."""
    hidden = honest.Derived(1)
    hidden._set(eps=20)
    more = honest.Sens(1)
    more._set(extra=20)
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=100)
        ledger.spend("data", honest.Derived(1))
        ledger.spend("data", honest.Sens(1))
        for one, name in ((hidden, "eps"), (more, "extra")):
            for what in (one, one * 2, b.Group(one, size=2), b.PoissonSampled(one, rate=0.5), b.Disjoint(one)):
                with pytest.raises(b.errors.CostInvalid, match=f"holds {name}.* beside its fields"):
                    ledger.spend("data", what)
                with pytest.raises(b.errors.SpecError, match=f"holds {name}.* beside its fields"):
                    b.to_json(what)
        assert ledger.last("data") == 3


def test_unequal_ones_are_charged_apart(honest: Any) -> None:
    """Every field counts, in wrappers too, by value and by text."""
    what = honest.Sens(1, sens="1/100") + honest.Sens(1, sens=1) * 20
    assert charged(what) == charged("sens(scale=1, sens=1/100) + sens(scale=1, sens=1)*20") == 20.01
    assert charged("group(sens(scale=1, sens=1/100), size=2) + group(sens(scale=1, sens=1), size=2)*20") == 40.02


@pytest.mark.usefixtures("honest")
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("plainly(value=divide)", r"plainly \(fixture_honest.Plainly\) cannot be made so.*ZeroDivisionError"),
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


def test_a_field_of_another_type_is_named(honest: Any) -> None:
    """What it is, and what its text would be read back as; nobody is told to register what is registered."""
    for value, said in (
        (2, r"plainly's value is 2 \(int\) and would be read back as Real\(2\) \(Real\)"),
        (2.5, r"plainly's value is 2.5 \(float\) and would be read back as Real\(2.5\) \(Real\)"),
        ("12", r"plainly's value is '12' \(str\) and would be read back as Real\(12\)"),
    ):
        with pytest.raises(b.errors.CostInvalid, match=said) as refused:
            charged(honest.Plainly(value))
        assert "register" not in str(refused.value)
    with pytest.raises(b.InputError, match="in its field value, a list"):
        honest.Plainly([1, 2]) * 2


def test_subclasses_of_a_plug_in_are_not_taken_for_it(honest: Any) -> None:
    """One without a name of its own is refused; one with a name is charged for what it claims itself."""
    assert charged("sens(scale=4)") == 0.25
    assert charged("child(scale=4)") == charged(honest.Child(4)) == 0.5
    assert charged(honest.Child(4) + honest.Sens(4)) == 0.75
    for what in (honest.Sly(4), b.Group(honest.Sly(4), size=2), honest.Sens(4) + honest.Sly(4)):
        with pytest.raises(b.errors.CostInvalid, match="Sly is a class of your own"):
            charged(what)


def test_two_packages_that_offer_a_name(packages: Packages, honest: Any) -> None:
    """Neither is meant, not even by a value of its class, while what else they offer is."""
    packages.install("fixture_twin", HONEST.replace("2 * self.sens", "9 * self.sens"), {"sens": "Sens"})
    for what in ("sens(scale=4)", "group(sens(scale=4), size=2)"):
        with pytest.raises(b.errors.SpecError, match="fixture_honest and fixture_twin"):
            charged(what)
    for module in (honest, __import__("fixture_twin")):
        with pytest.raises(b.errors.CostInvalid, match="fixture_honest and fixture_twin"):
            charged(module.Sens(4))
    assert charged("derived(scale=4)") == 0.25


class TwoLaplaces(b.Laplace):
    """An honest subclass of the catalogue: two releases at once. How its noise grows is inherited, and not its own."""

    def claims(self) -> tuple[Any, ...]:
        """2/scale."""
        return (b.guarantees.Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)

    def losses(self) -> Any:
        """Not known."""
        raise b.errors.LossUnknown("two at once")


class TwoGaussians(b.Gaussian):
    """The same of Gaussians."""

    def claims(self) -> tuple[Any, ...]:
        """√2/σ, rounded up."""
        return (b.guarantees.Claim(b.GDP(self.sigma.reciprocal().times(2)), "declared"),)

    def losses(self) -> Any:
        """Not known."""
        raise b.errors.LossUnknown("two at once")


def test_wrappers_ask_a_subclass_and_not_its_base() -> None:
    """A group of a subclass is the group of what it claims, a sample the sample of that: never the base's noise."""
    assert b.account(b.Group(TwoLaplaces(scale=1), size=2), delta=0).epsilon.upper >= 4
    assert b.account(b.Group(b.Laplace(scale=1), size=2), delta=0).epsilon.upper == 2
    alone = b.account(TwoGaussians(sigma=2, relation="replace_one"), delta=1e-6).epsilon.upper
    sampled = b.PoissonSampled(TwoGaussians(sigma=2, relation="replace_one"), rate="0.999999")
    assert b.account(sampled, delta=1e-6).epsilon.upper >= 0.99 * alone


class DoubleClaim(b.Laplace):
    """Two releases at once that state their claims and leave the losses to be inherited."""

    def claims(self) -> tuple[Any, ...]:
        """2/scale."""
        return (b.guarantees.Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)


class DoubleLoss(b.Laplace):
    """The same the other way round: the losses of two, and the claims of one."""

    def losses(self) -> Any:
        """Those of half the noise."""
        return b.Laplace(scale=self.scale.times(Fraction(1, 2))).losses()


class Mild(b.NameAndShame):
    """Claims less than its base: it does not leak what that one leaks."""

    def claims(self) -> tuple[Any, ...]:
        """Nothing but a small ε."""
        return (b.guarantees.Claim(b.PureDP("1/10"), "declared"),)


def test_a_subclass_inherits_no_noise_that_it_does_not_claim() -> None:
    """Whichever of claims and losses it states, an account is never the base's, alone, repeated, sampled or in a group;
    one that states nothing is its base, and children of such a class are asked like itself.
    """
    child = type("Child", (DoubleClaim,), {})
    for kind in (DoubleClaim, child, DoubleLoss):
        for wrapped in (lambda one: one, lambda one: one * 3, lambda one: b.Group(one, size=2)):
            honest = b.account(wrapped(b.Laplace(scale="1/2")), delta="1e-6").epsilon
            assert b.account(wrapped(kind(scale=1)), delta="1e-6").epsilon.upper >= honest.lower
    sampled = b.account(b.PoissonSampled(DoubleClaim(scale=1), rate="1/2"), delta=0).epsilon.upper
    assert sampled >= b.account(b.PoissonSampled(b.Laplace(scale="1/2"), rate="1/2"), delta=0).epsilon.lower
    with pytest.raises(b.errors.LossUnknown, match="DoubleClaim claims something of its own"):
        DoubleClaim(scale=1).losses()
    assert DoubleLoss(scale=1).claims() == ()
    assert b.account(Mild(delta="1/2"), delta=0).epsilon.lower <= 0.1
    assert b.account(Mild(delta="1/2"), delta=0).epsilon.upper == 0.1
    plain = type("Plain", (b.Laplace,), {})
    assert b.account(plain(scale=1), delta="1e-6").epsilon == b.account(b.Laplace(scale=1), delta="1e-6").epsilon


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
