"""Representations: distances by the kernel trick, sums, addition, saving and loading."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.kernel_approximation import RBFSampler

import liftcluster as lc
from liftcluster._util import memory as _memory
from support.generators import blobs, points_and_partitions, soft_memberships
from support.oracles import cluster_products, distance_from_products, gram

FEATURE_LIFTS = [
    {"lift": lc.Fourier(sampling="iid")},
    {"lift": lc.Fourier(sampling="orthogonal")},
    {"lift": lc.Fourier(33, sampling="quasi")},
    {"lift": lc.Nystroem(20)},
]
ANY_LIFT = [{"lift": "exact"}, *FEATURE_LIFTS]


@given(points_and_partitions(max_points=12))
@settings(max_examples=20)
def test_distances_agree_with_the_kernel_trick(case):
    X, partitions = case
    kernel = lc.Gaussian(1.0)
    rep = lc.represent(X, partitions, kernel=kernel)
    R = np.hstack([p.memberships.toarray() * p.weights[:, None] for p in partitions])
    G = cluster_products(gram(kernel, X), R)
    for normalise in (True, False):
        D = rep.distances(normalise=normalise)
        scale = 1 if normalise else np.sqrt(G.max())
        for a in range(len(G)):
            for b in range(len(G)):
                expected = distance_from_products(G, a, b, normalise=normalise)
                # The oracle subtracts nearly equal numbers: the root of a rounding error.
                assert D[a, b] == pytest.approx(expected, abs=3e-7 * scale)


def test_norms_are_those_of_the_sums():
    X, labels = blobs(np.random.default_rng(0), 40, 3)
    rep = lc.represent(X, labels, bandwidth=2.0)
    R = np.eye(4)[labels]
    K = gram(lc.Gaussian(2.0), X)
    np.testing.assert_allclose(rep.norms, np.sqrt(np.diag(R.T @ K @ R)))
    np.testing.assert_allclose(rep.vectors * rep.norms[:, None], rep.sums)


@pytest.mark.parametrize(
    "of", ["inner_products", "distances", "inner_product_errors", "distance_errors"]
)
def test_vectors_are_normalised_by_default(of):
    X, labels = blobs(np.random.default_rng(0), 40, 3)
    compute = getattr(lc.represent(X, labels, lift=lc.Fourier(50), rng=0), of)
    np.testing.assert_array_equal(compute(), compute(normalise=True))
    assert np.abs(compute() - compute(normalise=False)).max() > 0.1


def test_grid_has_error_bounds_only_for_unit_vectors():
    X, labels = blobs(np.random.default_rng(0), 40, 2)
    rep = lc.represent(X, labels, lift="grid")
    np.testing.assert_array_equal(
        rep.distance_errors(), rep.lift.distance_bound(rep.sums, rep.sums)
    )
    assert rep.distance_errors(normalise=False) is None
    assert rep.inner_product_errors() is None


def test_errors_are_unknown_without_a_lift():
    rep = replace(lc.represent([[0.0], [1.0]], [0, 1]), lift=None)
    assert rep.inner_product_errors() is None
    assert rep.distance_errors() is None
    assert rep.distance_errors(normalise=False) is None
    assert rep.max_error is None


@pytest.mark.parametrize("table", ["inner_products", "distances"])
def test_pairs_of_clusters_that_do_not_fit_in_memory_are_refused(monkeypatch, table):
    rep = lc.represent(np.arange(300.0)[:, None], np.arange(300), lift=lc.Fourier(2))
    monkeypatch.setattr(_memory, "_LITTLE", 2**10)
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", str(2**20 / 2**30))
    with pytest.raises(MemoryError, match="all pairs of 300 and 300 clusters"):
        getattr(rep, table)()


@pytest.mark.parametrize("array", ["sums", "cluster_weights", "total_weights", "owner"])
def test_arrays_of_a_representation_are_read_only(tmp_path, array):
    rep = lc.represent([[0.0], [1.0]], {"p": [0, 1]}, lift=lc.Fourier(4), rng=0)
    rep.save(tmp_path / "rep.npz")
    for one in (rep, rep[0], rep + rep, lc.load_representation(tmp_path / "rep.npz")):
        with pytest.raises(ValueError, match="read-only"):
            getattr(one, array)[0] = 0


@pytest.mark.parametrize("options", ANY_LIFT, ids=str)
def test_binary_memberships_give_exactly_the_sums_of_labels(options):
    X, labels = blobs(np.random.default_rng(0), 150, 4)
    R = np.eye(4)[labels]
    hard, dense, sparse = (
        lc.represent(X, [p], rng=3, **options)
        for p in (labels, lc.as_partition(R), lc.as_partition(sp.coo_array(R)))
    )
    np.testing.assert_array_equal(dense.sums, hard.sums)
    np.testing.assert_array_equal(sparse.sums, hard.sums)


@pytest.mark.parametrize("options", FEATURE_LIFTS, ids=str)
def test_soft_partition_with_hard_rows_has_weighted_feature_sums(options):
    X, labels = blobs(np.random.default_rng(0), 150, 4)
    R = np.eye(4)[labels]
    R[0] = 0.25
    lift = lc.make_lift(X, rng=0, **options)
    expected = R.T @ lift.features(X)
    np.testing.assert_allclose(lc.represent(X, [R], lift=lift).sums, expected, atol=1e-10)


@pytest.mark.parametrize("options", ANY_LIFT, ids=str)
@pytest.mark.parametrize("kernel", [lc.Gaussian(2.0), lc.Discrete()], ids=str)
def test_integer_weights_equal_repeated_points(options, kernel):
    if isinstance(kernel, lc.Discrete) and options["lift"] != "exact":
        options = {"lift": "exact"}
    X, labels = blobs(np.random.default_rng(0), 60, 3)
    twice = np.arange(60) % 3 == 0
    lift = options
    if options["lift"] != "exact":
        lift = {"lift": lc.make_lift(X, kernel=kernel, rng=0, **options)}
    weighted = lc.represent(X, labels, kernel=kernel, weights=1.0 + twice, **lift)
    repeated = lc.represent(
        np.vstack([X, X[twice]]), np.concatenate([labels, labels[twice]]), kernel=kernel, **lift
    )
    np.testing.assert_allclose(weighted.masses, repeated.masses)
    np.testing.assert_allclose(
        weighted.inner_products(normalise=False),
        repeated.inner_products(normalise=False),
        rtol=1e-10,
    )


def test_points_of_weight_zero_do_not_count():
    X, labels = blobs(np.random.default_rng(0), 60, 3)
    w = np.where(np.arange(60) < 40, 1.0, 0.0)
    kernel = lc.Gaussian(2.0)
    weighted = lc.represent(X, labels, kernel=kernel, weights=w)
    fewer = lc.represent(X[:40], labels[:40], kernel=kernel)
    np.testing.assert_allclose(weighted.distances(), fewer.distances(), atol=1e-9)


@pytest.mark.parametrize("options", FEATURE_LIFTS, ids=str)
def test_two_blocks_added_equal_one_pass(options):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 300, 4)
    soft = lc.as_partition(soft_memberships(rng, 300, 3))
    lift = lc.make_lift(X, rng=0, **options)

    def lifted(rows):
        parts = {"hard": labels[rows], "soft": lc.as_partition(soft.memberships[rows])}
        return lc.represent(X[rows], parts, lift=lift)

    whole = lifted(slice(0, 300))
    added = lifted(slice(0, 120)) + lifted(slice(120, 300))
    assert added.cluster_names == whole.cluster_names
    assert added.partition_names == whole.partition_names
    np.testing.assert_allclose(added.sums, whole.sums, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(added.masses, whole.masses)
    np.testing.assert_array_equal(added.owner, whole.owner)


def test_blocks_need_not_hold_the_same_clusters():
    lift = lc.make_lift([[0.0]], lift=lc.Fourier(10), bandwidth=1.0, rng=0)
    a = lc.represent([[0.0], [1.0]], {"p": ["x", "y"], "q": [1, 1]}, lift=lift)
    b = lc.represent([[2.0], [3.0]], {"p": ["z", "y"], "q": [2, -1]}, lift=lift)
    total = a + b
    assert total.cluster_names == ("x", "y", "z", 1, 2)
    assert total.owner.tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_allclose(total.masses, [0.25, 0.5, 0.25, 0.5, 0.25])
    np.testing.assert_allclose(total.noise_masses, [0, 0.25])


def test_only_representations_of_the_same_lift_can_be_added():
    X, labels = blobs(np.random.default_rng(0), 50, 2)
    fourier = [lc.represent(X, labels, lift="fourier", rng=seed) for seed in (0, 1)]
    with pytest.raises(ValueError, match="different lifts"):
        fourier[0] + fourier[1]
    exact = lc.represent(X, labels)
    with pytest.raises(ValueError, match="exact representations do not add up"):
        exact + exact
    with pytest.raises(TypeError):
        exact + 1
    alone = replace(fourier[0], lift=None)
    for a, b in [(alone, fourier[0]), (fourier[0], alone)]:
        with pytest.raises(ValueError, match="saved without its lift"):
            a + b


def test_representations_of_the_same_seed_can_be_added():
    X, labels = blobs(np.random.default_rng(0), 50, 2)
    a, b = (lc.represent(X, labels, lift="fourier", rng=5) for _ in range(2))
    np.testing.assert_allclose((a + b).sums, 2 * a.sums)


@pytest.mark.parametrize("options", [{"lift": "exact"}, {"lift": "fourier"}], ids=str)
def test_partitions_of_different_points_share_one_lift(options):
    rng = np.random.default_rng(0)
    X, a = blobs(rng, 80, 3)
    Y, b = X[:50] + 0.1, a[:50]
    rep = lc.represent_samples([(X, a), (Y, {"other": b})], bandwidth=2.0, rng=0, **options)
    assert rep.partition_names == (0, "other")
    np.testing.assert_allclose(rep.masses[rep.owner == 1], np.bincount(b) / 50)
    kernel = lc.Gaussian(2.0)
    R, S = np.eye(4)[a], np.eye(4)[b]
    cross = (R.T @ kernel(X, Y) @ S) / np.sqrt(
        np.outer(np.diag(R.T @ kernel(X, X) @ R), np.diag(S.T @ kernel(Y, Y) @ S))
    )
    error = rep.inner_product_errors()[:4, 4:]
    assert (np.abs(rep.inner_products()[:4, 4:] - cross) <= 5 * error + 1e-10).all()


def test_partitions_can_be_selected_by_index():
    X, labels = blobs(np.random.default_rng(0), 50, 2)
    rep = lc.represent(X, {"a": labels, "b": labels % 2, "c": labels * 0})
    assert len(rep) == 3
    part = rep[1]
    assert part.partition_names == ("b",)
    np.testing.assert_array_equal(part.sums, rep.sums[4:6])
    assert rep[[2, 0]].partition_names == ("c", "a")
    assert rep[1:].owner.tolist() == [0, 0, 1]
    with pytest.raises(IndexError):
        rep[3]
    with pytest.raises(IndexError, match="no partition is left"):
        rep[3:]


@pytest.mark.parametrize("options", ANY_LIFT, ids=str)
@pytest.mark.parametrize("kernel", ["gaussian", "matern", lc.Cauchy([1.0, 2.0])], ids=str)
def test_saved_and_loaded_representation_is_identical(tmp_path, options, kernel):
    X, labels = blobs(np.random.default_rng(0), 60, 3)
    if kernel != "matern" and options["lift"] == lc.Fourier(33, sampling="quasi"):
        options = {"lift": lc.Fourier(8, sampling="quasi")}
    rep = lc.represent(X, {"a": labels, ("b", 2): ["x"] * 60}, kernel=kernel, rng=0, **options)
    rep.save(tmp_path / "rep.npz")
    again = lc.load_representation(tmp_path / "rep.npz")
    for name in ("sums", "vectors", "masses", "owner", "norms"):
        np.testing.assert_array_equal(getattr(again, name), getattr(rep, name))
    assert again.cluster_names == rep.cluster_names
    assert again.partition_names == rep.partition_names
    assert repr(again) == repr(rep)
    np.testing.assert_array_equal(again.distance_errors() is None, rep.distance_errors() is None)
    new = np.random.default_rng(1).standard_normal((5, 3))
    np.testing.assert_array_equal(
        again.lift.scores(new, again.sums), rep.lift.scores(new, rep.sums)
    )
    assert again.lift.fingerprint() == rep.lift.fingerprint()
    if options["lift"] != "exact":
        np.testing.assert_array_equal((again + rep).sums, (rep + rep).sums)


def test_lifts_and_names_that_cannot_be_stored_are_refused(tmp_path):
    X, labels = blobs(np.random.default_rng(0), 30, 3)
    path = tmp_path / "rep.npz"
    for options in ({"lift": RBFSampler()}, {"kernel": lambda A, B: A @ B.T + 10}):
        rep = lc.represent(X, labels, **options)
        with pytest.raises(ValueError, match="with_lift=False"):
            rep.save(path)
        assert list(tmp_path.iterdir()) == []
        rep.save(path, with_lift=False)
        again = lc.load_representation(path)
        np.testing.assert_array_equal(again.vectors, rep.vectors)
        assert again.lift is None
        assert again.distance_errors() is None
        with pytest.raises(ValueError, match="without its lift"):
            again + again
        path.unlink()
    with pytest.raises(ValueError, match="cannot be stored; use strings"):
        lc.represent(X, {frozenset([1]): labels}).save(path)
    assert list(tmp_path.iterdir()) == []


def test_representation_saved_without_its_lift_can_be_saved_again(tmp_path):
    path = tmp_path / "rep.npz"
    rep = lc.represent([[0.0], [1.0], [5.0]], [0, 0, 1], bandwidth=1.0)
    rep.save(path, with_lift=False)
    again = lc.load_representation(path)
    assert repr(again) == "Representation(2 clusters of 1 partition(s), saved without its lift)"
    again.save(path)
    np.testing.assert_array_equal(lc.load_representation(path).sums, rep.sums)


def test_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    X, labels = blobs(np.random.default_rng(0), 30, 3)
    rep = lc.represent(X, labels)
    path = tmp_path / "rep.npz"
    rep.save(path)
    before = path.read_bytes()

    def full_disk(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="No space"):
        rep.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["rep.npz"]


def test_files_of_other_programs_are_refused(tmp_path):
    path = tmp_path / "rep.npz"
    with pytest.raises(FileNotFoundError):
        lc.load_representation(path)
    X, labels = blobs(np.random.default_rng(0), 30, 3)
    rep = lc.represent(X, labels, lift=lc.Fourier(10))
    rep.save(path)
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"rep\.npz"):
            lc.load_representation(path)
    np.savez(path, values=np.array({"format": 1}, dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="not a file that liftcluster wrote"):
        lc.load_representation(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ValueError, match="not a file that liftcluster wrote"):
        lc.load_representation(path)


@pytest.mark.parametrize("field", ["sums", "owner", "cluster_weights", "lift_frequencies"])
def test_damaged_files_are_refused(tmp_path, field):
    X, labels = blobs(np.random.default_rng(0), 30, 3)
    path = tmp_path / "rep.npz"
    lc.represent(X, labels, lift=lc.Fourier(10)).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    for damage in (
        lambda a: a[:-1],
        lambda a: None,
        lambda a: a.astype(float) * np.nan,
        lambda a: a.astype("U5"),
    ):
        damaged = {k: damage(v) if k == field else v for k, v in arrays.items()}
        np.savez(path, **{k: v for k, v in damaged.items() if v is not None})
        with pytest.raises(ValueError, match="is damaged"):
            lc.load_representation(path)


# Three clusters of two partitions in the published file format, which must not change.
VALUES = {
    "format": "liftcluster representation 1",
    "cluster_names": ["x", 7, {"tuple": ["y", 2]}],
    "partition_names": ["p", "q"],
}
ARRAYS = {
    "sums": np.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]]),
    "cluster_weights": np.array([6.0, 2.0, 5.0]),
    "total_weights": np.array([8.0, 10.0]),
    "owner": np.array([0, 0, 1]),
}


def write_file(path, values=VALUES, arrays=ARRAYS):
    np.savez(path, values=np.array(json.dumps(values)), **arrays)
    return path


def test_file_of_format_1_is_read(tmp_path):
    rep = lc.load_representation(write_file(tmp_path / "rep.npz"))
    assert rep.cluster_names == ("x", 7, ("y", 2))
    assert rep.partition_names == ("p", "q")
    np.testing.assert_allclose(rep.vectors, [[0.6, 0.8], [0, 1], [1, 0]])
    np.testing.assert_allclose(rep.masses, [0.75, 0.25, 0.5])
    np.testing.assert_allclose(rep.noise_masses, [0, 0.5])
    assert rep.lift is None


def test_single_cluster_can_be_saved_and_loaded(tmp_path):
    rep = lc.represent([[0.0], [1.0]], [0, 0], lift=lc.Fourier(4), rng=0)
    rep.save(tmp_path / "rep.npz")
    np.testing.assert_array_equal(lc.load_representation(tmp_path / "rep.npz").sums, rep.sums)


def test_error_about_another_file_names_its_format(tmp_path):
    path = write_file(tmp_path / "rep.npz", {**VALUES, "format": "liftcluster tally 1"})
    with pytest.raises(ValueError, match=r"not a saved representation \(format 'liftcluster tally"):
        lc.load_representation(path)


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("sums", np.ones((3, 2, 1))),
        ("sums", np.ones((4, 2))),
        ("cluster_weights", np.ones(2)),
        ("cluster_weights", np.ones((3, 1))),
        ("total_weights", np.ones(3)),
        ("total_weights", np.ones((2, 1))),
        ("owner", np.array([0, 1])),
        ("owner", np.array([0.0, 0.0, 1.0])),
        ("owner", np.array([-1, 0, 1])),
        ("owner", np.array([0, 1, 2])),
        ("cluster_names", ["x"]),
        ("partition_names", ["p", "q", "r"]),
    ],
)
def test_file_with_inconsistent_shapes_is_refused(tmp_path, part, changed):
    values, arrays = dict(VALUES), dict(ARRAYS)
    (arrays if part in arrays else values)[part] = changed
    with pytest.raises(ValueError, match="is damaged: its parts have inconsistent shapes"):
        lc.load_representation(write_file(tmp_path / "rep.npz", values, arrays))


def test_file_without_clusters_is_refused(tmp_path):
    nothing = {name: array[:0] for name, array in ARRAYS.items()}
    path = write_file(
        tmp_path / "rep.npz", {**VALUES, "cluster_names": [], "partition_names": []}, nothing
    )
    with pytest.raises(ValueError, match="is damaged: its parts have inconsistent shapes"):
        lc.load_representation(path)


def test_file_with_a_lift_of_another_dimension_is_refused(tmp_path):
    path = tmp_path / "rep.npz"
    lc.represent([[0.0], [1.0]], [0, 1], lift=lc.Fourier(10), rng=0).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "sums": arrays["sums"][:, :8]})
    with pytest.raises(ValueError, match="is damaged: its parts have inconsistent shapes"):
        lc.load_representation(path)


@pytest.mark.parametrize("part", ["sums", "cluster_weights", "total_weights"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_file_with_nan_or_infinity_is_refused(tmp_path, part, bad):
    damaged = ARRAYS[part].copy()
    damaged.flat[0] = bad
    path = write_file(tmp_path / "rep.npz", arrays={**ARRAYS, part: damaged})
    with pytest.raises(ValueError, match="is damaged: it holds NaN or infinity"):
        lc.load_representation(path)


class Cells(HTMLParser):
    """Texts of an HTML page, as one list for each table row or paragraph."""

    def __init__(self, page):
        super().__init__()
        self.rows = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag in ("tr", "p"):
            self.rows.append([])

    def handle_data(self, data):
        self.rows[-1].append(data)


def test_html_repr_shows_clusters_sizes_and_noise_of_each_partition():
    labels = {"whole": [0] * 8, "parts": [0, 1, 1, 2, 2, 2, 2, -1]}
    rep = lc.represent(np.arange(8.0)[:, None], labels)
    assert Cells(rep._repr_html_()).rows == [
        [repr(rep)],
        ["partition", "clusters", "sizes", "noise"],
        ["whole", "1", "100.0% … 100.0%", "0.0%"],
        ["parts", "3", "12.5% … 50.0%", "12.5%"],
    ]


def test_html_repr_counts_the_omitted_partitions():
    many = lc.represent([[0.0], [1.0]], [[0, 1]] * 70)
    *shown, more = Cells(many._repr_html_()).rows
    assert more == [f"… and {70 - len(shown[2:])} more"]


def test_cluster_distance_agrees_with_the_kernel_trick():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    p, q = rng.random(12), (rng.random(12) < 0.5).astype(float)
    w = rng.uniform(0.5, 2, 12)
    kernel = lc.Laplace(2.0)
    G = cluster_products(gram(kernel, X), np.column_stack([w * p, w * q]))
    for normalise in (True, False):
        d = lc.cluster_distance(p, q, X, kernel=kernel, weights=w, normalise=normalise)
        assert d == pytest.approx(distance_from_products(G, 0, 1, normalise=normalise), abs=1e-7)
        near = lc.cluster_distance(p, q, X, kernel=kernel, weights=w, normalise=normalise, lift=lc.Fourier(40_000), rng=0)  # fmt: skip
        assert near == pytest.approx(d, rel=0.03)


def test_cluster_distance_between_two_point_sets_agrees_with_the_kernel_trick():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((8, 2)), rng.standard_normal((5, 2))
    p, q = np.ones(8), np.array([1, 0, 1, 1, 0])
    kernel = lc.Gaussian(1.0)
    R = np.zeros((13, 2))
    R[:8, 0], R[8:, 1] = p, q
    G = cluster_products(gram(kernel, np.vstack([X, Y])), R)
    d = lc.cluster_distance(p, q, X, Y=Y, kernel=kernel)
    assert d == pytest.approx(distance_from_products(G, 0, 1, normalise=False), abs=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X: lc.cluster_distance([0, 0, 0], [1, 1, 1], X), ValueError, "cluster a is empty"),
        (lambda X: lc.cluster_distance([1, 2, 0], [1, 1, 1], X), ValueError, "write labels == c"),
        (lambda X: lc.cluster_distance(["a"], [1], X), TypeError, "a must be Boolean"),
        (lambda X: lc.cluster_distance([[1]], [1], X), ValueError, "one-dimensional"),
        (lambda X: lc.cluster_distance([1, 1], [1, 1, 1], X), ValueError, "give the points of b as Y"),
        (lambda X: lc.cluster_distance([1, 1], [1, 1], X), ValueError, "2 entries but X has 3"),
        (lambda X: lc.cluster_distance([1, 1, 1], [1, 1, 1], X, Y=X, weights=[1, 1, 1]), ValueError, "ambiguous"),
        (lambda X: lc.cluster_distance([1, 0, 0], [1, 1, 1], X, weights=[0, 1, 1]), ValueError, "cluster a has no weight"),
        (lambda X: lc.represent(X, [0, 1]), ValueError, "2 entries but X has 3"),
        (lambda X: lc.represent(X, [[0, 1, 1], [0, 1]]), ValueError, "same length"),
        (lambda X: lc.represent_samples([]), ValueError, "no samples"),
        (lambda X: lc.represent_samples([(X, [0, 1, 1]), (X[:, :1], [0, 1, 1])]), ValueError, "one space"),
        (lambda X: lc.represent_samples([(X, {"a": [0, 1, 1]}), (X, {"a": [0, 1, 1]})]), ValueError, "different names"),
        (lambda X: lc.represent_samples([(X, [0, 1, 1])], weights=[]), ValueError, "as many weights"),
        (lambda X: lc.represent(None, [0, 1, 1]), ValueError, "X is needed"),
    ],
)  # fmt: skip
def test_invalid_calls_raise_helpful_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]))


def test_cluster_with_a_zero_vector_is_refused():
    K = np.diag([1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="similarity zero"):
        lc.represent(None, [0, 1, 2], kernel=lc.Precomputed(K))


def test_points_without_weight_add_nothing_in_single_precision():
    X, labels = blobs(np.random.default_rng(0), 4000, 2)
    weights = np.where(np.arange(4000) < 3000, 0.0, 2.0)
    sampler = RBFSampler(n_components=20, random_state=0).fit(X.astype(np.float32))
    found = lc.represent(X.astype(np.float32), labels, lift=sampler, weights=weights)
    rest = lc.represent(X[3000:].astype(np.float32), labels[3000:], lift=sampler)
    np.testing.assert_allclose(found.sums, 2 * rest.sums, rtol=1e-4, atol=1e-3)
