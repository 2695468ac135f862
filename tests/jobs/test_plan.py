"""Planning: every value is affordable and a hair less is not, the golden calibrations, exact answers, refusals."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app
from support.where import GOLDEN

VALUES = json.loads((GOLDEN / "theory_values.json").read_text())["values"]
GOLDEN = {row["id"]: row for row in VALUES}

FAMILIES = {
    "gaussian sigma": ("gaussian(sigma=?)*1000", "1", "1e-6"),
    "gaussian sigma, small target": ("gaussian(sigma=?)*3", "0.01", "1e-9"),
    "laplace scale": ("laplace(scale=?)*10", "1", "1e-6"),
    "laplace scale, one": ("laplace(scale=?)", "1/3", "1e-6"),
    "response epsilon": ("randomized_response(epsilon=?)*100", "1", "1e-6"),
    "declared epsilon": ("declared(pure_dp(epsilon=?))*40", "2", "1e-7"),
    "zcdp rho": ("declared(zcdp(rho=?))*10", "1", "1e-6"),
    "training sigma": ("poisson(gaussian(sigma=?), rate=0.01)*10000", "1", "1e-6"),
    "training rate": ("poisson(gaussian(sigma=1), rate=?)*100000", "4", "1e-6"),
    "mixture": ("gaussian(sigma=?)*10 + laplace(scale=50)*5", "1", "1e-6"),
    "discrete": ("discrete_gaussian(sigma=?)*20", "2", "1e-6"),
    "gaussian count": ("gaussian(sigma=20)*?", "1", "1e-6"),
    "laplace count": ("laplace(scale=30)*?", "2", "1e-6"),
    "response count": ("randomized_response(epsilon=0.01)*?", "1", "1e-6"),
    "training count": ("poisson(gaussian(sigma=2), rate=0.01)*?", "2", "1e-6"),
    "group size": ("group(laplace(scale=100), size=?)", "1", "0"),
}


def known(report: b.Report) -> float:
    """The relative width of a report's interval, as far as it has one."""
    bound = report.epsilon
    return (bound.upper - bound.lower) / bound.upper if bound.lower > 0 else 0.0


@pytest.mark.parametrize("name", FAMILIES)
def test_every_plan_is_affordable_and_a_hair_less_is_not(name: str) -> None:
    """`account` at the value is within the target; at the neighbour, no farther than a millionth or the width, it is
    not.
    """
    text, epsilon, delta = FAMILIES[name]
    found = b.plan(text, epsilon=epsilon, delta=delta)
    goal = Fraction(epsilon)
    assert Fraction(found.report.epsilon.upper) <= goal
    again = b.account(b.parse(text.replace("?", str(found.value))), delta=delta)
    assert Fraction(again.epsilon.upper) <= goal
    assert Fraction(found.neighbour_report.epsilon.upper) > goal
    assert Fraction(b.account(b.parse(text.replace("?", str(found.neighbour))), delta=delta).epsilon.upper) > goal
    if isinstance(found.value, int):
        assert abs(found.value - found.neighbour) == 1
    else:
        near = max(1e-6, 2.5 * known(found.report))
        assert abs(found.neighbour / found.value - 1) <= near


@pytest.mark.parametrize("name", [name for name in GOLDEN if re.match(r"S5\.gauss\.calib\.", name)])
def test_exact_gaussian_calibration(name: str) -> None:
    """The least σ of one Gaussian, as in the theory sheet, from above."""
    inputs = dict(re.findall(r"(\w+)=([\d.e-]+)", GOLDEN[name]["inputs"]))
    found = b.plan(b.Gaussian, epsilon=inputs["eps"], delta=inputs["delta"])
    sheet = float(GOLDEN[name]["value"])
    assert sheet * (1 - 1e-15) <= found.value <= sheet * (1 + 1e-11)


@pytest.mark.parametrize(
    ("name", "theorem"),
    [
        ("S2.inv.thm11.100", "strong"),
        ("S2.inv.thm11.1000", "strong"),
        ("S2.inv.steinke.100", "steinke"),
        ("S2.inv.steinke.1000", "steinke"),
        ("S2.inv.optimal.100", "optimal"),
    ],
)
def test_per_query_epsilon_of_the_theory_sheet(name: str, theorem: str) -> None:
    """The per-query ε that strong and optimal composition allow, from below."""
    row = GOLDEN[name]
    count = int(re.search(r"k=(\d+)", row["inputs"])[1])
    target = re.search(r"eps=([\d.]+) delta=([\d.e-]+)", row["inputs"])
    from bursar.jobs.plan import finished
    from bursar.jobs.plan_family import Family
    from bursar.numerics.real import read

    family = Family(
        lambda each: b.Declared(b.PureDP(each)) * count,
        read(target[1], "epsilon"),
        read(target[2], "delta"),
        theorems=[theorem],
    )
    sheet = float(row["value"])
    assert sheet * (1 - 1e-9) <= finished(family).value <= sheet * (1 + 1e-12)
    best = b.plan(lambda each: b.Declared(b.PureDP(each)) * count, epsilon=target[1], delta=target[2]).value
    assert best >= sheet * (1 - 1e-9)


@pytest.mark.parametrize("name", ["S2.crossover.0.01", "S2.crossover.0.5"])
def test_strong_beats_basic_from_the_crossover_on(name: str) -> None:
    """At the whole numbers around the sheet's crossover, strong composition loses and then wins."""
    inputs = dict(re.findall(r"(\w+)=([\d.e-]+)", GOLDEN[name]["inputs"]))
    turn = float(GOLDEN[name]["value"])

    def wins(count: int) -> bool:
        what = b.Declared(b.PureDP(inputs["eps"])) * count
        strong, basic = (
            b.account(what, delta=inputs["delta_prime"], theorems=[one]).epsilon.upper for one in ("strong", "basic")
        )
        return strong < basic

    assert not wins(math.floor(turn))
    assert wins(math.ceil(turn))


@pytest.mark.parametrize("count", [3, 7, 11, 37, 1000])
def test_pure_budgets_divide_exactly(count: int) -> None:
    """Over k pure queries the per-query ε is limit/k as a fraction, and the scale its inverse."""
    limit = Fraction(2, 3)
    each = b.plan(lambda e: b.RandomizedResponse(e) * count, epsilon=limit, delta=0)
    assert each.value == limit / count
    scale = b.plan(lambda s: b.Laplace(s) * count, epsilon=limit, delta=0)
    assert scale.value == count / limit
    assert b.plan(lambda k: b.Laplace(count) * k, epsilon=1, delta=0).value == count


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_target_is_never_rounded_up(count: int) -> None:
    """A target that lies less than an ulp below what k releases cost is met by k − 1 of them: no plan rounds it up."""
    target = Fraction(count, 3) - Fraction(1, 10**20)
    cost = b.account(b.Laplace(3) * count, delta=0).epsilon.upper
    assert math.nextafter(cost, 0) <= target < cost
    if count == 1:
        with pytest.raises(b.errors.PlanImpossible):
            b.plan("laplace(scale=3)*?", epsilon=target, delta=0)
    else:
        found = b.plan("laplace(scale=3)*?", epsilon=target, delta=0)
        assert found.value == count - 1
        assert Fraction(found.report.epsilon.upper) <= target


def test_whole_numbers_fractions_of_them_and_epochs() -> None:
    """An unknown that is multiplied into a count is a whole number."""
    found = b.plan(lambda e: b.PoissonSampled(b.Gaussian(1), "1/100") * (100 * e), epsilon=3, delta=1e-6)
    assert isinstance(found.value, int)
    assert found.neighbour == found.value + 1
    text = b.plan("gaussian(sigma=20)*?", epsilon=1, delta="1e-6")
    assert text.value == b.plan(lambda k: b.Gaussian(20) * k, epsilon=1, delta="1e-6").value == 22


def test_a_rate_may_be_as_large_as_one() -> None:
    """Where every rate is affordable the answer is 1, and there is no neighbour."""
    found = b.plan("poisson(gaussian(sigma=100), rate=?)*10", epsilon=1, delta=1e-6)
    assert found.value == 1
    assert found.neighbour is None
    assert "No dearer value" in found.explain()


def test_a_target_of_nothing() -> None:
    """ε = 0 is a target like any other: total variation below δ."""
    found = b.plan(b.Gaussian, epsilon=0, delta="0.01")
    assert found.report.epsilon.upper == 0
    assert found.value == pytest.approx(39.893, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "question", "words"),
    [
        (lambda s: b.Gaussian(s) + b.NameAndShame("1e-3"), {"epsilon": 1, "delta": 1e-6}, "no finite proved cost"),
        (lambda s: b.Gaussian(s) + b.Laplace("0.1"), {"epsilon": 1, "delta": 1e-6}, "closest is ε = 9.99"),
        (lambda k: b.Gaussian("0.1") * k, {"epsilon": 1, "delta": 1e-6}, "closest is ε = 96.7"),
        (b.Gaussian, {"epsilon": 1, "delta": 0}, "no finite proved cost"),
    ],
)
def test_what_cannot_be_met_is_refused_with_the_closest(make: object, question: dict[str, object], words: str) -> None:
    """The refusal says which target is the closest that can be met."""
    with pytest.raises(b.errors.PlanImpossible, match=words) as refused:
        b.plan(make, **question)
    assert refused.value.closest > 1


@pytest.mark.parametrize(
    ("make", "question", "words"),
    [
        (5, {"epsilon": 1, "delta": 1e-6}, "make"),
        ("gaussian(sigma=2)", {"epsilon": 1, "delta": 1e-6}, "one unknown"),
        ("gaussian(sigma=?)*?", {"epsilon": 1, "delta": 1e-6}, "this text has 2"),
        ("gausian(sigma=?)", {"epsilon": 1, "delta": 1e-6}, "gaussian"),
        (b.Gaussian, {"epsilon": -1, "delta": 1e-6}, "epsilon"),
        (b.Gaussian, {"epsilon": math.nan, "delta": 1e-6}, "epsilon"),
        (b.Gaussian, {"epsilon": 1, "delta": 2}, "delta"),
        (lambda _: "nonsense", {"epsilon": 1, "delta": 1e-6}, "composition"),
    ],
)
def test_bad_questions_are_refused(make: object, question: dict[str, object], words: str) -> None:
    """What cannot be asked is named."""
    with pytest.raises(b.InputError, match=words):
        b.plan(make, **question)


@given(
    st.integers(-20, 30), st.integers(1, 300), st.sampled_from(["1e-5", "1e-9"]), st.sampled_from(["gaussian", "zcdp"])
)
@settings(max_examples=25, deadline=None)
def test_random_targets_are_met(tenths: int, count: int, delta: str, kind: str) -> None:
    """Any target between 0.1 and 20 is met from below, and the neighbour misses it."""
    epsilon = Fraction(repr(round(10 ** (tenths / 23), 6)))
    make = (lambda s: b.Gaussian(s) * count) if kind == "gaussian" else (lambda r: b.Declared(b.ZCDP(r)) * count)
    found = b.plan(make, epsilon=epsilon, delta=delta)
    assert Fraction(found.report.epsilon.upper) <= epsilon < Fraction(found.neighbour_report.epsilon.upper)


def test_splitting_minimises_the_weighted_variance() -> None:
    """Gaussian noises follow √(Δ/√w), fit the budget, and no other proportions do better."""
    sizes, weights = [1, 2, 5], [1, 4, 1]
    found = b.split(sizes, weights=weights, epsilon=1, delta="1e-6", noise="gaussian")
    assert Fraction(found.report.epsilon.upper) <= 1
    shape = [math.sqrt(s / math.sqrt(w)) for s, w in zip(sizes, weights, strict=True)]
    for share, ratio in zip(found.shares, shape, strict=True):
        assert share.scale / found.shares[0].scale == pytest.approx(ratio / shape[0], rel=1e-9)
    mu = 1 / b.plan(b.Gaussian, epsilon=1, delta="1e-6").value
    for tilt in (0.9, 1.1):
        other = [shape[0] * tilt, *shape[1:]]
        scale = math.sqrt(sum((s / x) ** 2 for s, x in zip(sizes, other, strict=True))) / mu
        assert found.variance < sum(w * (x * scale) ** 2 for w, x in zip(weights, other, strict=True))


def test_splitting_a_pure_budget_takes_laplace_noise() -> None:
    """At δ = 0 only Laplace noise fits; its scales follow (Δ/w)^{1/3} and add up to the budget."""
    found = b.split([1, 8], epsilon=1, delta=0)
    assert found.noise == "laplace"
    assert found.shares[1].scale / found.shares[0].scale == pytest.approx(2.0)
    assert sum(share.sensitivity / share.scale for share in found.shares) == pytest.approx(1.0, rel=1e-6)
    assert found.report.epsilon.upper <= 1
    assert found.shares[0].half_width == pytest.approx(found.shares[0].scale * math.log(20))


def test_many_queries_take_gaussian_noise_few_take_laplace() -> None:
    """The better of the two is the one with the smaller variance."""
    few, many = (b.split([1] * n, epsilon=1, delta="1e-6") for n in (2, 30))
    assert (few.noise, many.noise) == ("laplace", "gaussian")
    assert many.variance < b.split([1] * 30, epsilon=1, delta="1e-6", noise="laplace").variance


def test_the_smallest_budget_meets_the_accuracies() -> None:
    """Noises are as large as the wanted accuracies allow, and the cost is `account`'s."""
    found = b.smallest_budget([1, 1], delta="1e-6", half_widths=[10, 20])
    assert [share.half_width for share in found.shares] == pytest.approx([10, 20])
    assert all(share.half_width <= want for share, want in zip(found.shares, [10, 20], strict=True))
    gauss = b.smallest_budget([2], delta="1e-6", standard_errors=[8], noise="gaussian")
    assert gauss.shares[0].scale == pytest.approx(8)
    assert gauss.report.epsilon.upper == pytest.approx(b.account(b.Gaussian(4), delta="1e-6").epsilon.upper)
    with pytest.raises(b.InputError, match="one of them"):
        b.smallest_budget([1], delta=0.1)
    with pytest.raises(b.InputError, match="weights"):
        b.split([1, 2], weights=[1], epsilon=1, delta=0)


def test_the_lecture_question() -> None:
    """d counts: basic grows with d, the others with √d; optimal never loses to strong; Gaussian wins for large d."""
    table = b.lecture.counting([1, 4, 16, 64, 256], epsilon=1, delta="1e-6")
    basic, strong, optimal, gaussian = table.errors.values()
    assert basic[4] == pytest.approx(math.sqrt(2) * 256)
    assert all(o <= s * (1 + 1e-6) <= a * (1 + 2e-6) for a, s, o in zip(basic, strong, optimal, strict=True))
    assert gaussian[4] / gaussian[2] == pytest.approx(4, rel=1e-6)
    assert table.crossover("gaussian") == 9
    assert table.best()[0].startswith("laplace")
    assert table.best()[-1] == "gaussian"
    assert "less noise than basic" in str(table)


def test_the_crossover_is_the_true_one() -> None:
    """Whatever is shown, it is the least d at which a way beats basic composition, as trying all of them finds it."""
    every = b.lecture.counting(range(1, 41), epsilon=1, delta="1e-6")
    for way, first in (("gaussian", 9), ("laplace, strong", 29)):
        ahead = [mine < basic for mine, basic in zip(every.errors[way], every.errors["laplace, basic"], strict=True)]
        assert ahead == [d >= first for d in every.queries]
        for shown in ([1, 10, 100], [64], [8, 9, 29, 32], [2, 30, 500]):
            assert b.lecture.counting(shown, epsilon=1, delta="1e-6").crossover(way) == first
    assert b.lecture.counting([1, 2, 8], epsilon=1, delta="1e-6").crossover() is None


def test_training_plans_with_alternatives() -> None:
    """σ, steps and rate from records, batch and epochs; alternatives for other batches and epochs."""
    found = b.training(
        records=60_000, batch_size=256, epochs=15, epsilon=3, delta=1e-5, batch_sizes=[512], epoch_choices=[15, 30]
    )
    assert (found.steps, found.rate) == (3516, Fraction(256, 60_000))
    assert found.report.epsilon.upper <= 3
    assert len(found.alternatives) == 3
    assert all(other.report.epsilon.upper <= 3 for other in found.alternatives)
    assert "batch size" in str(found)


def test_sweeps_are_plans() -> None:
    """Every cell meets its target and misses it next door; cells that cannot be met say why."""
    cells = b.sweep(lambda s: b.Gaussian(s) * 10, epsilons=[0.5, 1, 2, 4], deltas=["1e-5", "1e-7"])
    assert len(cells) == 8
    for cell in cells:
        assert Fraction(cell.plan.report.epsilon.upper) <= cell.epsilon
        assert Fraction(cell.plan.neighbour_report.epsilon.upper) > cell.epsilon
        assert abs(cell.plan.neighbour / cell.value - 1) <= 1e-6
    by = {
        (c.setting, float(c.epsilon)): c.value
        for c in b.sweep(
            lambda s, q: b.PoissonSampled(b.Gaussian(s), q) * 10_000,
            epsilons=[1, 2],
            deltas=[1e-6],
            settings=["0.01", "0.02"],
        )
    }
    assert by["0.01", 2.0] < by["0.01", 1.0] < by["0.02", 1.0]
    (none,) = b.sweep(lambda s: b.Gaussian(s) + b.Laplace("0.1"), epsilons=[1], deltas=[1e-6])
    assert none.value is None
    assert "closest" in none.reason


def test_a_sweep_shows_its_progress_and_answers_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    """The bar goes to standard error, where it is asked for, and changes no value."""
    shown, quiet = (
        b.sweep(lambda s: b.Gaussian(s) * 10, epsilons=[1, 2], deltas=["1e-6"], progress=progress)
        for progress in (True, False)
    )
    assert [cell.value for cell in shown] == [cell.value for cell in quiet]
    out, err = capfd.readouterr()
    assert "planning" in err
    assert out == ""


def test_the_command() -> None:
    """`bursar plan` prints the table, sentences or JSON, and refuses with the budget's exit code."""
    run = CliRunner()
    shown = run.invoke(app, ["plan", "gaussian(sigma=?)*1000", "--epsilon", "1", "--delta", "1e-6"])
    assert shown.exit_code == 0
    assert "value = 133.59607" in shown.output
    found = run.invoke(app, ["plan", "gaussian(sigma=20)*?", "--epsilon", "1", "--delta", "1e-6", "--json"])
    form = json.loads(found.output)
    assert (form["value"], form["neighbour"]) == (22, 23)
    assert form["report"]["epsilon"]["upper"] <= 1
    assert form == b.plan("gaussian(sigma=20)*?", epsilon=1, delta=1e-6).to_dict() | {"report": form["report"]}
    said = run.invoke(app, ["plan", "laplace(scale=?)", "--epsilon", "1/3", "--delta", "0", "--explain"])
    assert "value is 3" in said.output
    refused = run.invoke(app, ["plan", "gaussian(sigma=0.1)*?", "--epsilon", "1", "--delta", "1e-6"])
    assert refused.exit_code == 1
    assert "closest" in refused.output
    assert run.invoke(app, ["plan", "gaussian(sigma=2)", "--epsilon", "1", "--delta", "1e-6"]).exit_code == 2


def test_the_picture_of_the_lecture_question() -> None:
    """The figure shows the four ways, labelled, and the crossover."""
    from bursar.plot import counting_figure

    table = b.lecture.counting([1, 8, 32, 100], epsilon=1, delta="1e-6")
    figure = counting_figure(table)
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == list(table.errors)
    assert [text.get_text() for text in axes.texts] == [" d = 29", " d = 9"]
    assert list(axes.lines[3].get_ydata()) == list(table.errors["gaussian"])
    assert figure.get_suptitle().startswith("How much noise")


def test_a_target_is_met_in_each_of_its_readings() -> None:
    """0.3 as a float is a decimal to some and a binary number to others: the proved cost is within both."""
    answered = 0
    for tenths in range(1, 40):
        target = tenths / 10
        try:
            found = b.plan("laplace(scale=10)*?", epsilon=target, delta=0)
        except b.errors.PlanImpossible:
            continue
        answered += 1
        assert Fraction(found.report.epsilon.upper) <= min(Fraction(target), Fraction(repr(target)))
    assert answered > 30
