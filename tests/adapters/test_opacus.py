"""Opacus: a real training run whose ε is account's, its noise search, and its budget in a ledger."""

from __future__ import annotations

import json
from typing import Any

import pytest

torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")

from opacus.accountants import create_accountant  # noqa: E402
from opacus.accountants.utils import get_noise_multiplier  # noqa: E402

import bursar as b  # noqa: E402
from bursar.adapters.opacus import BursarAccountant, Training, sampling_of, steps  # noqa: E402

pytestmark = [pytest.mark.ci, pytest.mark.filterwarnings("ignore")]


def test_the_build_of_torch_is_for_this_machine() -> None:
    """No CUDA build came along."""
    assert torch.version.cuda is None
    assert not torch.cuda.is_available()


def trained(ledger: b.Ledger, epochs: int = 3) -> Any:
    """A small linear model on a synthetic set, trained privately within a budget; the engine."""
    torch.manual_seed(0)
    data = torch.randn(256, 8)
    labels = (data @ torch.randn(8) > 0).long()
    model = torch.nn.Linear(8, 2)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data, labels), batch_size=32)
    engine = opacus.PrivacyEngine(accountant="bursar")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=loader,
        noise_multiplier=1.1,
        max_grad_norm=1.0,
    )
    each = len(loader)
    with Training(ledger, "model", noise_multiplier=1.1, sample_rate=1 / each, steps=epochs * each, key="run") as run:
        for _ in range(epochs):
            run.epoch(each)
            for batch, target in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(batch), target).backward()
                optimizer.step()
    return engine


def test_a_training_run_costs_what_account_says() -> None:
    """PrivacyEngine(accountant="bursar") reports the certified upper end for the steps that ran, all paid for."""
    with b.Ledger("memory://") as ledger:
        ledger.open("model", epsilon=8, delta="1e-5")
        engine = trained(ledger)
        kinds = [chained.entry.kind for chained in ledger.entries("model")]
        assert kinds == ["open", "reserve", "draw", "draw", "draw", "close"]
        assert ledger.verify(reprice=True)
    accountant = engine.accountant
    assert isinstance(accountant, BursarAccountant)
    assert len(accountant) == 24
    assert accountant.get_epsilon(1e-5) <= 8
    sigma, rate, count = accountant.history[0]
    expected = b.account(b.PoissonSampled(b.Gaussian(sigma), rate=rate) * count, delta=1e-5)
    assert engine.get_epsilon(1e-5) == expected.epsilon.upper
    assert accountant.report(1e-5).epsilon.lower == pytest.approx(expected.epsilon.upper, rel=1e-5)


def test_steps_that_differ_are_told_apart() -> None:
    """A change of the noise or of the rate in the middle of a run is a new line of the history, with its own cost."""
    accountant = BursarAccountant()
    for sigma, rate in [(2.0, 0.1)] * 3 + [(1.0, 0.1)] * 2 + [(1.0, 0.2)]:
        accountant.step(noise_multiplier=sigma, sample_rate=rate)
    assert accountant.history == [(2.0, 0.1, 3), (1.0, 0.1, 2), (1.0, 0.2, 1)]


def test_state_survives_a_checkpoint() -> None:
    """As Opacus' own accountants' does."""
    accountant = BursarAccountant()
    for sigma in (1.0, 1.0, 2.0):
        accountant.step(noise_multiplier=sigma, sample_rate=0.1)
    other = BursarAccountant()
    other.load_state_dict(accountant.state_dict())
    assert other.history == [(1.0, 0.1, 2), (2.0, 0.1, 1)]
    assert other.get_epsilon(1e-5) == accountant.get_epsilon(1e-5)
    with pytest.raises(ValueError, match="cannot be loaded"):
        create_accountant("rdp").load_state_dict(accountant.state_dict())
    assert BursarAccountant().get_epsilon(1e-5) == 0
    with pytest.raises(b.InputError, match="Poisson"):
        accountant.get_epsilon(1e-5, poisson=False)


def test_against_opacus_own_accountants() -> None:
    """Below its Rényi figure, and at most its PRV figure, up to the error that it allows itself."""
    ours, theirs, renyi = BursarAccountant(), create_accountant("prv"), create_accountant("rdp")
    for accountant in (ours, theirs, renyi):
        accountant.history = [(1.5, 0.04, 2250)]
    upper = ours.get_epsilon(1e-5)
    assert upper < renyi.get_epsilon(1e-5)
    assert theirs.get_epsilon(1e-5) - 0.02 <= upper <= theirs.get_epsilon(1e-5)
    assert ours.report(1e-5).epsilon.lower > 6.7


@pytest.mark.parametrize(("count", "published"), [(2250, 1.34765625), (2000, 1.2915)])
def test_the_noise_search(count: int, published: float) -> None:
    """get_noise_multiplier with accountant="bursar" needs no more noise than with PRVs, and meets the target."""
    found = get_noise_multiplier(
        target_epsilon=8, target_delta=1e-5, sample_rate=0.04, steps=count, accountant="bursar", epsilon_tolerance=0.001
    )
    assert found <= published + 1e-3
    assert b.account(steps(found, 0.04, count), delta=1e-5).epsilon.upper <= 8


def test_a_run_within_a_budget() -> None:
    """The whole is set aside before the first step, drawn epoch by epoch, and refused where it does not fit."""
    with b.Ledger("memory://") as ledger:
        ledger.open("model", epsilon=8, delta="1e-5")
        with Training(ledger, "model", noise_multiplier=1.1, sample_rate=0.125, steps=24, key="run") as run:
            for _ in range(3):
                assert run.epoch(8).kind == "draw"
            with pytest.raises(b.InputError, match="0 steps are left"):
                run.epoch(1)
        with (
            pytest.raises(b.BudgetExceeded),
            Training(ledger, "model", noise_multiplier=0.4, sample_rate=0.5, steps=10_000, key="large"),
        ):
            pytest.fail("a run that does not fit must not start")
        assert ledger.verify(reprice=True)
        with pytest.raises(b.InputError, match="enter"):
            Training(ledger, "model", noise_multiplier=1.1, sample_rate=0.1, steps=1, key="x").epoch(1)


def test_a_run_that_begins_again_is_not_free() -> None:
    """The key of a run that stopped licenses no second one: its steps would be released again, and nothing charged."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("model", currency="zcdp", rho=9)
        terms = {"noise_multiplier": 10, "sample_rate": 1, "steps": 24}
        with Training(ledger, "model", **terms, key="run") as run:
            run.epoch(8)
        with Training(ledger, "model", **terms, key="run") as run, pytest.raises(b.errors.AlreadyRun, match="run/0"):
            run.epoch(8)
        with Training(ledger, "model", **terms, key="another") as run:
            assert not run.epoch(8).replayed


def test_riskcal_calibrates_with_the_same_class() -> None:
    """riskcal's black-box calibration takes any accountant shaped like Opacus'."""
    blackbox = pytest.importorskip("riskcal.calibration.blackbox")
    found = blackbox.find_noise_multiplier_for_epsilon_delta(
        BursarAccountant, sample_rate=0.01, num_steps=200, epsilon=1.0, delta=1e-5
    )
    planned = b.plan("poisson(gaussian(sigma=?), rate=0.01)*200", epsilon=1, delta=1e-5).value
    assert found == pytest.approx(float(planned), rel=0.01)


@pytest.mark.soak
def test_riskcal_calibrates_for_an_advantage() -> None:
    """The same for what an attacker gains: it asks for ε at very many δ's."""
    blackbox = pytest.importorskip("riskcal.calibration.blackbox")
    sigma = blackbox.find_noise_multiplier_for_advantage(
        BursarAccountant, advantage=0.1, sample_rate=0.01, num_steps=200
    )
    assert b.profile(steps(sigma, 0.01, 200)).advantage().upper <= 0.105


def loaded(**given: Any) -> Any:
    """A loader of 64 records in batches of 16."""
    data = torch.utils.data.TensorDataset(torch.zeros(64, 2), torch.zeros(64).long())
    return torch.utils.data.DataLoader(data, batch_size=16, **given)


def test_a_loader_is_accounted_for_as_it_draws() -> None:
    """Poisson samplers as such, shuffled ones as shuffled epochs; what is drawn otherwise is refused by name."""
    plain = loaded(shuffle=True)
    sampled = opacus.data_loader.DPDataLoader.from_data_loader(plain)
    assert (sampling_of(sampled), sampling_of(plain)) == ("poisson", "shuffled")
    twice = torch.utils.data.RandomSampler(range(64), replacement=True)
    again = torch.utils.data.RandomSampler(range(64), num_samples=80)
    for other in (loaded(shuffle=False), loaded(sampler=twice), loaded(sampler=again)):
        with pytest.raises(b.InputError, match="poisson_sampling=True"):
            sampling_of(other)


def run(accountant: BursarAccountant, loader: Any, *noises: float) -> None:
    """An epoch of steps with these noises, left where they end."""
    for sigma, _ in zip(noises, loader, strict=False):
        accountant.step(noise_multiplier=sigma, sample_rate=0.25)


def test_a_shuffling_loader_is_not_called_poisson() -> None:
    """poisson_sampling=False: five steps of two epochs count as two whole epochs of plain noise."""
    accountant, loader = BursarAccountant(), loaded(shuffle=True)
    accountant.fed_by(loader)
    run(accountant, loader, *[2.0] * 4)
    run(accountant, loader, 2.0)
    assert accountant.composition.text() == "shuffled(gaussian(sigma=2, relation=zero_out), steps=4)*2"
    honest = accountant.get_epsilon(1e-5, poisson=False)
    assert honest == accountant.get_epsilon(1e-5)
    assert honest == pytest.approx(b.account(b.Gaussian(2) * 2, delta=1e-5).epsilon.upper, rel=1e-6)
    assert honest > b.account(steps(2.0, 0.25, 5), delta=1e-5).epsilon.upper


def test_epochs_that_were_left_halfway_count_whole() -> None:
    """Two halves of two permutations may have a record twice, as may a half after a checkpoint."""
    accountant, loader = BursarAccountant(), loaded(shuffle=True)
    accountant.fed_by(loader)
    run(accountant, loader, 2.0, 2.0)
    run(accountant, loader, 2.0, 2.0)
    assert accountant.composition.text() == "shuffled(gaussian(sigma=2, relation=zero_out), steps=4)*2"
    other = BursarAccountant()
    other.load_state_dict(accountant.state_dict())
    assert other.composition == accountant.composition
    other.fed_by(loader)
    run(other, loader, 2.0, 2.0)
    assert other.composition.text() == "shuffled(gaussian(sigma=2, relation=zero_out), steps=4)*3"


def test_permutations_that_run_beside_each_other_all_count() -> None:
    """Two iterators at once: both permutations were begun before the first step."""
    accountant, loader = BursarAccountant(), loaded(shuffle=True)
    accountant.fed_by(loader)
    for _, _ in zip(loader, loader, strict=True):
        accountant.step(noise_multiplier=2.0, sample_rate=0.25)
    assert accountant.composition.count == 2


def test_steps_that_no_epoch_accounts_for_are_refused() -> None:
    """Those from before the loader was told or after it was told again, from elsewhere, and more than it has."""
    loader = loaded(shuffle=True)
    early = BursarAccountant()
    early.step(noise_multiplier=2.0, sample_rate=0.25)
    with pytest.raises(b.InputError, match="fed_by"):
        early.get_epsilon(1e-5, poisson=False)
    early.fed_by(loader)
    with pytest.raises(b.InputError, match="1 of 1 steps came before fed_by"):
        early.get_epsilon(1e-5)
    again = BursarAccountant()
    again.fed_by(loader)
    run(again, loader, 2.0)
    again.fed_by(loader)
    again.step(noise_multiplier=2.0, sample_rate=0.25)
    with pytest.raises(b.InputError, match="1 of 2 steps"):
        again.get_epsilon(1e-5)
    many = BursarAccountant()
    many.fed_by(loader)
    run(many, loader, *[2.0] * 4)
    many.step(noise_multiplier=2.0, sample_rate=0.25)
    with pytest.raises(b.InputError, match="5 steps in an epoch of 4 batches"):
        many.get_epsilon(1e-5)


def test_the_noise_of_a_shuffled_epoch_stays() -> None:
    """An epoch has one noise from its beginning to its end; the next one may have another."""
    accountant, loader = BursarAccountant(), loaded(shuffle=True)
    accountant.fed_by(loader)
    for noises in ([9.0] * 4, [1.0] * 4, [1.0] * 4, [9.0]):
        run(accountant, loader, *noises)
    kinds = {term.mechanism.mechanism.sigma: term.count for term in accountant.composition.terms}
    assert kinds == {9: 2, 1: 2}
    accountant.step(noise_multiplier=1.0, sample_rate=0.25)
    with pytest.raises(b.InputError, match="changed within an epoch"):
        accountant.get_epsilon(1e-5)


def test_loaders_that_were_told_before_are_still_watched() -> None:
    """A permutation counts whole wherever it was begun: by an earlier loader, or before another one was told."""
    accountant, first, second = BursarAccountant(), loaded(shuffle=True), loaded(shuffle=True)
    accountant.fed_by(first)
    accountant.fed_by(second)
    for _ in zip(second, first, strict=True):
        accountant.step(noise_multiplier=2.0, sample_rate=0.25)
    assert accountant.composition.count == 2
    again = BursarAccountant()
    again.fed_by(first)
    next(iter(first))
    again.fed_by(first)
    run(again, first, 2.0)
    assert again.composition.count == 2


def test_a_permutation_that_may_go_on_has_the_least_noise() -> None:
    """Of two that are run beside each other nobody can tell which one a step with less noise is of."""
    accountant, loader = BursarAccountant(), loaded(shuffle=True)
    accountant.fed_by(loader)
    run(accountant, loader, *[9.0] * 4)
    run(accountant, loader, 9.0)
    run(accountant, loader, 1.0, 1.0)
    kinds = {term.mechanism.mechanism.sigma: term.count for term in accountant.composition.terms}
    assert kinds == {9: 1, 1: 2}


def test_a_checkpoint_hides_nothing_that_is_refused() -> None:
    """Nor does a Poisson loader that comes later: steps of a permutation that nobody saw begin, rates too small."""
    late, loader = BursarAccountant(), loaded(shuffle=True)
    late.fed_by(loader)
    late.step(noise_multiplier=2.0, sample_rate=0.25)
    sampled = opacus.data_loader.DPDataLoader.from_data_loader(loaded(shuffle=True))
    small = BursarAccountant()
    small.fed_by(sampled)
    small.step(noise_multiplier=2.0, sample_rate=0.01)
    for accountant in (late, small):
        other = BursarAccountant()
        other.load_state_dict(accountant.state_dict())
        with pytest.raises(b.InputError, match=r"came before fed_by|draws each record with chance"):
            other.get_epsilon(1e-5)
    late.fed_by(sampled)
    with pytest.raises(b.InputError, match="1 of 1 steps"):
        late.get_epsilon(1e-5)


def test_a_poisson_loader_that_draws_more_than_is_claimed() -> None:
    """Its own rate is what counts: a run and an accountant that are told less refuse."""
    sampled = opacus.data_loader.DPDataLoader.from_data_loader(loaded(shuffle=True))
    accountant = BursarAccountant()
    accountant.fed_by(sampled)
    accountant.step(noise_multiplier=2.0, sample_rate=0.25)
    assert accountant.get_epsilon(1e-5) > 0
    accountant.step(noise_multiplier=2.0, sample_rate=0.01)
    with pytest.raises(b.InputError, match="draws each record with chance"):
        accountant.get_epsilon(1e-5)
    with b.Ledger("memory://") as ledger, pytest.raises(b.InputError, match="draws each record with chance"):
        Training(ledger, "model", noise_multiplier=2.0, sample_rate=0.01, steps=4, key="run", loader=sampled)


class Backwards(torch.utils.data.RandomSampler):
    """A class of one's own that draws in its own way."""


def test_samplers_that_only_derive_from_a_known_one_are_refused() -> None:
    """They may draw in any way; so may loaders without batches, and what is no loader at all."""
    with pytest.raises(b.InputError, match="drawn by Backwards"):
        sampling_of(loaded(sampler=Backwards(range(64))))
    single = torch.utils.data.DataLoader(range(64), batch_size=None, shuffle=True)
    for other in (single, [1, 2], None):
        with pytest.raises(b.InputError, match="loader must be a DataLoader with batches"):
            sampling_of(other)
    moved = loaded(shuffle=True)
    moved.batch_sampler.sampler = torch.utils.data.SequentialSampler(range(64))
    with pytest.raises(b.InputError, match="no certified cost"):
        sampling_of(moved)


def test_a_run_begins_no_epoch_that_was_not_drawn() -> None:
    """The loader itself refuses, before its first batch; a permutation left halfway is paid whole."""
    loader = loaded(shuffle=True)
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("model", currency="zcdp", rho=1, relation="zero_out")
        given = {"noise_multiplier": 4.0, "sample_rate": 0.25, "steps": 12, "loader": loader}
        with Training(ledger, "model", key="run", **given) as training:
            with pytest.raises(b.InputError, match="not drawn"):
                next(iter(loader))
            training.epoch(4)
            next(iter(loader))
            with pytest.raises(b.InputError, match=r"call epoch\(4\) before it"):
                next(iter(loader))
            training.epoch(8)
            assert len([*loader, *loader]) == 8
        assert len([*loader]) == 4


def test_a_shuffled_run_is_drawn_epoch_by_epoch() -> None:
    """Whole epochs before their first steps; a part of one is refused, and closing gives back what never began."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("model", currency="zcdp", rho=1, relation="zero_out")
        given = {"noise_multiplier": 4.0, "sample_rate": 0.25, "steps": 12, "loader": loaded(shuffle=True)}
        with Training(ledger, "model", key="run", **given) as run:
            run.epoch(4)
            with pytest.raises(b.InputError, match="drawn whole"):
                run.epoch(3)
        drawn = [json.loads(one.entry.body)["released"] for one in ledger.entries("model") if one.entry.kind == "draw"]
        assert drawn == ["shuffled(gaussian(sigma=4, relation=zero_out), steps=4)"]
