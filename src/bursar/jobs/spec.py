"""The written forms of a composition, read back: text for people, JSON for machines.

    gaussian(sigma=20)*1000 + laplace(scale=100)*5
    {"bursar": 1, "terms": [{"mechanism": {"name": "gaussian", "sigma": "20"}, "count": 1000}, …]}

Only names of the catalogue and of installed plug-ins (`bursar.mechanisms.plugins`) are read, and nothing is executed.
``str(c)`` and `to_json` write what `parse` and `from_json` read, without loss; a form written by this version keeps its
meaning in later ones (the JSON form carries the version, the text form only ever grows). A class of one's own has a
text for people, but no form that means it: `read_back` and `to_json` refuse it, also where it has a catalogue's name.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bursar import members
from bursar.composition import Composition, as_composition
from bursar.errors import InputError, SpecError, nearest
from bursar.guarantees import KINDS, Guarantee
from bursar.identity import difference, is_foreign, kinds_in, same
from bursar.jobs.spec_json import terms_of
from bursar.jobs.spec_names import build, class_of, fields_of, shape_of, unknown
from bursar.jobs.spec_text import Call, Reader, Word
from bursar.mechanisms import Mechanism
from bursar.mechanisms.plugins import plugin
from bursar.written import Written

VERSION = 1
Releases = Composition | Mechanism | str
"""What is counted: a value, or its text form."""


def releases(given: Releases) -> Composition:
    """A composition, a mechanism or a text form as a composition."""
    return parse(given) if isinstance(given, str) else as_composition(given)


def promise(text: str) -> Guarantee:
    """The promise that a text such as ``zcdp(rho=1/2)`` means."""
    reader = Reader(text)
    terms = reader.read()
    if len(terms) == 1 and terms[0][1] == 1 and isinstance(call := terms[0][0], Call):
        value = _Builder(text).value(call)
        if isinstance(value, Guarantee):
            return value
    raise SpecError(f"expected a promise such as pure_dp(epsilon=1): one of {', '.join(KINDS)}", text=text, position=0)


def parse(text: str) -> Composition:
    """The composition that a text form means; `SpecError` points at the place that cannot be read."""
    if not isinstance(text, str):
        raise SpecError(f"a text form must be a string, not {type(text).__name__}")
    reader = Reader(text)
    return _Builder(text).composition(reader.read())


def template(text: str) -> Callable[[Any], Composition]:
    """The family of compositions that a text form with one ``?`` means, as a function of the unknown."""
    if not isinstance(text, str):
        raise SpecError(f"a text form must be a string, not {type(text).__name__}")
    if text.count("?") != 1:
        raise SpecError(f"a plan has one unknown, written ?; this text has {text.count('?')}")
    before, after = text.split("?")

    def make(value: Any) -> Composition:
        written = str(value) if isinstance(value, (int, Fraction)) else repr(float(value))
        return parse(f"{before}{written}{after}")

    return make


def to_json(composition: Composition | Mechanism) -> dict[str, Any]:
    """The JSON form, ready for ``json.dumps``; `SpecError` where it would not mean this value."""
    whole = as_composition(composition)
    form = {"bursar": VERSION, "terms": whole.to_dict()}
    try:
        meant = from_json(form)
    except SpecError as problem:
        raise SpecError(_another(whole, problem.problem)) from None
    if not same(meant, whole):
        raise SpecError(_another(whole, difference(whole, meant)))
    return form


def read_back(composition: Composition) -> Composition:
    """What a composition's text means, which must be this very value, types included; `SpecError` where it is not."""
    try:
        meant = parse(composition.text())
    except SpecError as problem:
        raise SpecError(_another(composition, problem.problem)) from None
    if not same(meant, composition):
        raise SpecError(_another(composition, difference(composition, meant)))
    return meant


def _another(composition: Composition, why: str) -> str:
    """What to say of a value whose written form does not mean it."""
    text, own = composition.text()[:60], _own(composition)
    strangers = sorted({f"{kind.__module__}.{kind.__qualname__}" for kind in own if not _registered(kind)})
    if own and not strangers:
        return (
            f"{text} would not be read back as what it is: {why}. Let the constructor of {own[0].__name__} make one "
            "type of each field (bursar.numerics.real.read makes numbers), and keep nothing that is not a field's"
        )
    named = f"{', '.join(strangers)} is a class of your own: " if strangers else ""
    return (
        f"{named}{text} would not be read back as what it is ({why}). Charge or write what it promises, by "
        'declared(…), or register the class under a name of its own, by an entry point of the group "bursar.mechanisms"'
    )


def _own(composition: Composition) -> list[type[Written]]:
    kinds = dict.fromkeys(kinds_in(composition))
    return [kind for kind in kinds if issubclass(kind, Written) and is_foreign(kind)]


def _registered(kind: type[Written]) -> bool:
    try:
        return plugin(kind.name) is kind
    except SpecError:
        return False


def from_json(form: Any) -> Composition:
    """The composition that a JSON form means; takes the object or its text."""
    if isinstance(form, (str, bytes)):
        try:
            form = members.loads(form)
        except (ValueError, RecursionError) as problem:
            raise SpecError(f"not JSON: {problem}") from None
    if not isinstance(form, dict) or set(form) != {"bursar", "terms"}:
        raise SpecError('a JSON form is an object with "bursar" (the version) and "terms"')
    if form["bursar"] != VERSION or isinstance(form["bursar"], bool):
        raise SpecError(f"this version reads JSON forms of version {VERSION}, not {form['bursar']!r}")
    return terms_of(form["terms"], "terms", 0)


class _Builder:
    """Turns what the reader saw into values, and keeps the places for error messages."""

    def __init__(self, text: str) -> None:
        self.text = text

    def composition(self, terms: list[tuple[Any, int, int]]) -> Composition:
        pairs = []
        for call, count, place in terms:
            value = self.composition(call) if isinstance(call, list) else self.value(call)
            try:
                if not isinstance(value, (Mechanism, Composition)):
                    raise InputError(f"{call.name} is a promise, not a release: write declared({call.name}(…))")
                pairs.append(value * count)
            except InputError as problem:
                raise self.problem(problem, place) from None
        try:
            return Composition([term for part in pairs for term in part.terms])
        except InputError as problem:
            raise self.problem(problem, 0) from None

    def value(self, given: Any) -> Any:
        if isinstance(given, Call):
            return self.call(given)
        if isinstance(given, list) and given and isinstance(given[0], tuple):
            return self.composition(given)
        if isinstance(given, list):
            return [self.value(item) for item in given]
        return given.text if isinstance(given, Word) else given

    def call(self, call: Call) -> Any:
        cls = class_of(call.name)
        if cls is None:
            raise SpecError(unknown(call.name), text=self.text, position=call.place)
        allowed = fields_of(cls)
        for name, (_, place) in call.named.items():
            if name not in allowed:
                raise SpecError(
                    f"{call.name} has no {name!r}{nearest(name, allowed)}; it takes {', '.join(allowed)}",
                    text=self.text,
                    position=place,
                )
        inside = [self._single(self.value(item)) for item in call.unnamed]
        named = {name: self.value(item) for name, (item, _) in call.named.items()}
        try:
            return build(cls, inside, named)
        except SpecError:
            raise
        except TypeError as problem:
            raise SpecError(shape_of(call.name, cls, problem), text=self.text, position=call.place) from None
        except InputError as problem:
            place = call.named[problem.argument][1] if problem.argument in call.named else call.place
            raise self.problem(problem, place) from None

    @staticmethod
    def _single(value: Any) -> Any:
        """A composition of one release, run once, is that release."""
        if isinstance(value, Composition) and value.count == 1:
            return value.terms[0].mechanism
        return value

    def problem(self, problem: InputError, place: int) -> SpecError:
        return SpecError(str(problem), text=self.text, position=place)
