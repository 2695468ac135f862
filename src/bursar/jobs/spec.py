"""The written forms of a composition, read back: text for people, JSON for machines.

    gaussian(sigma=20)*1000 + laplace(scale=100)*5
    {"bursar": 1, "terms": [{"mechanism": {"name": "gaussian", "sigma": "20"}, "count": 1000}, …]}

Only names of the catalogue and of installed plug-ins (`bursar.mechanisms.plugins`) are read, and nothing is executed.
``str(c)`` and `to_json` write what `parse` and `from_json` read, without loss; a form written by this version keeps its
meaning in later ones (the JSON form carries the version, the text form only ever grows). A class of one's own has a
text for people, but no form that means it: `read_back` and `to_json` refuse it, also where it has a catalogue's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from bursar import members
from bursar.composition import Composition, as_composition
from bursar.errors import InputError, SpecError
from bursar.jobs.spec_json import terms_of
from bursar.jobs.spec_names import build, class_of, fields_of, shape_of, unknown
from bursar.jobs.spec_text import Call, Reader, Word
from bursar.mechanisms import Mechanism
from bursar.written import Written, same, types_of

VERSION = 1


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
        meant: Composition | None = from_json(form)
    except SpecError:
        meant = None
    if not same(meant, whole):
        raise SpecError(_another(whole))
    return form


def read_back(composition: Composition) -> Composition:
    """What a composition's text means, which must be this very value, types included; `SpecError` where it is not."""
    try:
        meant = parse(composition.text())
    except SpecError as problem:
        raise SpecError(f"{_another(composition)} ({problem.problem})") from None
    if not same(meant, composition):
        raise SpecError(_another(composition))
    return meant


def _another(composition: Composition) -> str:
    """What to say of a value whose written form does not mean it."""
    mine = sorted({f"{kind.__module__}.{kind.__qualname__}" for kind in _own(types_of(composition))})
    named = f"{', '.join(mine)} is a class of your own: " if mine else ""
    return (
        f"{named}{composition.text()[:60]} would not be read back as what it is. Charge or write what it promises, by "
        'declared(…), or register the class under a name of its own, by an entry point of the group "bursar.mechanisms"'
    )


def _own(kinds: Iterable[type]) -> list[type]:
    return [kind for kind in kinds if issubclass(kind, Written) and not kind.__module__.startswith("bursar.")]


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
                    f"{call.name} has no {name!r}; it takes {', '.join(allowed)}", text=self.text, position=place
                )
        inside = [self._single(self.value(item)) for item in call.unnamed]
        named = {name: self.value(item) for name, (item, _) in call.named.items()}
        try:
            return build(cls, inside, named)
        except SpecError:
            raise
        except InputError as problem:
            place = call.named[problem.argument][1] if problem.argument in call.named else call.place
            raise self.problem(problem, place) from None
        except TypeError as problem:
            raise SpecError(shape_of(call.name, cls, problem), text=self.text, position=call.place) from None

    @staticmethod
    def _single(value: Any) -> Any:
        """A composition of one release, run once, is that release."""
        if isinstance(value, Composition) and value.count == 1:
            return value.terms[0].mechanism
        return value

    def problem(self, problem: InputError, place: int) -> SpecError:
        return SpecError(str(problem), text=self.text, position=place)
