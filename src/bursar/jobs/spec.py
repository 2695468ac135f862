"""The written forms of a composition, read back: text for people, JSON for machines.

    gaussian(sigma=20)*1000 + laplace(scale=100)*5
    {"bursar": 1, "terms": [{"mechanism": {"name": "gaussian", "sigma": "20"}, "count": 1000}, …]}

Only names of the catalogue and of installed plug-ins (`bursar.mechanisms.plugins`) are read, and nothing is executed.
``str(c)`` and `to_json` write what `parse` and `from_json` read, without loss; a form written by this version keeps its
meaning in later ones (the JSON form carries the version, the text form only ever grows). A class of one's own has a
text for people, but no form that means it: `read_back` and `to_json` refuse it, also where it has a catalogue's name.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bursar import members
from bursar.composition import Composition, as_composition
from bursar.errors import InputError, SpecError
from bursar.guarantees import KINDS
from bursar.identity import difference, is_foreign, kinds_in, same
from bursar.jobs.spec_text import Call, Reader, Word
from bursar.mechanisms import CATALOGUE, Mechanism
from bursar.mechanisms._foreign import named as naming
from bursar.mechanisms.densities import Densities
from bursar.mechanisms.plugins import plugin, plugins
from bursar.numerics.real import Real, read_text
from bursar.written import Written

VERSION = 1
_DEEPEST = 20
_NUMBER = re.compile(r"[+-]?[\d.]")


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
    return _terms(form["terms"], "terms", 0)


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
        cls = _class(call.name)
        if cls is None:
            raise SpecError(_unknown(call.name), text=self.text, position=call.place)
        allowed = _fields(cls)
        for name, (_, place) in call.named.items():
            if name not in allowed:
                raise SpecError(
                    f"{call.name} has no {name!r}; it takes {', '.join(allowed)}", text=self.text, position=place
                )
        inside = [self._single(self.value(item)) for item in call.unnamed]
        named = {name: self.value(item) for name, (item, _) in call.named.items()}
        try:
            return _build(cls, inside, named)
        except SpecError:
            raise
        except InputError as problem:
            place = call.named[problem.argument][1] if problem.argument in call.named else call.place
            raise self.problem(problem, place) from None
        except TypeError as problem:
            raise SpecError(_shape_of(call.name, cls, problem), text=self.text, position=call.place) from None

    @staticmethod
    def _single(value: Any) -> Any:
        """A composition of one release, run once, is that release."""
        if isinstance(value, Composition) and value.count == 1:
            return value.terms[0].mechanism
        return value

    def problem(self, problem: InputError, place: int) -> SpecError:
        return SpecError(str(problem), text=self.text, position=place)


def _class(name: str) -> type[Written] | None:
    return CATALOGUE.get(name) or KINDS.get(name) or plugin(name)


def _unknown(name: str) -> str:
    """What to say of a name that is not in the catalogue: the nearest one, and all of them."""
    known = [*CATALOGUE, *KINDS, *plugins()]
    near = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"unknown name {name!r}{hint}; there are {', '.join(known)}"


def _fields(cls: type[Written]) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]


def _build(cls: type[Written], unnamed: list[Any], named: dict[str, Any]) -> Any:
    """Call the constructor; the blocks of a parallel composition may come as one list, too."""
    if "blocks" in named:
        unnamed = [*unnamed, *named.pop("blocks")]
    if cls is not Densities and any(isinstance(item, (Real, str)) for item in unnamed):
        raise InputError(f"{cls.name} takes these by name: {', '.join(_fields(cls))}")
    if not is_foreign(cls):
        return cls(*unnamed, **named)
    with naming(
        f"{cls.name} ({cls.__module__}.{cls.__qualname__}) cannot be made so; it takes {', '.join(_fields(cls))}"
    ):
        return cls(*unnamed, **named)


def _terms(form: Any, place: str, depth: int) -> Composition:
    if not isinstance(form, list):
        raise SpecError(f"{place} must be a list of terms")
    pairs = []
    for i, term in enumerate(form):
        where = f"{place}[{i}]"
        if not isinstance(term, dict) or set(term) != {"mechanism", "count"}:
            raise SpecError(f'{where} must be an object with "mechanism" and "count"')
        mechanism = _object(term["mechanism"], f"{where}.mechanism", depth + 1)
        pairs.append((mechanism, term["count"]))
    try:
        return Composition(pairs)
    except InputError as problem:
        raise SpecError(f"{place}: {problem}") from None


def _object(form: Any, place: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise SpecError(f"{place} is nested more than {_DEEPEST} deep")
    if not isinstance(form, dict) or not isinstance(form.get("name"), str):
        raise SpecError(f'{place} must be an object with a "name"')
    cls = _class(form["name"])
    if cls is None:
        raise SpecError(f"{place}: {_unknown(form['name'])}")
    allowed = _fields(cls)
    named = {}
    for field, value in form.items():
        if field == "name":
            continue
        if field not in allowed:
            raise SpecError(f"{place}: {form['name']} has no {field!r}; it takes {', '.join(allowed)}")
        named[field] = _plain(value, f"{place}.{field}", depth, verbatim=cls is Densities and field in ("p", "q"))
    try:
        return _build(cls, [], named)
    except SpecError:
        raise
    except InputError as problem:
        raise SpecError(f"{place}: {problem}") from None
    except TypeError as problem:
        raise SpecError(f"{place}: {_shape_of(cls.name, cls, problem)}") from None


def _shape_of(name: str, cls: type[Written], problem: TypeError) -> str:
    """What the constructor takes, when it was called in the wrong shape."""
    missing = re.findall(r"'(\w+)'", str(problem)) if "missing" in str(problem) else []
    lacks = f"{name} needs {' and '.join(missing)}" if missing else f"{name} was given the wrong arguments"
    return f"{lacks}; it takes {', '.join(_fields(cls))}"


def _plain(value: Any, place: str, depth: int, *, verbatim: bool) -> Any:
    if isinstance(value, dict):
        return _object(value, place, depth + 1)
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and "mechanism" in item for item in value):
            return _terms(value, place, depth + 1)
        return [_plain(item, f"{place}[{i}]", depth, verbatim=verbatim) for i, item in enumerate(value)]
    if isinstance(value, str) and not verbatim and _NUMBER.match(value):
        try:
            return read_text(value, place)
        except InputError as problem:
            raise SpecError(str(problem)) from None
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    raise SpecError(f"{place} cannot be {value!r}")
