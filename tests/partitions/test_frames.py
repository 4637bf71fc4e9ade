"""Data frames of labels, and containers that are refused at once."""

from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

import liftcluster as lc
from liftcluster.partitions.partition import as_partitions

RNG = np.random.default_rng(0)
X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0) + RNG.normal(size=(60, 2))
A = np.repeat([0, 1, 2], 20)
B = np.repeat(["x", "y"], [20, 40])
C = np.repeat([0, 1, 2, -1], 15)
RUNS = {"mine": A, "yours": B, "2": C}

# What several clusterings are given to, and numbers and names of the result.
VERBS = {
    "represent": (lambda runs: lc.represent(X, runs), attrgetter("masses", "partition_names")),
    "represent_samples": (
        lambda runs: lc.represent_samples([(X, runs)]),
        attrgetter("masses", "partition_names"),
    ),
    "distance_matrix": (lambda runs: lc.distance_matrix(runs, X), lambda D: (D, None)),
    "consensus": (
        lambda runs: lc.consensus(runs, 3, X, rng=0),
        lambda found: (found.labels, list(found.inputs)),
    ),
    "LiftedConsensus": (
        lambda runs: lc.LiftedConsensus(3, random_state=0).fit(X, partitions=runs),
        lambda found: (found.labels_, list(found.consensus_.inputs)),
    ),
    "stability": (
        lambda runs: lc.stability(X, runs, rng=0),
        lambda found: (found.points, found.name),
    ),
    "choose": (lambda runs: lc.choose(X, runs, rng=0), lambda found: (found.curve, found.best)),
    "resolution_tree": (
        lambda runs: lc.resolution_tree(X, runs, rng=0),
        lambda found: ([edge.mass for edge in found.edges], [row["run"] for row in found.rows()]),
    ),
    "diverse_subset": (
        lambda runs: lc.diverse_subset(runs, 2, X),
        lambda found: (found.nearest, found.names),
    ),
    "alternative": (
        lambda runs: lc.alternative(X, runs, 3, rng=0),
        lambda found: (found.labels, list(found.given)),
    ),
    "make_report": (
        lambda runs: lc.make_report(runs, X, rng=0),
        lambda page: ([], [part["name"] for part in page.to_dict()["clusterings"]]),
    ),
}


def _polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


@pytest.mark.parametrize("frame", [pd.DataFrame, _polars], ids=["pandas", "polars"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_data_frame_is_a_clustering_in_each_column(verb, frame):
    call, parts = VERBS[verb]
    (values, names), (expected, expected_names) = parts(call(frame(RUNS))), parts(call(RUNS))
    np.testing.assert_allclose(np.asarray(values), np.asarray(expected), atol=1e-9)
    assert names == expected_names


def test_labels_of_a_frame_keep_categories_and_missing_values():
    frame = pd.DataFrame(
        {
            "sizes": pd.Categorical(["small", "large", None], categories=["small", "large"]),
            7: pd.array([3, None, 1], dtype="Int64"),
        }
    )
    found = as_partitions(frame)
    assert list(found) == ["sizes", 7]
    assert found["sizes"].names == ("small", "large")
    assert found["sizes"].labels.tolist() == [0, 1, -1]
    assert found[7].names == (1, 3)
    assert found[7].labels.tolist() == [1, -1, 0]


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match="the same name"):
        as_partitions(pd.DataFrame([[0, 1], [1, 1]], columns=["a", "a"]))


@pytest.mark.parametrize("R", [np.eye(3)[A], RNG.dirichlet(np.ones(3), 60)])
def test_a_frame_of_memberships_is_refused_where_several_are_taken(R):
    with pytest.raises(ValueError, match=r"sum to one.*Partition.from_memberships\(frame\)"):
        lc.consensus(pd.DataFrame(R), 3, X)
    assert len(lc.consensus([pd.DataFrame(R), A], 3, X, rng=0).inputs) == 2


@pytest.mark.parametrize(
    "labels", [np.column_stack([A, C]), np.column_stack([A, A + 1.0]), np.array([A, C])]
)
def test_a_matrix_of_labels_says_what_to_do(labels):
    with pytest.raises(ValueError, match=r"list\(labels.T\) if each column is one"):
        lc.consensus(labels, 3, X)


def test_a_matrix_of_text_says_what_to_do():
    with pytest.raises(TypeError, match=r"list\(labels.T\) for a clustering in each"):
        lc.consensus(np.column_stack([B, B]), 3, X)


def test_a_frame_of_one_column_in_place_of_labels_says_which_to_take():
    with pytest.raises(ValueError, match=r"use frame\['mine'\] for labels"):
        lc.distance(pd.DataFrame({"mine": A}), C, X)


# Every public function that takes points.
POINTS = {
    "compare": lambda X: lc.compare(A, B, X),
    "distance": lambda X: lc.distance(A, B, X),
    "second sample": lambda Z: lc.distance(A, B, X, Y=Z),
    "distance_matrix": lambda X: lc.distance_matrix([A, B], X),
    "consensus": lambda X: lc.consensus([A, B], 3, X),
    "represent": lambda X: lc.represent(X, A),
    "precomputed": lambda X: lc.represent(X, A, kernel=lc.Precomputed(np.eye(60))),
    "callable": lambda X: lc.represent(X, A, kernel=lambda x, y: np.asarray(x) @ np.asarray(y).T),
    "stability": lambda X: lc.stability(X, [A, B]),
    "resolution_tree": lambda X: lc.resolution_tree(X, [B, A]),
    "alternative": lambda X: lc.alternative(X, A, 3),
    "affinities": lambda X: lc.affinities(X, A),
    "significance": lambda X: lc.significance(A, B, X),
    "bandwidth_profile": lambda X: lc.bandwidth_profile(A, B, X),
    "drift": lambda X: lc.drift(X, X, (A, A)),
    "bandwidth": lambda X: lc.bandwidth(X),
    "make_lift": lambda X: lc.make_lift(X),
    "base_partitions": lambda X: lc.base_partitions(X, 3),
    "sample_partitions": lambda X: lc.sample_partitions(X, 3, 2),
    "LiftedConsensus": lambda X: lc.LiftedConsensus(3).fit(X),
    "ClusterLifter": lambda X: lc.ClusterLifter().fit(X, A),
    "MaxMMDClustering": lambda X: lc.MaxMMDClustering(3).fit(X),
    "NeighbourCut": lambda X: lc.NeighbourCut(3).fit(X),
    "make_report": lambda X: lc.make_report({"a": A, "b": B}, X),
    "plot": lambda X: lc.plot.points(X, A),
    "predict": lambda Z: lc.consensus([A, B], 3, X, rng=0).predict(Z),
}


class _Cells:
    """Stands for an AnnData: reading a row at a time never ends."""

    obs = obsm = property(lambda self: {})
    shape = (60, 2)

    def __len__(self):
        return 60

    def __getitem__(self, row):
        raise AssertionError("a row was read")


@pytest.mark.parametrize("name", POINTS)
def test_anndata_as_points_is_refused_and_names_its_functions(name):
    with pytest.raises(TypeError, match=r"expected an array; lc.anndata has the same functions"):
        POINTS[name](_Cells())


@pytest.mark.parametrize("name", POINTS)
def test_a_lazy_frame_as_points_says_collect(name):
    lazy = pytest.importorskip("polars").DataFrame(X).lazy()
    with pytest.raises(TypeError, match=r"LazyFrame, which is not computed yet; use .collect\(\)"):
        POINTS[name](lazy)


@pytest.mark.parametrize(
    "call",
    [
        lambda cells: lc.consensus(cells, 3, X),
        lambda cells: lc.distance_matrix(cells, X),
        lambda cells: lc.stability(X, cells),
        lambda cells: lc.choose(X, cells),
        lambda cells: lc.make_report(cells, X),
        lambda cells: lc.compare(cells, A, X),
        lambda cells: lc.Partition.from_labels(cells),
        lambda cells: lc.Partition.from_memberships(cells),
    ],
)
def test_the_same_in_place_of_labels(call):
    with pytest.raises(TypeError, match=r"lc.anndata has the same functions"):
        call(_Cells())
    lazy = pytest.importorskip("polars").DataFrame(RUNS, strict=False).lazy()
    with pytest.raises(TypeError, match=r"use .collect\(\)"):
        call(lazy)


def test_a_real_anndata_is_refused():
    cells = pytest.importorskip("anndata").AnnData(X)
    with pytest.raises(TypeError, match=r"X is an AnnData.*lc.anndata.compare\(adata"):
        lc.compare(A, B, cells)
