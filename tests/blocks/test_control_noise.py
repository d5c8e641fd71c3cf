"""Noise belongs to its seed and to time: whatever steps a run takes, it is the same."""

from __future__ import annotations

import numpy as np
import pytest

from mbdy.blocks import GaussianNoise, UniformNoise, VariableError
from mbdy.blocks.control.noise import Noise

PERIOD = 0.02
MANY = 200_000


def drawn(noise: Noise, count: int = MANY) -> np.ndarray:
    return np.array([noise.value((k + 0.5) * noise.period) for k in range(count)])


def made() -> list[Noise]:
    return [GaussianNoise(2.0, period=PERIOD, seed=7), UniformNoise(-1.0, 3.0, period=PERIOD, seed=7)]


@pytest.mark.parametrize("which", [0, 1])
def test_noise_is_the_same_whatever_the_steps(which: int):
    one, other = made()[which], made()[which]
    grid = np.arange(2000) * PERIOD
    whole = [one.step(t) for t in grid.tolist()]
    rng = np.random.default_rng(3)
    for t in rng.uniform(0.0, grid[-1], 500).tolist():  # in any order, on no grid
        assert other.step(t) == whole[int(t / PERIOD + 1e-9)]
    assert other.next_time(0.5 * PERIOD) == PERIOD
    assert other.next_time(PERIOD) == 2 * PERIOD


def test_seeds_are_other_noise_and_sizes_are_independent():
    a, b = (GaussianNoise(1.0, period=PERIOD, seed=seed) for seed in (1, 2))
    x, y = drawn(a, 20_000), drawn(b, 20_000)
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.03  # four standard errors of 20 000 pairs
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.03
    three = drawn(GaussianNoise(1.0, period=PERIOD, seed=1, size=3), 20_000)
    assert three.shape == (20_000, 3)
    assert np.abs(np.corrcoef(three.T) - np.eye(3)).max() < 0.03


def test_integers_of_numpy_and_the_largest_seed_are_taken():
    size, seed = np.int64(3), 2**128 - 1
    noise = GaussianNoise(1.0, period=PERIOD, seed=seed, size=size)  # type: ignore[arg-type]
    np.testing.assert_array_equal(noise.step(0.0), GaussianNoise(1.0, period=PERIOD, seed=seed, size=3).step(0.0))
    assert type(noise.size) is int


def test_moments():
    normal, even = (drawn(noise) for noise in made())
    error = 4.0 / np.sqrt(MANY)  # four standard errors
    assert abs(normal.mean()) < 2.0 * error
    assert normal.std() == pytest.approx(2.0, rel=error)
    assert np.mean(np.abs(normal) < 2.0) == pytest.approx(0.6827, abs=error)
    assert even.min() >= -1.0
    assert even.max() < 3.0
    assert even.mean() == pytest.approx(1.0, abs=4.0 * error)
    assert even.var() == pytest.approx(16.0 / 12.0, rel=4.0 * error)


def test_before_time_zero_there_is_none():
    with pytest.raises(VariableError, match=r"GaussianNoise: t must be >= 0, got -0\.1"):
        made()[0].step(-0.1)
