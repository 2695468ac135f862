"""Values with a written form: ``gaussian(sigma=2)`` in text, ``{"name": "gaussian", "sigma": "2"}`` in JSON,
``Gaussian(sigma=2)`` in Python.

A class says its ``name`` and its dataclass fields; the three forms follow. Fields that hold other written values come
first and unnamed, fields at their default are left out. Reading the forms back is the job of `bursar.jobs.spec`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Protocol

from bursar.errors import InputError, understood
from bursar.numerics.real import Real
from bursar.presented import LONGEST, Named, cut, few


class Nested(Protocol):
    """A value that can stand inside another one's written form."""

    def text(self) -> str:
        """The text form."""
        ...

    def to_dict(self) -> Any:
        """The JSON form."""
        ...


class Written(Named):
    """A frozen value with a name and fields. Subclasses are frozen dataclasses that write their own ``__init__``."""

    name: ClassVar[str]

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "__init__" in vars(cls):
            cls.__init__ = understood(vars(cls)["__init__"])  # type: ignore[method-assign]

    def _set(self, **values: Any) -> None:
        """Fill the frozen fields, from ``__init__`` only."""
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def written_fields(self) -> list[tuple[str, Any]]:
        """The fields that the written form shows, in order, defaults left out."""
        shown: list[tuple[str, Any]] = []
        if not dataclasses.is_dataclass(self):
            raise InputError(
                f"{type(self).__qualname__} is no dataclass, so that nobody knows its parameters: put "
                "@dataclass(frozen=True) above it"
            )
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.default is dataclasses.MISSING or value != field.default:
                shown.append((field.name, value))
        return shown

    def text(self) -> str:
        """The text form, which `bursar.parse` reads back."""
        parts = []
        for field, value in self.written_fields():
            if is_nested(value):
                parts.append(value.text())
            elif isinstance(value, tuple) and value and all(is_nested(item) for item in value):
                parts.extend(item.text() for item in value)
            else:
                parts.append(f"{field}={_plain_text(value)}")
        return f"{self.name}({', '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: numbers are strings, so that nothing is lost."""
        return {"name": self.name, **{field: _plain_json(value) for field, value in self.written_fields()}}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={_python(value)}" for field, value in self.written_fields())
        return cut(f"{type(self).__name__}({inside})", LONGEST)


def is_nested(value: object) -> bool:
    """Whether the value stands unnamed inside a text form."""
    return not isinstance(value, (Real, type)) and hasattr(value, "text") and hasattr(value, "to_dict")


def _plain_text(value: Any) -> str:
    if isinstance(value, Real):
        return value.text()
    if isinstance(value, tuple):
        return "[" + ", ".join(_plain_text(item) for item in value) + "]"
    return str(value)


def _plain_json(value: Any) -> Any:
    if isinstance(value, Real):
        return value.text()
    if isinstance(value, tuple):
        return [_plain_json(item) for item in value]
    if is_nested(value):
        return value.to_dict()
    return value


def _python(value: Any) -> str:
    if isinstance(value, Real):
        text = value.text()
        if len(text) > 40:  # a derived number, rounded up: its digits help nobody
            return f"≈{float(value)!r}"
        return f'"{text}"' if "/" in text else text
    if isinstance(value, tuple):
        return "[" + ", ".join(few([_python(item) for item in value])) + "]"
    return repr(value)
