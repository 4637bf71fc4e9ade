"""Which numeric columns are coordinates by default."""

import numpy as np
import pytest

from liftcluster.io import InputError, read_clusterings
from liftcluster.io.coordinates import not_coordinates

N = 60
RNG = np.random.default_rng(0)
DIFFERENT = RNG.permutation(10_000)[:N]
REPEATED = RNG.integers(0, 4, N)
COUNT = np.arange(7, 7 + N)
FLOATS = RNG.normal(size=N)


@pytest.mark.parametrize(
    "name", ["id", "ID", "Id", "customer_id", "customerID", "PassengerId", "cell id", "id_order"]
)
@pytest.mark.parametrize("values", [DIFFERENT, REPEATED], ids=["different", "repeated"])
def test_integers_called_id_are_ids(name, values):
    assert not_coordinates({name: values}, []) == {name: "an id"}


@pytest.mark.parametrize("name", ["index", "userid", "order_no", "ticket number", "key"])
def test_integers_that_may_be_ids_are_so_if_all_are_different(name):
    assert not_coordinates({name: DIFFERENT}, []) == {name: "an id"}
    assert not_coordinates({name: np.repeat(DIFFERENT, 2)}, []) == {}


@pytest.mark.parametrize(
    "name",
    [
        "cluster", "Cluster", "labels", "class", "target", "kmeans", "k-means", "kmeans_5",
        "KMeans5", "leiden_0.5", "leiden_res1.0", "hdbscan", "cluster_id", "predicted_cluster",
        "true_label",
    ],
)  # fmt: skip
def test_integers_named_after_clusterings_are_labels(name):
    found = not_coordinates({name: REPEATED}, [])
    assert found == {name: "an id" if name == "cluster_id" else "labels"}


@pytest.mark.parametrize(
    ("name", "label"),
    [("mood_2", "mood_1"), ("species_code", "species"), ("run7", "run1"), ("mood", "mood_code")],
)
def test_siblings_of_labels_are_labels(name, label):
    assert not_coordinates({name: REPEATED}, [label]) == {name: "labels"}


def test_consecutive_integers_are_row_numbers():
    assert not_coordinates({"x": COUNT}, []) == {"x": "row numbers"}
    assert not_coordinates({"x": COUNT[:10]}, []) == {}  # too few to tell
    assert not_coordinates({"x": COUNT[::-1], "y": np.sort(DIFFERENT)}, []) == {}


# Integer features of well-known tables, and names that contain those of ids and labels.
GENUINE = [
    "age", "rooms", "income", "x", "y", "n_clusters", "cluster_size", "passenger_class", "pclass",
    "magnesium", "proline", "humid", "paid", "body_mass_index", "grade", "V1", "x1", "pc1", "col3",
    "feature_2", "4", "Größe", "label_length", "idle", "number_of_rooms",
]  # fmt: skip


@pytest.mark.parametrize("name", GENUINE)
def test_genuine_integer_features_are_coordinates(name):
    labels = ["V5", "x4", "pc3", "col4", "feature_9", "5", "kmeans", "mood"]
    assert not_coordinates({name: REPEATED}, labels) == {}


@pytest.mark.parametrize("name", ["income", "population", "x", "V1"])
def test_integers_that_happen_to_differ_are_coordinates(name):
    assert not_coordinates({name: DIFFERENT}, []) == {}


COLUMNS = {
    "customer_id": DIFFERENT,
    "age": REPEATED * 10,
    "spent": FLOATS,
    "kmeans": REPEATED,
    "kmeans_2": 3 - REPEATED,
    "mine": REPEATED,
}


def _csv(path):
    rows = zip(*(c.tolist() for c in COLUMNS.values()), strict=True)
    lines = [",".join(map(str, row)) for row in (COLUMNS, *rows)]
    path.with_suffix(".csv").write_text("\n".join(lines))
    return path.with_suffix(".csv")


def _parquet(path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    parquet.write_table(pyarrow.table(COLUMNS), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def _npz(path):
    np.savez(path.with_suffix(".npz"), **COLUMNS)
    return path.with_suffix(".npz")


@pytest.mark.parametrize("write", [_csv, _parquet, _npz])
def test_ids_and_labels_of_a_file_are_left_out_and_named(tmp_path, write):
    path = write(tmp_path / "mine")
    found = read_clusterings(path, labels=["kmeans", "mine"])
    assert found.columns == ["age", "spent"]
    note = "points: age, spent; left out: customer_id (an id), kmeans_2 (labels); select with"
    assert found.notes[0].startswith(note)
    chosen = read_clusterings(path, labels=["mine"], columns=["customer_id", "kmeans_2"])
    assert chosen.columns == ["customer_id", "kmeans_2"]


@pytest.mark.parametrize(
    "name", ["consensus_confidence", "consensus_margin", "consensus_memberships_0", "u_stability"]
)
def test_what_was_appended_to_a_table_is_no_coordinate(tmp_path, name):
    path = tmp_path / "mine.csv"
    rows = "\n".join(f"{x},{i % 3},{i % 2},{x / 2}" for i, x in enumerate(FLOATS))
    path.write_text(f"x,u,consensus,{name}\n{rows}")
    found = read_clusterings(path, labels=["u"])
    assert found.columns == ["x"]
    assert f"{name} (a result of liftcluster)" in found.notes[0]
    path.write_text(f"x,w,team,{name}\n{rows}")  # without what it is a result about
    assert read_clusterings(path, labels=["w", "team"]).columns == ["x", name]


def test_missing_integers_do_not_hide_an_id(tmp_path):
    path = tmp_path / "mine.csv"
    rows = [f"{'' if i == 5 else f'{i}.0'},{i % 7},{i % 3}" for i in range(30)]
    path.write_text("\n".join(["user_id,x,mine", *rows]))
    assert read_clusterings(path, labels=["mine"]).columns == ["x"]


def test_nothing_but_ids_is_an_error_that_names_them(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("customer_id,mine\n" + "".join(f"{i * 7},{i % 3}\n" for i in range(30)))
    with pytest.raises(InputError, match=r"no other numeric columns but customer_id"):
        read_clusterings(path, labels=["mine"])


def test_row_numbers_are_coordinates_if_there_are_no_others(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("t,mine\n" + "".join(f"{i},{i % 3}\n" for i in range(30)))
    assert read_clusterings(path, labels=["mine"]).columns == ["t"]


@pytest.mark.parametrize("n", [99, 100, 5000])
@pytest.mark.parametrize("empty", [0, 3])
def test_a_column_of_ids_is_no_clustering(tmp_path, n, empty):
    path = tmp_path / "mine.csv"
    cells = ["" if i < empty else f"c{7 * i}" for i in range(n + empty)]
    path.write_text("x,mine\n" + "".join(f"{i % 7},{cell}\n" for i, cell in enumerate(cells)))
    if n < 100:
        assert read_clusterings(path, labels=["mine"]).partitions["mine"].k == n
        return
    with pytest.raises(InputError, match=rf"another value for each of {n:,} points: an id, not a"):
        read_clusterings(path, labels=["mine"])


def test_many_clusters_of_two_points_are_a_clustering(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,mine\n" + "".join(f"{i % 7},{i // 2}\n" for i in range(301)))
    assert read_clusterings(path, labels=["mine"]).partitions["mine"].k == 151
