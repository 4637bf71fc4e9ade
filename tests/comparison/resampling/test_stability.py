"""Stability: known by construction, its null, its parts by literal oracles, and bad inputs."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import liftcluster as lc
from liftcluster.comparison.resampling import structureless
from liftcluster.comparison.resampling.replicates import as_fit, replicates
from support.amount import also

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [7.0, 7.0]])


def blobs(n=400, centres=CENTRES, seed=0):
    rng = np.random.default_rng(seed)
    which = np.arange(n) % len(centres)
    return centres[which] + 0.7 * rng.standard_normal((n, 2)), which


@pytest.mark.parametrize("seed", [0, 1, *map(also, range(2, 10))])
@pytest.mark.parametrize("resample", ["halves", "bootstrap", "subsample", "seeds", "noise"])
def test_separated_blobs_are_stable(resample, seed):
    # So few that some clusters of structureless data are always found again.
    X, _ = blobs(240, 2 * CENTRES)
    found = lc.stability(X, KMeans(4, n_init=5), n_replicates=10, resample=resample, rng=seed)
    assert (found.clusters > 0.95).all()
    assert found.score > 0.95
    np.testing.assert_array_equal(found.jaccard, 1)
    np.testing.assert_allclose(found.points, 1, atol=1e-9)
    assert found.replicates.shape == (10, 4)
    assert found.unstable == []


def test_exactly_the_clusters_that_split_a_blob_are_unstable():
    X, which = blobs()
    found = lc.stability(X, KMeans(6, n_init=5), n_replicates=20, rng=0)
    labels = found.reference.labels
    blob = [np.bincount(which[labels == c]).argmax() for c in range(6)]
    split = [c for c in range(6) if blob.count(blob[c]) > 1]
    assert found.unstable == split
    assert (found.clusters[[c for c in range(6) if c not in split]] > 0.95).all()
    for c in split:  # each names the other part of its blob, with the largest share
        flows = found.outcome.flows[c].copy()
        flows[c] = 0
        assert blob[flows.argmax()] == blob[c]
        assert f"{flows.argmax()} (" in found.fate(c)
    inside = np.isin(labels, split)
    assert found.points[inside].mean() < 0.9 < found.points[~inside].min()


@pytest.mark.parametrize("d", [2, 5])
def test_uniform_noise_has_no_stable_cluster(d):
    X = np.random.default_rng(d).random((250, d))
    for k in (2, 4, 7):
        found = lc.stability(X, KMeans(k, n_init=3), n_replicates=10, rng=0)
        assert found.clusters.max() < 0.2, k


@pytest.mark.long
@pytest.mark.parametrize("d", [1, 2, 3, 10])
@pytest.mark.parametrize("k", range(2, 16))
def test_uniform_noise_has_no_stable_cluster_for_any_number_of_clusters(d, k):
    X = np.random.default_rng(d).random((300, d))
    assert lc.stability(X, KMeans(k, n_init=3), n_replicates=20, rng=0).clusters.max() < 0.2


def test_other_seeds_have_no_null_unless_it_is_asked_for():
    """k-means with many starts finds the same optimum on structureless data as well."""
    X, _ = blobs(200)
    options = {"n_replicates": 4, "resample": "seeds", "rng": 0}
    assert len(lc.stability(X, KMeans(4, n_init=10), **options).null) == 0
    asked = lc.stability(X, KMeans(4, n_init=10), null=True, **options)
    assert len(asked.null) == 10


def test_without_a_null_noise_seems_stable():
    X = np.random.default_rng(0).random((300, 2))
    plain = lc.stability(X, KMeans(4, n_init=3), n_replicates=10, null=False, rng=0)
    assert plain.clusters.min() > 0.6
    assert plain.p_value is None
    assert len(plain.null) == 0


def test_a_cluster_that_only_one_sample_has_is_found():
    X, which = blobs()
    Y, others = blobs(n=300, centres=CENTRES[:3], seed=1)
    found = lc.stability(X, [(Y, others), (Y[::2], others[::2])], reference=which, rng=0)
    assert found.unstable == [3]
    assert (found.clusters[:3] > 0.5).all()
    assert found.jaccard is None
    again = lc.stability(None, [(X, which), (Y, others), (Y[::2], others[::2])], rng=0)
    np.testing.assert_array_equal(again.clusters, found.clusters)


def test_two_samples_of_one_population_have_the_same_clusters():
    """Their vectors differ by sampling noise, which is taken away."""
    X, which = blobs(200)
    samples = [blobs(200, seed=seed) for seed in range(1, 8)]
    found = lc.stability(X, samples, reference=which, null=False, rng=0)
    assert found.clusters.min() > 0.95


def test_copies_of_one_partition_are_perfectly_stable():
    X, which = blobs()
    found = lc.stability(X, [which, which[::-1][::-1], (which + 1) % 4], rng=0)
    np.testing.assert_allclose(found.clusters, 1)
    np.testing.assert_allclose(found.score, 1)
    assert found.n_replicates == 2


def test_the_reference_of_runs_is_the_one_nearest_to_the_others_unless_it_is_named():
    X, which = blobs()
    rough = np.minimum(which, 1)
    runs = {"rough": rough, "one": which, "two": which}
    assert lc.stability(X, runs, rng=0).reference.k == 4
    named = lc.stability(X, runs, reference="rough", rng=0)
    assert named.reference.k == 2
    assert named.n_replicates == 2
    given = lc.stability(X, runs, reference=which, rng=0)
    assert given.n_replicates == 3


def test_the_jaccard_index_is_hennigs():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    reference, runs = rng.integers(0, 3, 60), [rng.integers(0, 4, 60) for _ in range(3)]
    found = lc.stability(X, runs, reference=reference, rng=0)
    for b, run in enumerate(runs):
        for c in range(3):
            own = set(np.flatnonzero(reference == c))
            others = [set(np.flatnonzero(run == j)) for j in range(4)]
            best = max(len(own & other) / len(own | other) for other in others)
            assert found.outcome.jaccard[b, c] == pytest.approx(best)


def test_a_bootstrap_counts_points_as_often_as_they_are_drawn():
    X, _ = blobs(40)
    seen = []

    def fit(points):
        seen.append(np.sort(points[:, 0]))
        return (points[:, 0] > 3).astype(int)

    found = list(replicates(as_fit(fit), X, "bootstrap", 3, np.random.default_rng(0)))
    for replicate, points in zip(found, seen, strict=True):
        assert replicate.counts.sum() == 40
        np.testing.assert_array_equal(
            np.sort(np.repeat(X[:, 0], replicate.counts.astype(int))), points
        )


def test_halves_are_disjoint_pairs():
    X, _ = blobs(41)
    found = list(replicates(as_fit(KMeans(2, n_init=1)), X, "halves", 4, np.random.default_rng(0)))
    for one, other in (found[:2], found[2:]):
        np.testing.assert_array_equal(one.counts + other.counts, 1)
        assert one.known.all()  # k-means predicts the other half


def test_points_left_out_count_only_where_the_clusterer_predicts():
    X, _ = blobs(80)
    rng = np.random.default_rng(0)
    found = next(iter(replicates(as_fit(AgglomerativeClustering(4)), X, "halves", 1, rng)))
    np.testing.assert_array_equal(found.known, found.counts > 0)


@pytest.mark.parametrize(
    "source",
    [
        AgglomerativeClustering(4),
        GaussianMixture(4, n_init=3),
        make_pipeline(StandardScaler(), KMeans(4, n_init=5)),
        lambda X: (X[:, 0] > 3) * 2 + (X[:, 1] > 3),
    ],
    ids=["ward", "mixture", "pipeline", "function"],
)
def test_any_clusterer_or_function_will_do(source):
    X, _ = blobs(200)
    found = lc.stability(X, source, n_replicates=4, null=False, rng=0)
    np.testing.assert_allclose(found.clusters, 1, atol=1e-6)


def test_a_rule_that_ignores_the_data_is_no_more_stable_than_on_structureless_data():
    X, _ = blobs(200)
    found = lc.stability(X, lambda X: (X[:, 0] > 3).astype(int), n_replicates=4, rng=0)
    assert found.score == 0
    assert found.p_value == 1


def test_noise_of_the_reference_has_no_value_and_that_of_replicates_costs():
    X, _ = blobs()
    X = np.vstack([X, [[50.0, 50.0]]])
    found = lc.stability(X, DBSCAN(eps=1.0), n_replicates=4, null=False, rng=0)
    noise = found.reference.labels < 0
    assert noise[-1]
    np.testing.assert_array_equal(np.isnan(found.points), noise)
    nothing = lc.stability(X, [[-1] * 400 + [0]], reference=found.reference, rng=0)
    assert nothing.clusters.max() < 0.1


def test_the_same_seed_gives_the_same_answer():
    X, _ = blobs(100)
    one, two = (lc.stability(X, KMeans(5, n_init=1), n_replicates=6, rng=3) for _ in range(2))
    np.testing.assert_array_equal(one.replicates, two.replicates)
    assert one.level == two.level


def test_names_of_clusters_do_not_matter():
    X, which = blobs(120)
    names = np.array(["d", "b", "a", "c"])
    runs = [np.minimum(which, 2), which]
    plain = lc.stability(X, runs, reference=which, rng=0)
    named = lc.stability(X, [names[run] for run in runs], reference=names[which], rng=0)
    order = [named.reference.names.index(name) for name in names]
    np.testing.assert_allclose(named.clusters[order], plain.clusters, atol=1e-9)


def test_weights_of_the_reference_are_used():
    """A point of weight two is two points."""
    X, which = blobs(60)
    runs = [np.minimum(which, 2)]
    twice = np.arange(60) < 30
    weighted = lc.Partition.from_labels(which, 1.0 + twice)
    rows = np.concatenate([np.arange(60), np.flatnonzero(twice)])
    options = {"null": False, "rng": 0, "lift": lc.make_lift(X, rng=0)}
    one = lc.stability(X, runs, reference=weighted, **options)
    two = lc.stability(X[rows], [runs[0][rows]], reference=which[rows], **options)
    np.testing.assert_allclose(one.replicates, two.replicates, atol=1e-9)


def test_the_result_shows_itself():
    X, _ = blobs(200)
    found = lc.stability(X, KMeans(5, n_init=3), n_replicates=6, rng=0)
    assert "disjoint halves" in str(found)
    assert "<table" in found._repr_html_()
    frame = found.to_frame()
    np.testing.assert_array_equal(frame["stability"], found.clusters)
    assert list(frame.index) == list(found.reference.names)
    assert found.to_dict()["score"] == found.score
    ax = found.plot()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [
        str(found.reference.names[i]) for i in np.argsort(-found.clusters, kind="stable")
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: lc.stability(X, KMeans), "write KMeans()"),
        (lambda X: lc.stability(X, KMeans(1)), "one cluster"),
        (lambda X: lc.stability(X, AgglomerativeClustering(2), resample="seeds"), "random_state"),
        (lambda X: lc.stability(X, KMeans(2), resample="thirds"), "resample must be one of"),
        (lambda X: lc.stability(X, KMeans(2), n_replicates=0), "at least 1"),
        (lambda X: lc.stability(X, [[0, 1] * 10]), "at least two"),
        (lambda X: lc.stability(X, [[0, 1] * 10] * 2, n_replicates=3), "cannot apply"),
        (lambda X: lc.stability(X, [[0, 1] * 10] * 2, resample="halves"), "cannot apply"),
        (lambda X: lc.stability(X, [[0, 1] * 10] * 2, reference="x"), "there is no run 'x'"),
        (lambda X: lc.stability(X[:3], KMeans(2)), "four points"),
        (lambda X: lc.stability(X, lambda X: [0, 1]), "one label for each"),
        (lambda X: lc.stability(X, 3), "clusterer"),
        (lambda X: lc.stability(X, [(X, [0, 1] * 10)]), "give both X and reference"),
        (lambda X: lc.stability(X, KMeans(2), reference=[0, 1]), "2 labels for 20 points"),
    ],
)
def test_invalid_input_gets_one_clear_error(call, message):
    X, _ = blobs(20)
    with pytest.raises(
        (TypeError, ValueError), match=message.replace("(", r"\(").replace(")", r"\)")
    ):
        call(X)


class Seeded(KMeans):
    """k-means that records the seeds it is fitted with."""

    seen: ClassVar[list[int]] = []

    def fit_predict(self, X, y=None, sample_weight=None):
        self.seen.append(self.random_state)
        return super().fit_predict(X)


@pytest.mark.parametrize("resample", ["halves", "seeds"])
def test_a_given_seed_is_that_of_the_reference_and_replicates_have_others(resample):
    X = np.random.default_rng(0).uniform(size=(200, 2))  # no clusters: each seed finds others
    Seeded.seen.clear()
    found = lc.stability(
        X, Seeded(7, n_init=1, random_state=5), n_replicates=6, resample=resample, null=False, rng=0
    )
    own = KMeans(7, n_init=1, random_state=5).fit_predict(X)
    assert lc.distance(found.reference, own, measure="rand") == 0
    assert Seeded.seen[0] == 5
    assert len(set(Seeded.seen)) == 7


def test_seeds_of_the_parts_of_a_pipeline_are_drawn():
    X, _ = blobs(60)
    pipeline = make_pipeline(StandardScaler(), Seeded(3, n_init=1))
    Seeded.seen.clear()
    lc.stability(X, pipeline, n_replicates=3, null=False, rng=0)
    assert len(set(Seeded.seen)) == 4
    assert None not in Seeded.seen


def test_the_extent_of_the_points_is_computed_once_for_all_random_regions(monkeypatch):
    calls = []
    extent = structureless._unit
    monkeypatch.setattr(structureless, "_unit", lambda X: calls.append(1) or extent(X))
    X, which = blobs(80)
    lc.stability(X, [which, which % 2, which % 3], rng=0)
    assert len(calls) == 1
    lc.stability(X, [(X[::2], which[::2]), (X[1::2], which[1::2])], reference=which, rng=0)
    assert len(calls) == 3  # once for each sample


@pytest.mark.parametrize("block_bytes", [1, 2**20])  # 16 points at a time, and all
def test_regions_are_those_of_the_nearest_drawn_points(block_bytes, monkeypatch):
    monkeypatch.setattr(structureless, "_BLOCK_BYTES", block_bytes)
    X = np.random.default_rng(0).integers(0, 9, (100, 2))  # many are equally near
    drawn = [np.array(rows) for rows in ([5], [7, 90, 40, 3], [99, 0, 50])]
    for rows, labels in zip(drawn, structureless.regions_around(X, drawn), strict=True):
        squares = ((X[:, None] - X[rows]) ** 2).sum(axis=2)  # exact integers
        np.testing.assert_array_equal(labels, squares.argmin(axis=1))


def test_the_reference_among_the_runs_is_named():
    X, which = blobs(80)
    runs = {"two": which % 2, "four": which, "again": which}
    found = lc.stability(X, runs, rng=0)  # "four" and "again" are at distance 0
    assert found.name == "four"
    assert found.summary()[0].startswith("the whole of four: ")
    assert found.to_dict()["reference"] == "four"
    assert lc.stability(X, runs, reference="two", rng=0).name == "two"
    assert lc.stability(X, runs, reference=which // 2, rng=0).name is None
    assert lc.stability(X, list(runs.values()), rng=0).summary()[0].startswith("the whole of run 1")


def test_fates_can_be_told_with_other_names():
    X, which = blobs(80)
    found = lc.stability(X, [which // 2, which // 2], reference=which, rng=0)
    told = found.fates(["a", "b", "c", "d"])
    assert told != found.fates()
    for letter, number in zip("abcd", range(4), strict=True):
        told = [line.replace(f" {letter} (", f" {number} (") for line in told]
    assert told == found.fates() == [row["fate"] for row in found.rows()]
