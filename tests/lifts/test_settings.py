"""Settings of lifts: validation, names, defaults, and the choice of auto."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.lifts.choice import Lifting, choose_settings
from liftcluster.lifts.settings import LIFTS, as_lift_settings
from support.generators import blobs

ALL = [lc.Exact(), lc.Fourier(), lc.Structured(), lc.Grid(), lc.Nystroem()]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: lc.Fourier(100, tol=0.1), ValueError, "either n_components or tol"),
        (lambda: lc.Structured(100, tol=0.1), ValueError, "either n_components or tol"),
        (lambda: lc.Grid(1e-3, n_components=100), ValueError, "either error or n_components"),
        (lambda: lc.Fourier(sampling="best"), ValueError, "sampling must be one of auto, iid"),
        (lambda: lc.Fourier(sampling="orthogonl"), ValueError, "did you mean 'orthogonal'"),
        (lambda: lc.Fourier(sampling=None), ValueError, "sampling must be one of"),
        (lambda: lc.Grid(1.0), ValueError, r"error must lie in \(0, 1\), got 1.0"),
        (lambda: lc.Grid(0), ValueError, "error must be positive"),
        (lambda: lc.Grid("fine"), TypeError, "error must be a number"),
        (lambda: lc.Fourier("many"), TypeError, "n_components must be"),
        (lambda: lc.Exact(5), TypeError, "argument"),
        (lambda: lc.Structured(sampling="iid"), TypeError, "sampling"),
        (lambda: lc.Nystroem(tol=0.1), TypeError, "tol"),
    ],
)
def test_invalid_settings_are_refused_on_construction(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("kind", [lc.Fourier, lc.Structured, lc.Grid, lc.Nystroem])
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "n_components must be at least 1, got 0"),
        (-5, ValueError, "at least 1, got -5"),
        (2.5, TypeError, "n_components must be"),
        (True, TypeError, "n_components must be"),
    ],
)
def test_n_components_must_be_a_positive_integer(kind, value, error, message):
    with pytest.raises(error, match=message):
        kind(n_components=value)


@pytest.mark.parametrize("kind", [lc.Fourier, lc.Structured])
@pytest.mark.parametrize("tol", [0, -1, np.nan, np.inf])
def test_tol_must_be_positive_and_finite(kind, tol):
    with pytest.raises(ValueError, match="tol must be positive"):
        kind(tol=tol)


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_settings_are_immutable_hashable_and_picklable(settings):
    again = pickle.loads(pickle.dumps(settings))
    assert repr(again) == repr(settings)
    assert again == settings
    assert hash(again) == hash(settings)
    assert as_lift_settings(settings) is settings
    with pytest.raises((FrozenInstanceError, TypeError)):
        settings.n_components = 3


def test_lift_names_select_default_settings():
    X, labels = blobs(np.random.default_rng(0), 60, 2)
    assert set(LIFTS) == {"auto"} | {type(settings).__name__.lower() for settings in ALL}
    for settings in ALL:
        name = type(settings).__name__.lower()
        assert as_lift_settings(name) == settings
        by_name, by_value = (lc.represent(X, labels, lift=lift, rng=0) for lift in (name, settings))
        assert by_name.lift.kind == name
        np.testing.assert_array_equal(by_name.sums, by_value.sums)


def test_settings_determine_the_number_of_components():
    X, _ = blobs(np.random.default_rng(0), 600, 2)
    made = {s: lc.make_lift(X, lift=s, rng=0).n_components for s in (lc.Fourier(70), lc.Fourier())}
    assert made == {lc.Fourier(70): 70, lc.Fourier(): 2048}
    assert lc.make_lift(X, lift=lc.Structured(64), rng=0).n_components == 64
    assert lc.make_lift(X, lift=lc.Nystroem(7), rng=0).n_components == 7
    assert lc.make_lift(X, lift=lc.Grid(n_components=300)).n_components <= 300
    iid = lc.make_lift(X, lift=lc.Fourier(70, sampling="iid"), rng=0)
    assert iid.describe() == "independent Fourier features, ρ = 70"


@pytest.mark.parametrize(
    ("lift", "error", "message"),
    [
        ("nystrom", ValueError, "got 'nystrom'; did you mean 'nystroem'"),
        ("Fourier", ValueError, "did you mean 'fourier'"),
        ("xyz", ValueError, "one of auto, exact, fourier, structured, grid, nystroem; got 'xyz'$"),
        (lc.Fourier, TypeError, r"got the class Fourier; write it with \(\)"),
        (3, TypeError, "lift must be one of .*, settings such as .*, got int"),
        (None, TypeError, "got NoneType"),
    ],
    ids=str,
)
def test_invalid_lift_is_refused_by_every_function(lift, error, message):
    X, a = [[0.0], [1.0], [5.0]], [0, 0, 1]
    for call in (
        lambda: lc.make_lift(X, lift=lift),
        lambda: lc.represent(X, a, lift=lift),
        lambda: lc.distance(a, a, X, lift=lift),
        lambda: lc.compare(a, a, X, lift=lift),
        lambda: lc.consensus([a, a], 2, X, lift=lift),
        lambda: lc.LiftedConsensus(2, lift=lift).fit(X),
    ):
        with pytest.raises(error, match=message):
            call()


def test_auto_chooses_by_size_dimension_and_kernel():
    def chosen(n, d, kernel="gaussian", **known):
        return choose_settings(
            Lifting.of(kernel, "median" if kernel in ("gaussian", "laplace") else None),
            n,
            d,
            **known,
        )

    assert chosen(5000, 2) == lc.Exact()
    assert chosen(5001, 2) == lc.Fourier()
    assert chosen(5000, 2, clusters_known=False) == lc.Fourier()
    assert chosen(5001, 47) == lc.Fourier()
    assert chosen(5001, 48) == lc.Structured()
    assert chosen(5001, 48, "laplace") == lc.Fourier()
    assert chosen(20_000, None, lambda a, b: a @ b.T) == lc.Exact()
    assert chosen(20_001, None, lambda a, b: a @ b.T) == lc.Nystroem()
    assert chosen(10**9, None, "discrete") == lc.Exact()
    requested = Lifting.of("gaussian", "median", lc.Fourier(7))
    assert choose_settings(requested, 3, 2) == lc.Fourier(7)


def test_lifting_lists_options_that_differ_from_the_defaults():
    assert Lifting.of().given == ()
    assert Lifting.of("gaussian", "auto", rule_for_auto="median/4").given == ()
    assert Lifting.of("gaussian", "auto", rule_for_auto="median/4").rule == "median/4"
    assert Lifting.of("laplace", 2.0, "fourier").given == ("kernel", "bandwidth", "lift")


def test_unsupported_kernel_is_refused_on_construction():
    with pytest.raises(ValueError, match="needs the Gaussian kernel, not laplace"):
        Lifting.of("laplace", "median", "grid")
    for lift in ("fourier", "structured"):
        with pytest.raises(ValueError, match="not shift-invariant"):
            Lifting.of("discrete", "median", lift)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X, a: lc.make_lift(X, bandwith=1.0),
            r"make_lift\(\) has no argument 'bandwith'; did you mean 'bandwidth'",
        ),
        (lambda X, a: lc.represent(X, a, wieghts=a), "did you mean 'weights'"),
        (lambda X, a: lc.represent_samples([(X, a)], kernl="laplace"), "did you mean 'kernel'"),
        (lambda X, a: lc.cluster_distance(a, a, X, lifts="exact"), "did you mean 'lift'"),
        (
            lambda X, a: lc.represent(X, a, n_components=5),
            r"represent\(\) has no argument 'n_components'$",
        ),
    ],
)
def test_a_misspelled_keyword_gets_a_suggestion(call, message):
    with pytest.raises(TypeError, match=message):
        call([[0.0], [1.0], [5.0]], [0, 0, 1])
