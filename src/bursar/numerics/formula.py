"""Formulas in one variable, from an allow-list, evaluated in balls: ``exp(-abs(x))/2``.

Numbers, ``x``, ``pi``, + − * / ** (or ^), parentheses and the functions below. Nothing else is read, so a formula
from a file is as harmless as a number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from flint import acb, arb, ctx

from bursar.errors import InputError, described
from bursar.numerics.balls import Ball, ComplexBall, ball
from bursar.numerics.real import Real, read_text

InBalls = Callable[[ComplexBall, bool], ComplexBall]
"""The value at a complex ball; told that it must be analytic there, not finite where it is not."""
FUNCTIONS: dict[str, InBalls] = {
    "exp": lambda z, analytic: z.exp(),
    "log": lambda z, analytic: z.log(analytic=analytic),
    "sqrt": lambda z, analytic: z.sqrt(analytic=analytic),
    "abs": lambda z, analytic: z.real_abs(analytic=analytic),
    "sinh": lambda z, analytic: z.sinh(),
    "cosh": lambda z, analytic: z.cosh(),
    "tanh": lambda z, analytic: z.tanh(),
    "sin": lambda z, analytic: z.sin(),
    "cos": lambda z, analytic: z.cos(),
    "erf": lambda z, analytic: z.erf(),
    "erfc": lambda z, analytic: z.erfc(),
}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_MOST = 400


@dataclass(frozen=True, eq=False)
class Term:
    """A formula as a tree: ``x``, ``pi``, a ``number``, ``negative``, an operator, a function's name, or ``log_sum``:
    ln(e^a + e^b), which no formula writes but which their logarithms need.
    """

    kind: str
    parts: tuple[Term, ...] = ()
    number: Real | None = None

    @cached_property
    def in_balls(self) -> InBalls:
        """The function that the tree is."""
        if self.kind in _TWO:
            (first, second), both = (part.in_balls for part in self.parts), _TWO[self.kind]
            return lambda x, analytic: both(first(x, analytic), second(x, analytic), analytic)
        if self.kind == "x":
            return lambda x, analytic: x
        if self.kind in ("pi", "number"):
            return _constant(self.number)
        inner = self.parts[0].in_balls
        if self.kind == "negative":
            return lambda x, analytic: -inner(x, analytic)
        outer = FUNCTIONS[self.kind]
        return lambda x, analytic: outer(inner(x, analytic), analytic)


def _constant(number: Real | None) -> InBalls:
    """A number, or π where there is none: rounded once for each precision."""
    kept: dict[int, ComplexBall] = {}

    def value(x: ComplexBall, analytic: bool) -> ComplexBall:
        found = kept.get(ctx.prec)
        if found is None:
            found = kept[ctx.prec] = acb(arb.pi() if number is None else ball(number))
        return found

    return value


def _power(left: ComplexBall, right: ComplexBall, analytic: bool) -> ComplexBall:
    whole = right.unique_fmpz() if right.imag.is_zero() else None
    if whole is not None and 0 <= int(whole) <= 64:
        return left ** int(whole)
    return left.pow(right, analytic=analytic)


def _log_sum(left: ComplexBall, right: ComplexBall, analytic: bool) -> ComplexBall:
    """a + ln(1 + e^{b−a}), from the larger one."""
    if float(right.real.mid()) > float(left.real.mid()):
        left, right = right, left
    return left + (1 + (right - left).exp()).log(analytic=analytic)


_TWO: dict[str, Callable[[ComplexBall, ComplexBall, bool], ComplexBall]] = {
    "+": lambda left, right, analytic: left + right,
    "-": lambda left, right, analytic: left - right,
    "*": lambda left, right, analytic: left * right,
    "/": lambda left, right, analytic: left / right,
    "**": _power,
    "log_sum": _log_sum,
}


@dataclass(frozen=True)
class Formula:
    """A formula in x, kept as written."""

    source: str

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.source.strip():
            raise InputError(
                f"a formula must be text such as 'exp(-abs(x))/2', not {described(self.source)}", argument="formula"
            )
        if len(self.source) > _MOST:
            raise InputError(
                f"a formula may have at most {_MOST} characters, not {len(self.source)}", argument="formula"
            )
        self(acb(0, 0), False)

    def __call__(self, x: ComplexBall, analytic: bool) -> ComplexBall:
        """The value at a complex ball; not finite where the formula is not analytic and had to be."""
        return self.term.in_balls(x, analytic)

    @property
    def term(self) -> Term:
        """The formula as a tree."""
        return _read(self.source)

    def at(self, x: Ball) -> Ball:
        """The value at a real ball; undetermined where the formula is not real there."""
        value = self(acb(x), False)
        return arb(value.real) if value.imag.contains(0) else arb("nan")

    def text(self) -> str:
        """The formula in quotes."""
        return f'"{self.source}"'

    def to_dict(self) -> str:
        """The formula as it is."""
        return self.source


@lru_cache(maxsize=256)
def _read(source: str) -> Term:
    text = source.strip().replace("^", "**")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"the formula {described(source)} cannot be read", argument="formula") from None
    return _term(tree, text, source)


def _term(node: ast.expr, text: str, source: str) -> Term:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        written = ast.get_source_segment(text, node) or ""
        return Term("number", number=read_text(written, "a number in the formula"))
    if isinstance(node, ast.Name) and node.id in ("x", "pi"):
        return Term(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _term(node.operand, text, source)
        return Term("negative", (inner,)) if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        sides = _term(node.left, text, source), _term(node.right, text, source)
        if type(node.op) not in _OPERATORS:
            raise InputError(
                f"the formula {described(source)} uses an operator that is not allowed", argument="formula"
            )
        return Term(_OPERATORS[type(node.op)], sides)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FUNCTIONS
        and len(node.args) == 1
    ) and not node.keywords:
        return Term(node.func.id, (_term(node.args[0], text, source),))
    allowed = ", ".join(FUNCTIONS)
    raise InputError(
        f"the formula {described(source)} may use only x, pi, numbers, + - * / ** and {allowed}", argument="formula"
    )
