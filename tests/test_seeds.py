"""Seeds: the same answer from call to call by default, another one with None."""

import inspect

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.cli import commands

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
A, B = (X[:, 0] > 0).astype(int), RNG.integers(0, 3, 120)
FEW = lc.Fourier(8)  # so few features that seeds matter

PUBLIC = {name: getattr(lc, name) for name in lc.__all__ if callable(getattr(lc, name))}
SEEDED = {
    f"{name}({seed})": inspect.signature(function).parameters[seed]
    for name, function in PUBLIC.items()
    for seed in ("rng", "random_state", "seed")
    if seed in inspect.signature(function).parameters
}


@pytest.mark.parametrize("name", SEEDED)
def test_every_seed_is_0_by_default_and_has_one_name(name):
    assert SEEDED[name].default == 0
    kind = "random_state" if inspect.isclass(PUBLIC[name.split("(")[0]]) else "rng"
    assert SEEDED[name].name == kind


def test_every_command_with_a_seed_has_the_same_default():
    found = [command.callback for command in commands.app.registered_commands]
    seeds = [inspect.signature(c).parameters["seed"].default for c in found if _has_seed(c)]
    assert seeds == [0] * len(seeds)
    assert len(seeds) >= 8


def _has_seed(command):
    return "seed" in inspect.signature(command).parameters


# Calls that draw something, and the numbers that come of it.
CALLS = {
    "represent": lambda **seed: lc.represent(X, A, lift=FEW, **seed).vectors,
    "represent_samples": lambda **seed: lc.represent_samples([(X, A)], lift=FEW, **seed).vectors,
    "distance": lambda **seed: lc.distance(A, B, X, lift=FEW, **seed),
    "distance_matrix": lambda **seed: lc.distance_matrix([A, B], X, lift=FEW, **seed),
    "compare": lambda **seed: lc.compare(A, B, X, lift=FEW, **seed)["lift_emd"].value,
    "make_lift": lambda **seed: lc.make_lift(X, lift=FEW, **seed).features(X),
    "significance": lambda **seed: lc.significance(A, B, X, n_permutations=9, **seed).null,
    "stability": lambda **seed: lc.stability(X, [A, B, A], lift=FEW, **seed).points,
    "base_partitions": lambda **seed: [
        p.labels for p in lc.base_partitions(X, 5, "kmeans", n_partitions=3, **seed)
    ],
    "sample_partitions": lambda **seed: [p.labels for p in lc.sample_partitions(X, 3, 2, **seed)],
    "bandwidth": lambda **seed: lc.bandwidth(X, n_sample=5, **seed),
    "bandwidth_profile": lambda **seed: lc.bandwidth_profile(A, B, X, lift=FEW, **seed).values,
    "diverse_subset": lambda **seed: lc.diverse_subset([A, B], 1, X, lift=FEW, **seed).distances,
    "affinities": lambda **seed: lc.affinities(X, A, n_samples=50, **seed).values,
    "ClusterLifter": lambda **seed: lc.ClusterLifter(8, **_state(seed)).fit_transform(X),
}


def _state(seed):
    return {"random_state": seed["rng"]} if seed else {}


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_the_same_from_call_to_call(name):
    call = CALLS[name]
    first = np.asarray(call())
    np.testing.assert_array_equal(np.asarray(call()), first)
    np.testing.assert_array_equal(np.asarray(call(rng=0)), first)


@pytest.mark.parametrize("name", CALLS)
def test_none_draws_another_seed_each_time(name):
    # Of eight draws some differ: the same eight times over would be a miracle.
    drawn = [np.asarray(CALLS[name](rng=None)) for _ in range(8)]
    assert any(d.shape != drawn[0].shape or (d != drawn[0]).any() for d in drawn[1:])


def test_the_error_of_a_distance_is_in_the_comparison():
    found = lc.compare(A, B, X, lift=FEW, measures="lift_emd")["lift_emd"]
    assert found.value == pytest.approx(lc.distance(A, B, X, lift=FEW), abs=1e-12)
    assert found.error > 0
