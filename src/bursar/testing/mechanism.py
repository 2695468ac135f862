"""Laws of mechanisms: each gives a sentence for everything that is wrong, and nothing where all is well."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction

from bursar.composition import Composition
from bursar.errors import ContradictionError, Refused
from bursar.guarantees import Guarantee
from bursar.jobs.account import account
from bursar.jobs.spec import from_json, parse, to_json
from bursar.ledger.ledger import Ledger
from bursar.mechanisms import CATALOGUE, RELATIONS, Mechanism
from bursar.mechanisms.plugins import plugin
from bursar.theorems import Bound

Problems = Iterator[str]
DELTAS = (0, "1e-9", "1e-6", "1e-3", "1/2")
EPSILONS = (0, "1/100", "1/2", 2, 30)
COUNTS = (0, 1, 2, 3, 10, 100, 5000)


def states_itself(one: Mechanism) -> Problems:
    """It names its relation and its sources, and claims something."""
    if one.relation not in RELATIONS:
        yield f"relation is {one.relation!r}, not one of {', '.join(RELATIONS)}"
    claims = one.stated()
    if not claims:
        yield "it claims nothing: every theorem will abstain"
    for claim in claims:
        if not isinstance(claim.guarantee, Guarantee) or not claim.citation:
            yield f"the claim {claim!r} needs a promise and a source"


def comes_back(one: Mechanism) -> Problems:
    """Pickles and copies are the same value; so are text and JSON forms where the class has a name of its own."""
    three = one * 3
    again = {"a copy": copy.deepcopy(three)}
    try:
        again["a pickle"] = pickle.loads(pickle.dumps(three))
    except (pickle.PicklingError, AttributeError) as problem:  # the latter of a class inside a function
        yield f"it cannot be pickled: {problem}"
    if readable(one):
        again |= {"its text": parse(str(three)), "its JSON": from_json(json.dumps(to_json(three)))}
    for form, other in again.items():
        if other != three or hash(other) != hash(three) or str(other) != str(three):
            yield f"{form} comes back as {other}"


def readable(one: Mechanism) -> bool:
    """Whether its text means it: it is the catalogue's, or registered by entry point."""
    return (CATALOGUE.get(one.name) or plugin(one.name)) is type(one)


def counts_are_kept(one: Mechanism) -> Problems:
    """Repeating is adding, and each theorem that bills one release bills fifty with more."""
    if sum((one for _ in range(4)), Composition()) != one * 4:
        yield f"adding it four times is not {one * 4}"
    alone = {row.id: row.bound.upper for row in account(one, delta="1e-6").rows if row.bound is not None}
    for row in account(one * 50, delta="1e-6").rows:
        if row.bound is not None and 0 < alone.get(row.id, 0) < math.inf and row.bound.upper <= alone[row.id]:
            yield f"{row.id} bills fifty with {row.bound.upper!r}, and one with {alone[row.id]!r}"


def theorems_agree(one: Mechanism) -> Problems:
    """No two theorems exclude each other, whatever is asked."""
    for count in (1, 10):
        for question in [*({"delta": delta} for delta in DELTAS), *({"epsilon": epsilon} for epsilon in EPSILONS)]:
            try:
                account(one * count, **question)  # type: ignore[arg-type]
            except ContradictionError as problem:
                yield f"{count} of it at {question}: {problem}"


def costs_are_ordered(one: Mechanism) -> Problems:
    """A larger δ costs no more, more releases cost no less, and a larger ε needs no more δ."""
    by_delta = [account(one * 3, delta=delta).bound for delta in DELTAS]
    by_epsilon = [account(one * 3, epsilon=epsilon).bound for epsilon in EPSILONS]
    by_count = [account(one * count, delta="1e-6").bound for count in reversed(COUNTS)]
    for what, bounds in (("δ", by_delta), ("ε", by_epsilon), ("the count, from below,", by_count)):
        for dear, cheap in itertools.combinations(bounds, 2):
            if cheap.lower > dear.upper:
                yield f"along {what} it costs {_shown(dear)}, and then {_shown(cheap)}"


def questions_are_inverse(one: Mechanism) -> Problems:
    """The ε found at a δ proves that δ again."""
    for count, delta in itertools.product((1, 3), (Fraction(1, 10**6), Fraction(1, 50))):
        epsilon = account(one * count, delta=delta).bound.upper
        if epsilon < math.inf:
            above = Fraction(math.nextafter(epsilon, math.inf))
            back = account(one * count, epsilon=above).bound
            if back.lower > delta:
                yield f"{count} of it are ({epsilon}, {delta})-DP, but need δ ≥ {back.lower} there"


def a_ledger_charges_it(one: Mechanism) -> Problems:
    """Scopes admit or refuse it, and what they charged can be priced anew; a class without a name is left out."""
    if not readable(one):
        return
    with Ledger("memory://", alert=None) as ledger:
        for scope, delta in (("pure", None), ("close", "1/100")):
            ledger.open(scope, epsilon=20, delta=delta, relation=one.relation)
            with suppress(Refused):  # too much for it, or without a price in it: that is an answer
                ledger.spend(scope, one)
        if not ledger.verify(reprice=True):
            yield "its charges cannot be priced anew"


def _shown(bound: Bound) -> str:
    return f"[{bound.lower!r}, {bound.upper!r}]"


LAWS: dict[str, Callable[[Mechanism], Problems]] = {
    law.__name__: law
    for law in (
        states_itself,
        comes_back,
        counts_are_kept,
        theorems_agree,
        costs_are_ordered,
        questions_are_inverse,
        a_ledger_charges_it,
    )
}
