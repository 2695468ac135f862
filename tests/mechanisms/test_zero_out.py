"""The relation zero_out: a record becomes a null record, which keeps its place and contributes nothing."""

from __future__ import annotations

import itertools
import math

import pytest

import bursar as b
from bursar.errors import InputError, LossUnknown, RelationMismatch
from bursar.ledger.inspection import registry
from bursar.mechanisms.poisson import left_out

NOISE = (
    b.Gaussian(2, relation="zero_out"),
    b.Laplace(3, relation="zero_out"),
    b.DiscreteGaussian(2, relation="zero_out"),
    b.DiscreteLaplace(3, sensitivity=2, relation="zero_out"),
)


def _as_added(text: str) -> str:
    return text.replace(", relation=zero_out", "")


@pytest.mark.parametrize("mechanism", NOISE, ids=lambda one: one.name)
@pytest.mark.parametrize("rate", [1, "0.1"])
def test_noise_on_sums_costs_what_adding_and_removing_cost(mechanism: b.Mechanism, rate: str) -> None:
    """A null record that is drawn adds zero, as one that is absent does: sampled or not, the pairs are the same."""
    whole = b.PoissonSampled(mechanism, rate=rate) * 7
    other = b.parse(_as_added(whole.text()))
    assert (whole.relation, other.relation) == ("zero_out", "add_remove")
    assert b.account(whole, delta=1e-6).epsilon == b.account(other, delta=1e-6).epsilon


def test_a_sampled_sum_with_a_null_record_is_dominated() -> None:
    """By enumeration of all samples of three records and a fourth that is 1 or null, for two steps of which the second
    asks what the first made likely: no δ is above the certified one.
    """
    rate, scale, weight = 0.3, 1.5, math.exp(-1 / 1.5)
    others, reach = (1, 0, 1), range(-60, 64)

    def outputs(last: int) -> list[float]:
        law = dict.fromkeys(reach, 0.0)
        for drawn in itertools.product((0, 1), repeat=4):
            chance = math.prod(rate if one else 1 - rate for one in drawn)
            middle = sum(value for value, one in zip((*others, last), drawn, strict=True) if one)
            for y in reach:
                law[y] += chance * (1 - weight) / (1 + weight) * weight ** abs(y - middle)
        return list(law.values())

    present, zeroed = outputs(1), outputs(0)
    two_steps = b.PoissonSampled(b.DiscreteLaplace(scale, relation="zero_out"), rate=rate) * 2
    for first, second in ((present, zeroed), (zeroed, present)):
        for epsilon in (0.05, 0.2, 0.4):
            delta = sum(
                max(p * r - math.exp(epsilon) * q * s, 0.0)
                for p, q in zip(first, second, strict=True)
                for r, s in zip(first, second, strict=True)
            )
            assert delta <= b.account(two_steps, epsilon=epsilon).delta.upper * (1 + 1e-12)


def test_a_sample_of_anything_else_promises_only_what_mixing_keeps() -> None:
    """A release that also tells whether anybody was drawn is not amplified, since a null record is somebody."""
    table = b.Table(["0.9", "0.1"], ["0.1", "0.9"], relation="zero_out")
    sampled = b.PoissonSampled(table, rate="0.5")
    assert not left_out(table)
    with pytest.raises(LossUnknown, match="under zero_out the sampled pair is known for noise on sums only"):
        sampled.losses()
    assert b.account(sampled, delta=0).epsilon.upper >= math.log(9) - 1e-12

    class Mine(b.Gaussian):
        """What a null record does to it is not known."""

    assert not left_out(Mine(2, relation="zero_out"))
    assert left_out(b.PoissonSampled(NOISE[0], rate="0.5"))
    # nobody is drawn half the time, and then it says so: what is left tells the two apart as if nothing were sampled
    present, zeroed = [0.5 * 0.9, 0.5 * 0.1, 0.5], [0.5 * 0.1, 0.5 * 0.9, 0.5]
    exact = math.log(max(p / q for p, q in zip(present, zeroed, strict=True)))
    assert math.log1p(0.5 * math.expm1(math.log(9))) < exact <= b.account(sampled, delta=0).epsilon.upper + 1e-12


def test_relations_are_never_mixed() -> None:
    """Not in a sum, not in a charge, whichever two they are."""
    kinds = [b.Gaussian(2, relation=relation) for relation in ("add_remove", "replace_one", "zero_out")]
    for one, other in itertools.permutations(kinds, 2):
        with pytest.raises(RelationMismatch):
            one + other
        ledger = b.Ledger("memory://", alert=None)
        ledger.open("data", epsilon=9, delta="1e-6", relation=one.relation)
        ledger.spend("data", one, key="same")
        with pytest.raises(b.Refused, match=f"measured under {other.relation}"):
            ledger.spend("data", other, key="other")


def test_blocks_of_nulled_records_do_not_protect_apart() -> None:
    """A null record may belong to another block: a block scope is refused, and a disjoint release counts twice."""
    ledger = b.Ledger("memory://", alert=None)
    ledger.open("data", epsilon=1, relation="zero_out")
    with pytest.raises(InputError, match="under zero_out a record may leave one block"):
        ledger.open("data/one", parent="data", kind="block")
    apart = b.Disjoint(b.Laplace(2), b.Laplace(4), relation="zero_out")
    assert b.account(apart, delta=0).epsilon.upper == 1.0
    with pytest.raises(LossUnknown):
        b.Disjoint(b.Laplace(2), b.Laplace(2), relation="zero_out").losses()


def test_the_relation_is_written_and_read_again() -> None:
    """As text, as JSON, and in the sentence of the registry's draft."""
    whole = b.PoissonSampled(b.Gaussian(2, relation="zero_out"), rate="0.01") * 9
    assert whole.text() == "poisson(gaussian(sigma=2, relation=zero_out), rate=1/100)*9"
    assert b.parse(whole.text()) == whole == b.from_json(b.to_json(whole))
    assert set(registry._CHANGES) == {"add_remove", "replace_one", "zero_out"}
    with pytest.raises(InputError, match="relation"):
        b.Gaussian(2, relation="zero")
