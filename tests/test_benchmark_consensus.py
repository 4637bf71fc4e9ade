"""The benchmark of consensus methods, on three small data sets."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from benchmarks.consensus import mean_ranks, nemenyi, run, table
from benchmarks.labelled import labelled_sets


@pytest.fixture
def folder(tmp_path):
    X, y = load_iris(return_X_y=True)
    for name, rows in (
        ("flowers", slice(0, 150, 2)),
        ("others", slice(50, 150, 2)),
        ("rest", slice(1, 150, 2)),
    ):
        lines = [",".join(map(str, [*x, 1, c])) for x, c in zip(X[rows], y[rows], strict=True)]
        (tmp_path / f"{name}.csv").write_text("a,b,c,d,e,class\n" + "\n".join(lines))
    return tmp_path


def test_data_sets_are_standardised_and_subsampled(folder):
    pytest.importorskip("pandas")
    found = list(labelled_sets(folder, 40))
    assert [name for name, _, _ in found] == ["flowers", "others", "rest"]
    for _, X, classes in found:
        assert X.shape == (40, 4)  # a constant column is left out
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0), 1)
        assert len(classes) == 40


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_data_set_and_ensemble_has_indices_for_every_method(folder):
    pytest.importorskip("pandas")
    rows = ["lift_km", "lwgp", "cspa, spectral"]
    found = run(folder, 60, 1, rows)
    values = np.array(found["values"])
    assert values.shape == (3, 2, 3, 2)  # rows, ensembles, sets, indices
    assert (values[:, :, 0, 0] > 0.4).all()
    assert found["sets"] == ["flowers", "others", "rest"]
    lines = list(table(found))
    assert len(lines) == 2 + 3 + 1
    assert lines[2].startswith(
        f"| lift_km | {values[0, 0, :, 0].mean():.3f} | {values[0, 0, ::2, 0].mean():.3f}"
    )
    assert lines[-1].startswith("\n3 sets")


def test_ties_have_their_mean_rank():
    scores = np.array([[0.9, 0.5], [0.9, 0.7], [0.1, 0.6]])
    np.testing.assert_allclose(mean_ranks(scores), [2.25, 1.25, 2.5])


def test_critical_difference_agrees_with_demsar():
    assert nemenyi(4, 14) == pytest.approx(1.25, abs=0.005)  # Demšar (JMLR 2006), section 3.2.2
