"""Reads the text form into calls with their places; what they mean is `bursar.jobs.spec`'s business.

White space between the parts means nothing, a count is a whole number (also 1e3), and digits may be grouped (10_000):

    composition = "nothing" | term { "+" term }
    term        = [ count "*" ] factor { "*" count }
    factor      = name "(" [ argument { "," argument } ] ")" | "(" composition ")"
    argument    = [ name "=" ] ( number | word | 'text in quotes' | "[" value, … "]" | composition )
    number      = 20 | 0.1 | 1e-6 | 1/3
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from bursar.errors import InputError, SpecError
from bursar.numerics.real import Real, read_text

_LONGEST = 100_000
_DEEPEST = 20
_MANY = 10**30
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>-?(?:DIGITS/DIGITS|(?:DIGITS\.?(?:DIGITS)?|\.DIGITS)(?:[eE][+-]?\d+)?))
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<quoted>"[^"]*"|'[^']*')
      | (?P<mark>[()\[\],=+*])
    )""".replace("DIGITS", r"\d+(?:_\d+)*"),
    re.VERBOSE,
)


@dataclass(frozen=True)
class Word:
    """A bare word, such as replace_one."""

    text: str


@dataclass(frozen=True)
class Call:
    """A name with its arguments: each unnamed value, and each named one with its place."""

    name: str
    place: int
    unnamed: list[Any] = field(default_factory=list)
    named: dict[str, tuple[Any, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    place: int


class Reader:
    """A reader with one token of look-ahead."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise SpecError(f"a text form may have at most {_LONGEST} characters, not {len(text)}")
        self.text, self.depth, self.next = text, 0, 0
        self.tokens: list[_Token] = []
        self._split()

    def _split(self) -> None:
        place = 0
        end = len(self.text.rstrip())
        while place < end:
            match = _TOKEN.match(self.text, place)
            if match is None or match.lastgroup is None:
                at = place + len(self.text[place:]) - len(self.text[place:].lstrip())
                raise self.problem(f"cannot read {self.text[at]!r}", at)
            self.tokens.append(_Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            place = match.end()

    def problem(self, what: str, place: int | None = None) -> SpecError:
        """An error that points at a place, by default at the next token."""
        here = self.tokens[self.next].place if self.next < len(self.tokens) else len(self.text)
        return SpecError(what, text=self.text, position=here if place is None else place)

    def peek(self, ahead: int = 0) -> _Token | None:
        """The next token, or a later one."""
        place = self.next + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def take(self, mark: str, what: str) -> None:
        """The next token, which must be this mark."""
        token = self.peek()
        if token is None or token.text != mark or token.kind != "mark":
            raise self.problem(f"expected {what}")
        self.next += 1

    def is_mark(self, mark: str, ahead: int = 0) -> bool:
        """Whether a mark comes next."""
        token = self.peek(ahead)
        return token is not None and token.kind == "mark" and token.text == mark

    def read(self) -> list[tuple[Any, int, int]]:
        """The whole text as one composition: (call or composition, count, place) for each term."""
        if not self.tokens:
            raise self.problem("nothing to read: write a composition such as gaussian(sigma=2)*10")
        terms = self.composition()
        if self.peek() is not None:
            raise self.problem("expected '+', '*' or the end")
        return terms

    def composition(self) -> list[tuple[Any, int, int]]:
        """The terms of a sum: what is joined with +."""
        token = self.peek()
        if token is not None and token.text == "nothing" and not self.is_mark("(", 1):
            self.next += 1
            return []
        terms = [self.term()]
        while self.is_mark("+"):
            self.next += 1
            terms.append(self.term())
        return terms

    def term(self) -> tuple[Any, int, int]:
        """A factor with its counts."""
        token = self.peek()
        place = token.place if token is not None else len(self.text)
        count = 1
        if token is not None and token.kind == "number":
            count = self.count()
            self.take("*", "'*' after the count")
        inside = self.factor()
        while self.is_mark("*"):
            self.next += 1
            count *= self.count()
        return inside, count, place

    def factor(self) -> Any:
        """A call, or a composition in parentheses."""
        token = self.peek()
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.problem(f"nested more than {_DEEPEST} deep")
        if self.is_mark("("):
            self.next += 1
            inside: Any = self.composition()
            self.take(")", "')'")
        elif token is not None and token.kind == "name":
            inside = self.call()
        else:
            raise self.problem("expected a mechanism such as gaussian(sigma=2)")
        self.depth -= 1
        return inside

    def count(self) -> int:
        """A whole number after or before '*'."""
        token = self.peek()
        number = None if token is None or token.kind != "number" or "/" in token.text else self.number(token)
        if number is None or number.denominator != 1 or not 0 <= number < _MANY:
            raise self.problem("expected a count: a whole number such as 100, 1e3 or 10_000")
        self.next += 1
        return int(number)

    def number(self, token: _Token) -> Real:
        """What a number says."""
        try:
            return read_text(token.text, "the number")
        except InputError as problem:
            raise self.problem(str(problem), token.place) from None

    def call(self) -> Call:
        """A call: name(arguments)."""
        token = self.peek()
        assert token is not None
        self.next += 1
        self.take("(", f"'(' after {token.text}")
        call = Call(token.text, token.place)
        while not self.is_mark(")"):
            self.argument(call)
            if not self.is_mark(")"):
                self.take(",", "',' or ')'")
        self.next += 1
        return call

    def argument(self, call: Call) -> None:
        """One argument, named or not."""
        token = self.peek()
        if token is not None and token.kind == "name" and self.is_mark("=", 1):
            if token.text in call.named:
                raise self.problem(f"{token.text} is given twice")
            self.next += 2
            call.named[token.text] = (self.value(), token.place)
        else:
            call.unnamed.append(self.value())

    def value(self) -> Any:
        """A number, a word, quoted text, a list, or a composition."""
        token = self.peek()
        if token is None:
            raise self.problem("expected a value")
        if token.kind == "number" and not self.is_mark("*", 1):
            self.next += 1
            return self.number(token)
        if token.kind == "quoted":
            self.next += 1
            return token.text[1:-1]
        if self.is_mark("["):
            return self.items()
        if token.kind == "name" and not self.is_mark("(", 1):
            self.next += 1
            return [] if token.text == "nothing" else Word(token.text)
        terms = self.composition()
        return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 else terms

    def items(self) -> list[Any]:
        """A list of values in brackets: [value, …]."""
        self.next += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.problem(f"nested more than {_DEEPEST} deep")
        values = []
        while not self.is_mark("]"):
            values.append(self.value())
            if not self.is_mark("]"):
                self.take(",", "',' or ']'")
        self.next += 1
        self.depth -= 1
        return values
