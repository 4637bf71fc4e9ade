"""Options of lifts: an option that could do nothing is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

import liftcluster as lc
from support.generators import blobs

OWN = {
    "kernel": "laplace",
    "bandwidth": 3.0,
    "n_components": 32,
    "sampling": "iid",
}


def _uses_of_a_lift(X, a, b):
    """Every way in for a lift that is made already."""
    blocks = lc.Blocks([X[:20], X[20:]])
    return {
        "make_lift": lambda **how: lc.make_lift(X, **how),
        "represent": lambda **how: lc.represent(X, [a, b], **how),
        "represent, blocks": lambda **how: lc.represent(blocks, [a, b], **how),
        "samples": lambda **how: lc.represent_samples([(X, a), (X + 1, b)], **how),
        "distance": lambda **how: lc.distance(a, b, X, **how),
        "matrix": lambda **how: lc.distance_matrix([a, b], X, **how),
        "compare": lambda **how: lc.compare(a, b, X, **how),
        "consensus": lambda **how: lc.consensus([a, b], 2, X, **how),
        "significance": lambda **how: lc.significance(a, b, X, n_permutations=3, **how),
    }


@pytest.fixture
def two_partitions():
    X, truth = blobs(np.random.default_rng(0), 40, 2, k=2)
    return X, truth, np.roll(truth, 5)


@pytest.mark.filterwarnings("ignore:the consensus is farther")
@pytest.mark.parametrize("made", ["lift", "transformer"])
@pytest.mark.parametrize("use", _uses_of_a_lift(*[np.zeros((40, 2))] * 3))
def test_a_lift_that_is_made_leaves_nothing_to_ask_for(use, made, two_partitions):
    X, a, b = two_partitions
    lift = lc.make_lift(X, lift="fourier", bandwidth=2.0, n_components=64, rng=0)
    if made == "transformer":
        lift = RBFSampler(gamma=0.125, n_components=64, random_state=0).fit(X)
    call = _uses_of_a_lift(X, a, b)[use]
    call(lift=lift)  # the usual options are no wish
    for option, value in OWN.items():
        with pytest.raises(ValueError, match=f"{option} of its own; leave {option} out"):
            call(lift=lift, **{option: value})
    with pytest.raises(ValueError, match="leave bandwidth out"):
        call(lift=lift, bandwidth="scott")


def test_what_a_lift_has_may_be_said_again(two_partitions):
    X, a, b = two_partitions
    lift = lc.make_lift(X, lift="fourier", bandwidth=2.0, n_components=64, sampling="iid", rng=0)
    alike = {"kernel": lc.Gaussian(2.0), "bandwidth": 2.0, "n_components": 64, "sampling": "iid"}
    assert lc.distance(a, b, X, lift=lift, **alike) == lc.distance(a, b, X, lift=lift)


def test_an_estimator_with_a_lift_of_its_own_wants_no_other_options(two_partitions):
    X, _, _ = two_partitions
    lift = lc.make_lift(X, lift="fourier", bandwidth=2.0, n_components=64, rng=0)
    for kind in (lc.LiftedConsensus, lc.MaxMMDClustering):
        model = clone(kind(2, lift=lift, random_state=0))
        assert len(set(model.fit(X).labels_)) == 2
        for option, value in {**OWN, "bandwidth": "scott"}.items():
            if option in model.get_params():
                other = clone(model).set_params(**{option: value})
                with pytest.raises(ValueError, match=f"leave {option} out"):
                    other.fit(X)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kernel": lc.Gaussian(1.0), "bandwidth": 5.0}, "gaussian kernel has a bandwidth of its"),
        ({"kernel": lc.Matern(1.5, 1.0), "bandwidth": [1.0, 5.0]}, "matern kernel has a bandwidth"),
        ({"kernel": "discrete", "bandwidth": 5.0}, "discrete kernel has no bandwidth; leave"),
        ({"kernel": lambda X, Y: X @ Y.T, "bandwidth": 5.0}, "callable kernel has no bandwidth"),
        ({"lift": "exact", "n_components": 64}, "no use for n_components; leave that out"),
        ({"lift": "exact", "sampling": "iid"}, "no use for sampling; leave that out"),
        ({"lift": "nystrom", "sampling": "iid"}, 'how lift="fourier" draws frequencies'),
    ],
)
def test_an_option_that_could_do_nothing_is_refused(options, says, two_partitions):
    X, a, b = two_partitions
    with pytest.raises(ValueError, match=says):
        lc.distance(a, b, X, **options)
    lc.distance(a, b, X, kernel=lc.Gaussian(5.0), bandwidth=5.0)  # says the same twice
