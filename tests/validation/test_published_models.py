"""The published models against their papers: moments that follow from the parameters, and the authors' own output.

Bounds are those of the sampling error: a mean within four standard errors, a Kolmogorov-Smirnov distance below the
critical value of the 1 ‰ level.
"""

import math

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.workload.compare import distances
from walltime.workload.formats import read
from walltime.workload.models import PUBLISHED, load_model
from walltime.workload.models.lublin import (
    BATCH,
    INTERACTIVE,
    TYPELESS,
    LublinModel,
    arrivals,
    cycle,
    draw_run_times,
    draw_sizes,
    gamma_cdf,
)
from walltime.workload.models.tsafrir import HEAD, estimate, head_percents, head_times, histogram

COUNT = 40_000
TYPES = {"batch": BATCH, "interactive": INTERACTIVE, "all": TYPELESS}


def critical(a, b):
    """The 1 ‰ critical value of the two-sample Kolmogorov-Smirnov distance."""
    return 1.949 * math.sqrt((len(a) + len(b)) / (len(a) * len(b)))


@pytest.mark.parametrize("kind", TYPES)
def test_sizes_have_the_published_shares(kind):
    parameters = TYPES[kind]
    sizes = draw_sizes(parameters, COUNT, 128, 1, "x")
    error = 4 * math.sqrt(0.25 / COUNT)
    # A parallel job whose exponent is rounded to 0 is serial too: only where low is below a half.
    assert np.mean(sizes == 1) == pytest.approx(parameters.serial, abs=error)
    parallel = sizes[sizes > 1]
    powers = np.mean((parallel & (parallel - 1)) == 0)
    assert powers > parameters.power / (1 - parameters.serial) - error
    assert sizes.max() <= 2**parameters.high + 1
    edge = math.floor(parameters.middle) + 0.5  # rounding moves no exponent over a half
    share = (1 - parameters.first) * (parameters.high - edge) / (parameters.high - parameters.middle)
    assert np.mean(parallel > 2**edge) == pytest.approx(share, abs=error * 2)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", [1, 16, 100])
def test_run_times_have_the_moments_of_the_hyper_gamma(kind, size):
    """Mean and variance of the logarithm, from the truncated mixture, by integration of its density."""
    parameters = TYPES[kind]
    run = draw_run_times(parameters, np.full(COUNT, size), 2, "x") / SECOND
    log = np.log(run[run > 100])  # whole seconds do not matter there
    x = np.linspace(math.log(100), 12, 20_001)
    share = min(max(parameters.slope * size + parameters.offset, 0), 1)
    density = np.zeros_like(x)
    for weight, (shape, scale) in zip((share, 1 - share), parameters.run, strict=True):
        log_density = (shape - 1) * np.log(x) - x / scale - math.lgamma(shape) - shape * math.log(scale)
        density += weight * np.exp(log_density)
    density /= density.sum()
    mean = float((density * x).sum())
    spread = math.sqrt(float((density * (x - mean) ** 2).sum()))
    assert log.mean() == pytest.approx(mean, abs=4 * spread / math.sqrt(len(log)))
    assert log.std() == pytest.approx(spread, rel=0.05)


def test_larger_jobs_run_longer():
    small, large = (draw_run_times(TYPELESS, np.full(COUNT, size), 3, "x") for size in (1, 120))
    assert np.median(large) > 3 * np.median(small)


@pytest.mark.parametrize("kind", TYPES)
def test_arrivals_follow_the_daily_cycle(kind):
    parameters = TYPES[kind]
    submit = arrivals(parameters, COUNT, 4, "x") / SECOND
    half_hour = np.bincount((submit % 86_400 // 1800).astype(int), minlength=48) / COUNT
    assert half_hour == pytest.approx(cycle(parameters) / 48, abs=0.006)
    peak = int(np.argmax(cycle(parameters)))
    assert 20 <= peak <= 36  # the paper: most jobs between 10 and 18 o'clock
    gaps = np.exp(np.random.default_rng(0).gamma(parameters.gap[0] * parameters.ratio, parameters.gap[1], 10**6))
    mean = gaps[gaps <= math.exp(13)].mean()
    assert np.diff(submit).mean() == pytest.approx(mean, rel=0.06)


@pytest.mark.parametrize(("shape", "x"), [(0.5, 0.3), (3.9631, 4.0), (8.1737, 12.0), (6.1271, 2.0)])
def test_gamma_distribution_by_integration(shape, x):
    grid = np.linspace(0, x, 400_001)[1:]
    density = np.exp((shape - 1) * np.log(grid) - grid - math.lgamma(shape))
    assert gamma_cdf(x, shape) == pytest.approx(float(density.sum() * (grid[1] - grid[0])), abs=2e-3)


def test_against_the_output_of_the_authors_program(external):
    """lublin-256.swf was made by the authors' own program, for 256 processors and jobs of no type."""
    theirs = read(external("traces/lublin-256.swf"))
    size = draw_sizes(TYPELESS, COUNT, 256, 5, "x")
    ours = {
        "cores": size,
        "run_time": draw_run_times(TYPELESS, size, 5, "x"),
        "submit": np.diff(arrivals(TYPELESS, COUNT, 5, "x")),
    }
    for name, values in ours.items():
        column = theirs.column(name)
        expected = np.diff(column) if name == "submit" else column
        assert distances(np.sort(values), np.sort(expected))[0] < critical(values, expected), name


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_by_name(name):
    model = load_model(name)
    sample = model.draw(2000, 10 * 86_400.0, 64, 1, "x")
    assert len(sample) == pytest.approx(2000, abs=20)
    assert sample.columns["cores"].max() <= 64
    assert np.all(np.diff(sample.columns["submit"]) >= 0)
    again = load_model(name).draw(2000, 10 * 86_400.0, 64, 1, "x")
    assert all(np.array_equal(sample.columns[key], again.columns[key]) for key in sample.columns)


def test_a_mixture_has_both_types_in_proportion_to_their_rates():
    model = LublinModel("lublin-mixed")
    sample = model.draw(20_000, 100 * 86_400.0, 128, 1, "x")
    batch = np.mean(sample.columns["queue"] == 0)
    assert batch == pytest.approx(LublinModel("lublin-batch").jobs_per_day / model.jobs_per_day, abs=0.01)


def test_the_head_of_estimates_is_the_published_one():
    percents = head_percents()
    assert len(percents) == HEAD
    assert sum(percents) == pytest.approx(89.0)
    assert percents[0] > 20  # the maximum serves more than a fifth of the jobs
    assert percents[1] == pytest.approx(14.0491 * math.exp(-0.177531 * 2) + 0.462513)
    times = head_times(18 * 3600)
    assert len(times) == HEAD
    assert times[0] == 18 * 3600
    assert {300, 600, 900, 1800, 3600, 7200, 4 * 3600, 12 * 3600} <= set(times)


@pytest.mark.parametrize("jobs", [500, 10_000, 100_000])
def test_the_histogram_of_estimates(jobs):
    times, counts = histogram(jobs, 36 * 3600.0, seed=3)
    assert counts.sum() == jobs
    assert times.max() == 36 * 3600
    number = np.interp(jobs, [0, 20, 200, 1000, 10_000, 70_000, 250_000], [0, 10, 20, 35, 90, 340, 565])
    assert len(times) == pytest.approx(number, abs=2)
    popular = np.sort(counts)[::-1][:HEAD].sum() / jobs
    assert popular == pytest.approx(0.89, abs=0.01 if jobs >= 10_000 else 0.05)  # few jobs are not divided finely
    assert counts[times == 36 * 3600][0] == counts.max()


def test_no_job_runs_longer_than_its_estimate():
    run = draw_run_times(TYPELESS, draw_sizes(TYPELESS, 5000, 128, 1, "x"), 1, "x")
    request, raised = estimate(run, None, 7)
    assert np.all(request >= run)
    assert raised == 0
    assert np.array_equal(request, estimate(run, None, 7)[0])
    assert not np.array_equal(request, estimate(run, None, 8)[0])
    accuracy = run / request
    assert 0.1 < np.mean(accuracy) < 0.6  # people ask for much more than they need
    with pytest.raises(InputError, match="longest run time"):
        estimate(run, 3600.0)
