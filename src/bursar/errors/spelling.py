"""What somebody may have meant: the nearest name that there is, and calls that a function has no room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from bursar.errors._base import InputError, described

if TYPE_CHECKING:
    from inspect import Parameter

P = ParamSpec("P")
R = TypeVar("R")

OTHER_WORDS = {
    "noise_multiplier": ("sigma",),
    "noise_scale": ("sigma", "scale"),
    "std": ("sigma",),
    "stddev": ("sigma",),
    "standard_deviation": ("sigma",),
    "noise": ("sigma", "scale"),
    "b": ("scale",),
    "q": ("rate",),
    "p": ("rate",),
    "sample_rate": ("rate",),
    "sampling_rate": ("rate",),
    "sampling_probability": ("rate",),
    "probability": ("rate",),
    "eps": ("epsilon", "epsilons"),
    "target_epsilon": ("epsilon",),
    "target_eps": ("epsilon",),
    "target_delta": ("delta",),
    "n": ("records", "population"),
    "samples": ("records",),
    "dataset_size": ("records", "population"),
    "sample_size": ("sample", "records"),
    "lot_size": ("batch_size",),
    "max_batch_size": ("most",),
    "adjacency": ("relation",),
    "neighbors": ("relation",),
    "neighbours": ("relation",),
    "neighboring_relation": ("relation",),
    "mechanism": ("noise", "composition"),
    "randomised_response": ("randomized_response",),
    "rr": ("randomized_response",),
    "normal": ("gaussian",),
    "gauss": ("gaussian",),
    "geometric": ("discrete_laplace",),
    "subsampled": ("poisson",),
    "poisson_sampled": ("poisson",),
    "dp": ("pure_dp",),
    "rdp": ("renyi",),
    "cdp": ("zcdp",),
    "budget": ("ledger",),
    "calibrate": ("plan",),
    "compose": ("account",),
    "spend": ("ledger spend",),
    "log": ("history",),
    "journal": ("history",),
}
"""What other libraries and papers call what has another name here, with that name."""


def nearest(given: object, known: Iterable[str]) -> str:
    """`` (did you mean …?)`` with the known name that is nearest to what was given; nothing where none is near."""
    if not isinstance(given, str):
        return ""
    import difflib  # only mistakes need it

    names = list(known)
    lowered = given.lower().replace("-", "_")
    other = [name for name in OTHER_WORDS.get(lowered, ()) if name in names]
    near = other or difflib.get_close_matches(lowered, names, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


class WrongCall(InputError, TypeError):
    """A function was called with arguments that it does not take, or without some that it needs."""


def understood(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; called in a way it has no room for, it says what it takes and what may have been meant."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            return function(*given, **named)
        except TypeError as problem:
            inside = problem.__traceback__ is None or problem.__traceback__.tb_next is not None
            if inside or isinstance(problem, WrongCall):
                raise
            raise _wrong(function, given, named) from problem

    return call


def _wrong(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> WrongCall:
    """What is wrong with the arguments of a call."""
    from inspect import signature

    takes = {name: one for name, one in signature(function).parameters.items() if name != "self"}
    made = function.__name__ == "__init__"
    who = function.__qualname__.rpartition(".")[0] if made else function.__name__
    allowed = [name for name, one in takes.items() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    for name, value in named.items():
        if name not in allowed:
            left = [one for one in allowed if one not in named]
            return WrongCall(
                f"{who} has no argument {name}={described(value)}{nearest(name, left)}; it takes {', '.join(allowed)}",
                argument=name,
            )
    by_place = _by_place(takes)
    values = given[1:] if made else given
    missing = [
        name
        for place, name in enumerate(allowed)
        if takes[name].default is takes[name].empty and name not in named and place >= min(len(values), len(by_place))
    ]
    if missing and len(values) <= len(by_place):
        return WrongCall(f"{who} needs {' and '.join(missing)}; it takes {', '.join(allowed)}", argument=missing[0])
    some = "1 argument without its name" if len(by_place) == 1 else f"{len(by_place)} arguments without their names"
    return WrongCall(
        f"{who} takes {some} ({', '.join(by_place) or 'none'}), not {len(values)}: write the others by name; "
        f"it takes {', '.join(allowed)}",
        argument=allowed[0] if allowed else None,
    )


def _by_place(takes: dict[str, Parameter]) -> list[str]:
    """The arguments that may be given without their names."""
    return [name for name, one in takes.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
