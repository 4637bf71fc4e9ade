"""Without the compiled kernels, a process warns once if they would speed up its work."""

import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.lifts import _native, grid
from liftcluster.lifts.fourier import draw_fourier_lift
from liftcluster.lifts.grid import fit_grid_lift
from liftcluster.lifts.nystroem import nystroem_from_landmarks

NAME = f"{_native.__name__}._kernels"
WARNING = "the compiled kernels of liftcluster were not built"


@pytest.fixture
def missing(monkeypatch):
    """Simulate kernels that were not built; more than 10,000 features warn."""
    monkeypatch.setattr(_native, "_loaded", None)
    monkeypatch.setattr(_native, "_why_missing", "were not built")
    monkeypatch.setattr(_native, "_computed", 0)
    monkeypatch.setattr(_native, "_MOST_WITHOUT_WARNING", 10_000)
    monkeypatch.setattr(grid, "nufft", lambda: None)


@pytest.fixture
def package_folder(monkeypatch, tmp_path):
    """An empty folder from which Python imports the kernels."""
    monkeypatch.delattr(_native, "_kernels", raising=False)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.setattr(_native, "__path__", [str(tmp_path)])
    return tmp_path


def lift_points(kind, n, times=1):
    """Sums of n points in the plane; each has 200 Fourier features."""
    X = np.random.default_rng(0).uniform(-1, 1, (n, 2))
    if kind == "fourier":
        lift = draw_fourier_lift(lc.Gaussian(1.0), 2, 200, rng=np.random.default_rng(0))
    elif kind == "nystroem":
        lift = nystroem_from_landmarks(lc.Gaussian(1.0), X[:150])
    else:
        lift = fit_grid_lift(lc.Gaussian(1.0), (np.full(2, -1.0), np.full(2, 1.0)), eps=1e-6)
    for _ in range(times):
        lift.sums(X, np.ones((n, 1)))


@pytest.mark.parametrize("kind", ["fourier", "grid", "nystroem"])
def test_large_inputs_warn_once(missing, kind):
    with pytest.warns(UserWarning, match=WARNING) as caught:
        lift_points(kind, 200, times=3)
    assert len(caught) == 1
    assert "--no-binary liftcluster liftcluster" in str(caught[0].message)


def test_many_small_calls_warn_once(missing):
    with pytest.warns(UserWarning, match=WARNING) as caught:
        lift_points("fourier", 2, times=100)
    assert len(caught) == 1


def test_small_inputs_do_not_warn(missing):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lift_points("fourier", 49)


def test_disabled_kernels_do_not_warn(missing, monkeypatch):
    monkeypatch.setattr(_native, "_why_missing", _native._load("off")[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lift_points("fourier", 200)


def test_the_command_line_shows_the_warning(missing, run, tmp_path):
    X = np.random.default_rng(0).standard_normal((100, 2))
    table = np.column_stack([X, X[:, 0] > 0, X[:, 1] > 0])
    path = tmp_path / "points.csv"
    np.savetxt(path, table, "%g", delimiter=",", header="x,y,a,b", comments="")
    options = ["--columns", "x,y", "--labels", "a,b", "--measures", "lift_emd"]
    code, _, stderr = run("compare", path, *options, "--lift", "fourier", "--n-components", 200)
    assert code == 0
    assert stderr.count(f"liftcluster: warning: {WARNING}") == 1


def test_missing_and_unloadable_kernels_have_different_messages(package_folder):
    assert _native._load("") == (None, "were not built on installation")
    assert _native._load("off") == (None, None)
    (package_folder / f"_kernels{EXTENSION_SUFFIXES[0]}").write_bytes(b"not a library")
    loaded, why = _native._load("")
    assert loaded is None
    assert why.startswith("cannot be loaded: ")
    assert "_kernels" in why
