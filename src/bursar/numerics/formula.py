"""Formulas in one variable, from an allow-list, evaluated in balls: ``exp(-abs(x))/2``.

Numbers, ``x``, ``pi``, + − * / ** (or ^), parentheses and the functions below. Nothing else is read, so a formula
from a file is as harmless as a number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flint import acb, arb

from bursar.errors import InputError, described
from bursar.numerics.balls import Ball, ComplexBall, ball
from bursar.numerics.real import read_text

_FUNCTIONS: dict[str, Callable[[ComplexBall, bool], ComplexBall]] = {
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
_MOST = 400


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
        return _value(_tree(self.source), x, analytic, self.source)

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
def _tree(source: str) -> ast.expr:
    try:
        return ast.parse(source.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"the formula {described(source)} cannot be read", argument="formula") from None


def _value(node: ast.expr, x: ComplexBall, analytic: bool, source: str) -> ComplexBall:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        written = ast.get_source_segment(source.strip().replace("^", "**"), node) or ""
        return acb(ball(read_text(written, "a number in the formula")))
    if isinstance(node, ast.Name) and node.id in ("x", "pi"):
        return x if node.id == "x" else acb(arb.pi())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _value(node.operand, x, analytic, source)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, x, analytic, source), _value(node.right, x, analytic, source)
        return _operate(node.op, left, right, analytic, source)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and len(node.args) == 1
    ) and not node.keywords:
        return _FUNCTIONS[node.func.id](_value(node.args[0], x, analytic, source), analytic)
    allowed = ", ".join(_FUNCTIONS)
    raise InputError(
        f"the formula {described(source)} may use only x, pi, numbers, + - * / ** and {allowed}", argument="formula"
    )


def _operate(operator: Any, left: ComplexBall, right: ComplexBall, analytic: bool, source: str) -> ComplexBall:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.Div):
        return left / right
    if isinstance(operator, ast.Pow):
        whole = right.unique_fmpz() if right.imag.is_zero() else None
        if whole is not None and 0 <= int(whole) <= 64:
            return left ** int(whole)
        return left.pow(right, analytic=analytic)
    raise InputError(f"the formula {described(source)} uses an operator that is not allowed", argument="formula")
