"""Options of lifts: an option without effect is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

import liftcluster as lc
from support.generators import blobs

OWN = {"kernel": "laplace", "bandwidth": 3.0}


def _functions_that_take_a_lift(X, a, b):
    """Every public function that accepts an existing lift."""
    blocks = lc.Blocks([X[:20], X[20:]])
    return {
        "make_lift": lambda **options: lc.make_lift(X, **options),
        "represent": lambda **options: lc.represent(X, [a, b], **options),
        "represent, blocks": lambda **options: lc.represent(blocks, [a, b], **options),
        "samples": lambda **options: lc.represent_samples([(X, a), (X + 1, b)], **options),
        "distance": lambda **options: lc.distance(a, b, X, **options),
        "matrix": lambda **options: lc.distance_matrix([a, b], X, **options),
        "compare": lambda **options: lc.compare(a, b, X, **options),
        "consensus": lambda **options: lc.consensus([a, b], 2, X, **options),
        "significance": lambda **options: lc.significance(a, b, X, n_permutations=3, **options),
    }


@pytest.fixture
def two_partitions():
    X, truth = blobs(np.random.default_rng(0), 40, 2, k=2)
    return X, truth, np.roll(truth, 5)


@pytest.mark.filterwarnings("ignore:the consensus is farther")
@pytest.mark.parametrize("made", ["lift", "transformer"])
@pytest.mark.parametrize("use", _functions_that_take_a_lift(*[np.zeros((40, 2))] * 3))
def test_lift_options_are_refused_with_an_existing_lift(use, made, two_partitions):
    X, a, b = two_partitions
    lift = lc.make_lift(X, lift=lc.Fourier(64), bandwidth=2.0, rng=0)
    if made == "transformer":
        lift = RBFSampler(gamma=0.125, n_components=64, random_state=0).fit(X)
    call = _functions_that_take_a_lift(X, a, b)[use]
    call(lift=lift)  # the default options are accepted
    for option, value in OWN.items():
        with pytest.raises(ValueError, match=f"{option} of its own; leave {option} out"):
            call(lift=lift, **{option: value})
    with pytest.raises(ValueError, match="leave bandwidth out"):
        call(lift=lift, bandwidth="scott")


def test_options_equal_to_those_of_the_lift_are_accepted(two_partitions):
    X, a, b = two_partitions
    lift = lc.make_lift(X, lift=lc.Fourier(64, sampling="iid"), bandwidth=2.0, rng=0)
    same = {"kernel": lc.Gaussian(2.0), "bandwidth": 2.0}
    assert lc.distance(a, b, X, lift=lift, **same) == lc.distance(a, b, X, lift=lift)


def test_estimator_with_an_existing_lift_refuses_lift_options(two_partitions):
    X, _, _ = two_partitions
    lift = lc.make_lift(X, lift=lc.Fourier(64), bandwidth=2.0, rng=0)
    for kind in (lc.LiftedConsensus, lc.MaxMMDClustering):
        model = clone(kind(2, lift=lift, random_state=0))
        assert len(set(model.fit(X).labels_)) == 2
        for option, value in {**OWN, "bandwidth": "scott"}.items():
            if option in model.get_params():
                other = clone(model).set_params(**{option: value})
                with pytest.raises(ValueError, match=f"leave {option} out"):
                    other.fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": lc.Gaussian(1.0), "bandwidth": 5.0}, "gaussian kernel has a bandwidth of its"),
        ({"kernel": lc.Matern(1.5, 1.0), "bandwidth": [1.0, 5.0]}, "matern kernel has a bandwidth"),
        ({"kernel": "discrete", "bandwidth": 5.0}, "discrete kernel has no bandwidth; leave"),
        ({"kernel": lambda X, Y: X @ Y.T, "bandwidth": 5.0}, "callable kernel has no bandwidth"),
        ({"kernel": "discrete", "bandwidth": "scott"}, "discrete kernel has no bandwidth; leave"),
        ({"kernel": lc.Gaussian(1.0), "bandwidth": "scott"}, "kernel has a bandwidth of its own"),
        ({"kernel": "laplace", "lift": "grid"}, "needs the Gaussian kernel, not laplace"),
        ({"kernel": lambda X, Y: X @ Y.T, "lift": "fourier"}, "no Fourier features"),
        ({"kernel": lambda X, Y: X @ Y.T, "lift": "structured"}, "no Fourier features"),
    ],
)
def test_options_without_effect_are_refused(options, message, two_partitions):
    X, a, b = two_partitions
    with pytest.raises(ValueError, match=message):
        lc.distance(a, b, X, **options)
    lc.distance(a, b, X, kernel=lc.Gaussian(5.0), bandwidth=5.0)  # equal values are accepted


@pytest.mark.parametrize("settings", [lc.Fourier, lc.Structured, lc.Nystroem])
def test_small_integers_of_numpy_are_counts_like_any_other(settings):
    small = settings(np.int8(100))
    assert type(small.n_components) is int
    assert small == settings(100)
    X = np.random.default_rng(0).standard_normal((200, 3))
    assert lc.make_lift(X, lift=small, rng=0).n_components == 100
