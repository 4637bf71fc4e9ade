"""The summary of points is the same in memory, in blocks and in Dask collections."""

from functools import partial

import dask
import numpy as np
import pytest

import liftcluster as lc
from liftcluster.kernels import summary
from liftcluster.lifts.choice import Lifting, choose_settings, fit_lift
from liftcluster.streaming import sources
from liftcluster.streaming.passes import summarize_sources
from liftcluster.streaming.sources import as_source
from support.stored import FORMS

SIZES = (2600, 900)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 100 points of two coordinates."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 100 * 2 * 8)
    monkeypatch.setattr(sources, "_MULTIPLE", 1)


def point_sets(count):
    rng = np.random.default_rng(0)
    found = [rng.standard_normal((n, 2)) + i for i, n in enumerate(SIZES[:count])]
    found[-1][SIZES[count - 1] // 2] = [-7.0, 11.0]  # a corner of the box, perhaps not sampled
    return found


def rows_of(count):
    """Rows for every purpose, of each point set."""
    sizes = SIZES[:count]
    if count > 1:
        return {"pool": summary.pool_rows(sizes)}
    return {
        "bandwidth": [summary.bandwidth_rows(sizes[0])],
        "centre": [summary.centre_rows(sizes[0])],
        "landmarks": [np.array([0, 1, 99, 100, 1999, 2599])],
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("with_box", [False, True])
def test_summary_has_the_same_rows_and_bounding_box_as_in_memory(tmp_path, form, count, with_box):
    points, rows = point_sets(count), rows_of(count)
    stored = [as_source(FORMS[form](tmp_path, f"X{i}", X)) for i, X in enumerate(points)]
    expected = summary.summarize_points(points, rows, with_box)
    with dask.config.set(scheduler="sync"):
        found = summarize_sources(stored, SIZES[:count], False, rows, with_box)
    assert (found.n, found.d) == (expected.n, expected.d) == (sum(SIZES[:count]), 2)
    assert set(found.samples) == set(expected.samples) == set(rows)
    for purpose in rows:
        np.testing.assert_array_equal(found.samples[purpose], expected.samples[purpose])
    if not with_box:
        assert found.box is None
        return
    np.testing.assert_array_equal(found.box, expected.box)
    low, high = found.box
    assert low[0] == -7.0
    assert high[1] == 11.0


def test_summary_in_memory_has_the_requested_rows():
    points, rows = point_sets(2), rows_of(2)
    found = summary.summarize_points(points, rows, True)
    expected = np.concatenate([X[own] for X, own in zip(points, rows["pool"], strict=True)])
    np.testing.assert_array_equal(found.samples["pool"], expected)
    np.testing.assert_array_equal(
        found.box, [np.concatenate(points).min(0), np.concatenate(points).max(0)]
    )


def test_objects_have_a_summary_without_coordinates():
    words = ["tea", "eat", "zoo"]
    found = summary.summarize_points([words], {"landmarks": [np.array([0, 2])]}, False)
    assert (found.n, found.d, found.samples["landmarks"]) == (3, None, ["tea", "zoo"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "settings", [lc.Fourier(30), lc.Structured(64), lc.Grid(1e-3), lc.Nystroem(20)], ids=str
)
def test_lift_is_the_same_for_every_storage_format(tmp_path, form, settings):
    (X,) = point_sets(1)
    lifting = Lifting.of("gaussian", "median", settings)
    source = as_source(FORMS[form](tmp_path, "X", X))
    lifts = []
    for summarize in (
        partial(summary.summarize_points, [X]),
        partial(summarize_sources, [source], [len(X)], False),
    ):
        chosen = choose_settings(lifting, len(X), 2)
        with dask.config.set(scheduler="sync"):
            lifts.append(
                fit_lift(lifting, chosen, [len(X)], 2, summarize, np.random.default_rng(3))
            )
    assert lifts[0].fingerprint() == lifts[1].fingerprint()


@pytest.mark.parametrize("n", [1, 7, 999, 1000, 1001, 25_000])
def test_sampled_rows_are_sorted_and_in_range(n):
    for rows in (summary.bandwidth_rows(n), summary.centre_rows(n), *summary.pool_rows([n, 3])):
        assert (np.diff(rows) > 0).all()
        assert 0 <= rows[0] <= rows[-1] < max(n, 3)
    assert len(summary.bandwidth_rows(n)) == min(n, 1000)
