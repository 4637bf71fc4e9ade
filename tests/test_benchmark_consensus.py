"""The benchmark of consensus methods, on small data sets."""

import inspect
import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import liftcluster as lc
from benchmarks import aggregation
from benchmarks.consensus import __main__ as command
from benchmarks.consensus import measuring, number_of_clusters, points, scale
from benchmarks.consensus.ensembles import ANNOTATORS, ENSEMBLES, FROM_POINTS, make_inputs
from benchmarks.consensus.measuring import METHOD_ROWS, ROWS, measure_set
from benchmarks.consensus.plain import plain_lwgp, plain_mcla
from benchmarks.consensus.references import INPUTS, POINTS_ONLY, score_inputs
from benchmarks.consensus.results import Results, Task, describe_run, measure_missing, score_array
from benchmarks.consensus.sets import FAMILIES, HALVES, DataSet, all_sets
from benchmarks.consensus.statistics import (
    compare,
    family_means,
    group_means,
    holm,
    mean_ranks,
    nemenyi,
)
from benchmarks.labelled import labelled_sets

KINDS = tuple(ENSEMBLES)
SETTINGS = {"most": 1000, "seeds": 2}
# Methods that use labels and others, whatever their names, without optional dependencies
BY_LABELS, BY_POINTS = (
    next(name for name, m in lc.METHODS.items() if (m.needs == "labels") is alone and not m.extra)
    for alone in (True, False)
)


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


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with threadpool_limits(1):  # threads that wait for each other take most of the time
        yield


@pytest.fixture(scope="module")
def generated(one_thread):
    return all_sets(None)


def separated(name="made_shape_blobs", half="reported", seed=0, k=3, d=2):
    """A data set of k clusters that are far apart, 16 points each."""
    centres = 20 * np.eye(k, max(d, k))[:, :d] + 20 * np.arange(k)[:, None]
    X, y = make_blobs(16 * k, centers=centres, random_state=seed)
    return DataSet(name, name.split("_")[1], half, X, y.astype(str))


def three_sets():
    names = ("made_shape_a", "made_image_b", "real_table_c")
    return [separated(name, HALVES[i % 2], seed=i, d=2 + i) for i, name in enumerate(names)]


# Data sets


def test_data_sets_are_standardised_and_subsampled(folder):
    pytest.importorskip("pandas")
    found = list(labelled_sets(folder, 40))
    assert [name for name, _, _ in found] == ["flowers", "others", "rest"]
    for _, X, classes in found:
        assert X.shape == (40, 4)  # a constant column is left out
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0), 1)
        assert len(classes) == 40


def test_halves_are_disjoint_and_every_set_is_in_one(generated):
    assert len({data.name for data in generated}) == len(generated) == 50
    assert [data.half for data in generated] == list(HALVES) * 25
    assert {data.family for data in generated} == set(FAMILIES)
    assert all(data.name.startswith(f"made_{data.family}_") for data in generated)


def test_all_generated_sets_have_unit_variance_and_several_classes(generated):
    for data in generated:
        spread = data.X.std() if data.family == "image" else data.X.std(axis=0)
        np.testing.assert_allclose(spread, 1, err_msg=data.name)
        assert 2 <= data.k < len(data.X) == len(data.classes), data.name


def test_rows_are_shuffled(generated):
    lines = next(data for data in generated if data.name == "made_shape_lines")
    assert (lines.classes[1:] != lines.classes[:-1]).sum() > 400  # 3 in the order of generation
    for c in "0123":  # a line is an interval of the second coordinate
        assert np.ptp(lines.X[lines.classes == c, 1]) < 0.5


def test_generated_sets_do_not_depend_on_the_folder(folder, generated):
    pytest.importorskip("pandas")
    found = all_sets(folder, 60)
    assert [data.name for data in found[50:]] == [
        f"real_table_{name}" for name in ("flowers", "others", "rest")
    ]
    for with_folder, alone in zip(found[:50], generated, strict=True):
        assert (with_folder.name, with_folder.half) == (alone.name, alone.half)
        np.testing.assert_array_equal(with_folder.classes, alone.classes)


# Inputs


@pytest.mark.parametrize("kind", ENSEMBLES)
def test_only_the_inputs_of_annotators_depend_on_the_classes(kind):
    data = separated()
    other = np.random.default_rng(0).permutation(data.classes)
    inputs = [np.array(make_inputs(kind, data.X, c, seed=0)) for c in (data.classes, other)]
    assert np.array_equal(*inputs) is (kind in FROM_POINTS)
    assert (kind in ANNOTATORS) is not (kind in FROM_POINTS)


@pytest.mark.parametrize("kind", ENSEMBLES)
def test_the_number_of_inputs_is_documented(kind):
    data = separated()
    inputs = make_inputs(kind, data.X, data.classes, seed=0)
    assert inspect.getdoc(ENSEMBLES[kind]).startswith(f"{len(inputs)} ")
    assert all(labels.shape == data.classes.shape for labels in inputs)


# Scores


def test_scores_of_the_inputs_are_those_of_the_best_and_their_mean():
    classes = np.array([0, 0, 1, 1])
    found = score_inputs(classes, [np.zeros(4), classes, np.array([5, 5, 7, 7]), np.ones(4)])
    assert found == {"best input": [1.0, 1.0], "mean input": [0.5, 0.5]}


@pytest.mark.parametrize("find", [*POINTS_ONLY.values(), *points.CLUSTERERS.values()])
def test_clusterings_of_points_find_separated_clusters(find):
    data = separated()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # graphs in several pieces
        assert adjusted_rand_score(data.classes, find(data.X, 3, 0)) == 1


def test_noise_gets_the_label_of_the_nearest_clustered_point():
    X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    found = points.fill_noise(X, np.array([4, -1, -1, 7, -1]))
    np.testing.assert_array_equal(found, [4, 4, 4, 7, 7])
    np.testing.assert_array_equal(points.fill_noise(X, np.full(5, -1)), np.zeros(5))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_row_has_scores_for_every_kind_and_seed():
    rows = [BY_LABELS, BY_POINTS, *POINTS_ONLY, *INPUTS]
    found = measure_set(separated(), rows, seeds=2)
    assert list(found) == rows
    for row in rows:
        assert list(found[row]) == list(KINDS)
        assert all(np.shape(scores) == (2, 2) for scores in found[row].values())
    assert found[BY_POINTS]["paper"] == found["Ward"]["balls"] == [[1.0, 1.0]] * 2
    assert found["mean input"]["annotators"][0][0] < found["best input"]["annotators"][0][0] < 1


def test_label_only_methods_get_no_points(monkeypatch):
    data, given = separated(), {}

    def consensus(inputs, k, X, *, method, method_options, rng):
        given[method, bool(method_options)] = (X is None, k)
        return type("Found", (), {"labels": data.classes})

    monkeypatch.setattr(lc, "consensus", consensus)
    measure_set(data, list(METHOD_ROWS), seeds=1)
    assert len(given) == len(METHOD_ROWS) >= len(lc.METHODS)
    for (method, _), found in given.items():
        assert found == (lc.METHODS[method].needs == "labels", 3)


def test_errors_name_the_data_set_and_the_method(monkeypatch):
    def consensus(*args, **options):
        raise ValueError("no consensus")

    monkeypatch.setattr(lc, "consensus", consensus)
    with pytest.raises(ValueError, match="no consensus") as error:
        measure_set(separated(), [BY_POINTS], seeds=1)
    assert error.value.__notes__ == [
        f"{BY_POINTS} on made_shape_blobs with the inputs 'paper' and seed 0"
    ]


def test_methods_without_their_packages_are_unavailable(monkeypatch):
    monkeypatch.setattr(measuring, "find_spec", lambda name: None)
    for row in ROWS:
        method, _, variant = row.partition(", ")
        needs = method in lc.METHODS and lc.METHODS[method].extra == "graph" and not variant
        assert (measuring.unavailable(row) is not None) is needs, row


# Results


class Counting:
    """A measurement that counts its calls, and fails on a data set."""

    def __init__(self):
        self.calls, self.fails_on = [], None
        self.task = Task("counted", self.measure, ("x", "y"))

    def measure(self, data, rows, seeds):
        if data.name == self.fails_on:
            raise KeyboardInterrupt
        self.calls.append((data.name[-1], *rows))
        return {row: {"x": [[0.5, 0.1]] * seeds, "y": [[0.25, 0.2]] * seeds} for row in rows}

    def __call__(self, path, rows, settings=SETTINGS, **options):
        self.calls.clear()
        results = Results(path)
        measure_missing(self.task, three_sets(), rows, settings, results, **options)
        return self.calls


def test_what_is_in_the_file_is_not_measured_again(tmp_path, capsys):
    counting, path = Counting(), tmp_path / "scores.json"
    assert counting(path, ["p", "q"]) == [("a", "p", "q"), ("b", "p", "q"), ("c", "p", "q")]
    assert counting(path, ["q"]) == []
    assert "3 of 3 sets are in the file" in capsys.readouterr().out
    assert counting(path, ["p", "r"]) == [("a", "r"), ("b", "r"), ("c", "r")]
    assert counting(path, ["p"], again=True) == [("a", "p"), ("b", "p"), ("c", "p")]
    assert set(Results(path).records(counting.task, three_sets())["made_shape_a"]["rows"]) == {
        "p",
        "q",
        "r",
    }


def test_other_settings_are_measured_again(tmp_path):
    counting, path = Counting(), tmp_path / "scores.json"
    counting(path, ["p", "q"])
    assert counting(path, ["p"], SETTINGS | {"seeds": 1}) == [("a", "p"), ("b", "p"), ("c", "p")]
    record = Results(path).records(counting.task, three_sets())["real_table_c"]
    assert list(record["rows"]) == ["p"]  # no mixture of settings


def test_an_interrupted_run_is_resumed(tmp_path):
    counting, path = Counting(), tmp_path / "scores.json"
    counting.fails_on = "made_image_b"
    with pytest.raises(KeyboardInterrupt):
        counting(path, ["p"])
    counting.fails_on = None
    assert counting(path, ["p"]) == [("b", "p"), ("c", "p")]


def test_the_file_names_versions_and_commit(tmp_path):
    counting, path = Counting(), tmp_path / "scores.json"
    counting(path, ["p"])
    (run,) = Results(path).content["runs"]
    assert {"liftcluster", "numpy", "scipy", "scikit-learn"} <= set(run["versions"])
    assert run["commit"] is None or re.fullmatch("[0-9a-f]{40}(-dirty)?", run["commit"])


@pytest.mark.long
def test_processes_give_the_same_scores():
    found = []
    for jobs in (1, 2):
        results = Results()
        rows = ["Ward", "Birch"]
        measure_missing(points.NO_PARTITIONS, three_sets(), rows, SETTINGS, results, jobs=jobs)
        found.append(results.records(points.NO_PARTITIONS, three_sets()))
    assert found[0] == found[1]
    assert len(found[0]) == 3


def type_of_points(data, rows, seeds):
    return {row: {"points": [[float(type(data.X) is np.ndarray), 0.0]]} for row in rows}


@pytest.mark.long
def test_processes_get_no_memory_maps():
    X = np.zeros((1000, 600))  # of more than the 1 MB that joblib passes as bytes
    data = [DataSet(f"made_table_{i}", "table", "chosen", X, np.arange(1000)) for i in range(2)]
    task, results = Task("types", type_of_points, ("points",)), Results()
    measure_missing(task, data, ["p"], SETTINGS, results, jobs=2)
    assert score_array(results.records(task, data), ["p"], ("points",)).tolist() == [[[1], [1]]]


def test_scores_are_means_over_seeds():
    record = {"rows": {"p": {"scores": {"x": [[0.2, 0], [0.4, 1]], "y": [[1, 0], [0, 0.5]]}}}}
    np.testing.assert_allclose(score_array({"a": record}, ["p"], ("x", "y")), [[[0.3, 0.5]]])
    np.testing.assert_allclose(score_array({"a": record}, ["p"], ("y",), index=1), [[[0.25]]])


# Statistics


def test_groups_are_means_over_their_kinds():
    scores = np.arange(12.0).reshape(1, 2, 6)  # of two sets
    found = group_means(scores, KINDS)
    np.testing.assert_allclose(found["from points"], [[1.5, 7.5]])
    np.testing.assert_allclose(found["annotators"], [[4.5, 10.5]])
    np.testing.assert_allclose(found["all six"], [[2.5, 8.5]])


def test_families_are_means_over_their_sets():
    found = family_means(np.array([[1.0, 2.0, 6.0], [0.0, 1.0, 0.0]]), ["shape", "table", "shape"])
    assert {family: means.tolist() for family, means in found.items()} == {
        "shape": [3.5, 0.0],
        "table": [2.0, 1.0],
    }


def test_ties_have_their_mean_rank():
    scores = np.array([[0.9, 0.5], [0.9, 0.7], [0.1, 0.6]])
    np.testing.assert_allclose(mean_ranks(scores), [2.25, 1.25, 2.5])


def test_critical_difference_agrees_with_demsar():
    assert nemenyi(4, 14) == pytest.approx(1.25, abs=0.005)  # Demšar (JMLR 2006), section 3.2.2


def test_p_values_are_adjusted_as_by_holm():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1, 1]


def test_wins_ties_losses_and_p_values_by_hand():
    own = np.full(6, 0.5)
    better = own + np.array([0.005, 0.01, 0.02, 0.03, 0.04, 0.05])
    mixed = own + np.array([-0.1, 0.2, 0.3, 0, 0, 0])
    found = {c.other: c for c in compare(np.array([better, own, mixed, own]), "bomO", "o")}
    assert list(found) == ["b", "m", "O"]
    counts = {name: (c.wins, c.ties, c.losses) for name, c in found.items()}
    assert counts == {"b": (0, 1, 5), "m": (1, 3, 2), "O": (0, 6, 0)}
    assert found["b"].difference == pytest.approx(-0.155 / 6)
    # Of 2⁶ signs one is as extreme on each side, and Holm multiplies by three. Of the three
    # differences of m the least is positive: 4 of 2³ signs are as extreme, times two.
    assert found["b"].p == pytest.approx(3 * 2 / 64)
    assert found["m"].p == pytest.approx(1)
    assert found["O"].p == 1


# Tables, pictures and the page


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The command on three small sets, with random scores for all rows but those to measure."""
    monkeypatch.setattr(command, "all_sets", lambda folder, most: three_sets())

    def run(*arguments, random=()):
        path = tmp_path / "scores.json"
        rng = np.random.default_rng(0)
        results = Results(path)
        for data in three_sets():
            for task, rows in (
                (command.CONSENSUS, ROWS),
                (points.NO_PARTITIONS, points.CLUSTERERS),
            ):
                scores = {
                    row: {c: rng.random((2, 2)).tolist() for c in task.conditions}
                    for row in rows
                    if task.name in random
                }
                results.add(task, data, SETTINGS, scores, describe_run())
        command.main(["--seeds", "2", "--jobs", "1", "--json", str(path), *arguments])

    return run


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_has_a_row_for_every_method(run, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(measuring, "unavailable", lambda row: None)
    page = tmp_path / "docs" / "page.md"
    run("--page", str(page), random=("consensus", "no partitions"))
    text = page.read_text(encoding="utf-8")
    tables = [t.splitlines() for t in text.split("\n\n") if t.startswith("|")]
    assert all(len({len(cells(line)) for line in t}) == 1 for t in tables)
    titles = {f"`{m}`{', spectral' if ',' in row else ''}" for row, (m, _) in METHOD_ROWS.items()}
    titles |= set(POINTS_ONLY) | set(INPUTS)
    inputs, reported, chosen, ranks, comparisons, families, of_points, of_sets = tables
    for table in (reported, chosen, families):
        assert {cells(line)[0] for line in table[2:]} == titles
    assert {cells(line)[0] for line in ranks[2:]} == titles - set(INPUTS)
    assert len(comparisons) == 2 + len(titles) - 1
    assert {cells(line)[0] for line in of_points[2:]} == set(points.CLUSTERERS)
    assert [cells(line)[0] for line in of_sets[2:]] == [data.name for data in three_sets()]
    assert [cells(line)[0] for line in inputs[2:]] == list(KINDS)


def test_the_page_holds_no_odd_text_and_no_path(run, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(measuring, "unavailable", lambda row: None)
    page = tmp_path / "page.md"
    run("--page", str(page), random=("consensus",))
    text = page.read_text(encoding="utf-8")
    for odd in ("nan", "None", "\\", "&", "{", "[[", str(tmp_path), "Clustering without"):
        assert odd not in text
    assert "--json FILE --seeds 2 --page docs/evidence/consensus.md" in text
    (picture,) = re.findall(r"\]\((.*?)\)", text)
    assert (tmp_path / picture).stat().st_size > 1000


def test_a_picture_of_twelve_sets_is_smaller_than_150_kb(generated, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.consensus.pictures import draw_sets

    shown = generated[12:24]
    draw_sets(shown, [data.classes for data in shown], tmp_path / "sets.png")
    assert (tmp_path / "sets.png").stat().st_size < 150_000


def test_rows_are_sorted_by_their_mean_over_all_inputs(run, capsys, monkeypatch):
    monkeypatch.setattr(measuring, "unavailable", lambda row: None)
    run(random=("consensus",))
    table = capsys.readouterr().out.split("chosen half, 2 data sets\n\n")[1].split("\n\n")[0]
    means = [float(cells(line)[9]) for line in table.splitlines()[2:]]
    assert len(means) == len(ROWS)
    assert means == sorted(means, reverse=True)


def test_the_command_measures_prints_and_writes(run, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.md"
    one = ("--sets", "made_shape_*", "--seeds", "1")
    run(*one, "--methods", BY_LABELS, BY_POINTS, "--compare", BY_POINTS, "--page", str(page))
    run("--no-partitions", "--methods", "Ward", "--half", "chosen")
    out = capsys.readouterr().out
    assert "1/1 made_shape_a: n = 48, d = 2, k = 3" in out
    assert f"| `{BY_POINTS}` against | wins |" in out
    assert "| Ward | 1.000 | 1.000 | 1.000 | 1.000 | 1.0 |" in out
    assert f"--methods {BY_LABELS} {BY_POINTS} --seeds 1 --compare" in page.read_text("utf-8")


def test_auto_is_compared_by_default_where_it_exists():
    parser = command._parser()
    assert command._compared(parser, None, ["first", "auto"]) == "auto"
    assert command._compared(parser, None, ["first", "second"]) == "first"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "wards"], "'wards' is none of"),
        (["--methods", "Ward"], "names no consensus method"),
        (["--methods", BY_LABELS, "--compare", BY_POINTS], f"'{BY_POINTS}' is none of"),
        (["--sets", "real_image_*"], "no data set of --half both matches --sets real_image_*"),
        (["--no-partitions", "--page", "page.md"], "leave out --no-partitions"),
    ],
)
def test_invalid_options_are_errors_before_any_work(run, capsys, arguments, message):
    with pytest.raises(SystemExit):
        run(*arguments)
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_colours_of_matching_clusters_are_equal():
    pytest.importorskip("matplotlib")
    from benchmarks.consensus.pictures import match_labels, plane

    classes = np.array([0, 0, 0, 1, 1, 2])
    found = match_labels(np.array(["b", "b", "z", "a", "a", "c"]), classes)
    np.testing.assert_array_equal(found, [0, 0, 3, 1, 1, 2])
    X = np.random.default_rng(0).standard_normal((9, 2))
    assert plane(X) is X
    stretched = np.column_stack([X[:, 0], 1e-3 * X[:, 1], 100 * X[:, 1]])
    assert abs(np.corrcoef(plane(stretched)[:, 0], X[:, 1])[0, 1]) > 0.999


# Number of clusters, time and memory


def test_the_number_of_separated_clusters_is_found():
    data = separated()
    lines = list(number_of_clusters.estimate_all([data], 1, 1))
    rows = [cells(line) for line in lines[3:]]
    kinds = ["paper", "kmeans", "blind"]
    assert [row[:2] for row in rows] == [
        [k, name] for k in kinds for name in number_of_clusters.ROWS
    ]
    best = [row[2:] for row in rows if row[1] in ("eigengap", "stability", "eigengap × stability")]
    assert best == [["100%", "100%", "0.0", "1.000"]] * 9


def test_time_and_memory_are_measured_for_methods_that_exist(monkeypatch):
    X = np.repeat(20 * np.eye(10), 12, axis=0) + np.random.default_rng(0).normal(size=(120, 10))
    monkeypatch.setitem(scale.POINTS, "few", lambda folder: (X, np.repeat(np.arange(10), 12)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        line = cells(scale.measure("few", BY_POINTS, 3, None))
    assert line[:3] == ["120 × 10", "3", BY_POINTS]
    total, consensus, peak, growth, ari = map(float, line[3:])
    assert 0 <= consensus <= total + 0.5
    assert 0 <= growth < peak < 16
    assert ari > 0.3
    monkeypatch.setattr(scale, "RUNS", [("few", "no such method", 3)])
    heads, _ = scale.measure_all(None)
    assert len(cells(heads)) == len(line)


@pytest.mark.parametrize("find", [plain_lwgp, plain_mcla])
def test_baselines_in_plain_scipy_find_planted_clusters(find):
    pytest.importorskip("pymetis")
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 100)
    wrong = rng.random((6, 400)) < 0.2
    inputs = [np.where(errors, rng.integers(4, size=400), classes) for errors in wrong]
    assert adjusted_rand_score(classes, find(inputs, 4)) > 0.95


def test_disagreements_graded_by_place_are_those_of_labels_at_a_small_bandwidth():
    rng = np.random.default_rng(0)
    X, inputs = rng.normal(size=(40, 2)), [rng.integers(-1, k, 40) for k in (2, 3, 4)]
    same = [np.where((p[:, None] < 0) | (p[None] < 0), 0.5, p[:, None] == p[None]) for p in inputs]
    found = aggregation.graded_similarity(X, inputs, "median/10000")
    np.testing.assert_allclose(found, np.mean(same, axis=0), atol=1e-9)
    wide = aggregation.graded_similarity(X, inputs, "median")
    assert wide[np.ix_(inputs[0] >= 0, inputs[0] >= 0)].min() > found.min()


def test_local_search_by_graded_disagreements_costs_no_more_than_its_start():
    S = np.random.default_rng(0).random((30, 30))
    S = (S + S.T) / 2

    def cost(codes):
        together = codes[:, None] == codes[None]
        return np.where(together, 1 - S, S)[np.triu_indices(30, 1)].sum()

    assert cost(aggregation.local_search(S)) < cost(aggregation.agglomerative(S))
