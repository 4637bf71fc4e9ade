"""The command line, called as a user calls it."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import liftcluster as lc
from liftcluster.cli import app
from liftcluster.cli.provenance import command_line
from liftcluster.io import open_table

ROOT = Path(__file__).parents[2]
X = load_iris().data
KMEANS = KMeans(3, n_init=1, random_state=0).fit(X).labels_
WARD = AgglomerativeClustering(3).fit(X).labels_
COMPLETE = AgglomerativeClustering(4, linkage="complete").fit(X).labels_
COLUMNS = ["--columns", "a,b,c,d"]
READERS = ["compare", "consensus", "significance", "profile", "stability", "choose", "tree", "drift", "summarise", "report"]  # fmt: skip
# The command with the fewest imports, for tests that start a process.
BY_LABELS = "--labels-only -l kmeans,ward -k 3 --method majority"


@pytest.fixture
def mine(tmp_path):
    """A user's own CSV: iris under three clusterings."""
    path = tmp_path / "mine.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["flower", *"abcd", "kmeans", "ward", "complete"])
        names = [f"f{i}" for i in range(len(X))]
        writer.writerows(
            zip(names, *X.T.tolist(), KMEANS, [f"w{w}" for w in WARD], COMPLETE, strict=True)
        )
    return path


@pytest.fixture(scope="module")
def demo_output(tmp_path_factory):
    """Output of the demo command."""
    page = tmp_path_factory.mktemp("demo") / "page.html"
    shown = CliRunner().invoke(app, ["demo", "--out", str(page)])
    assert shown.exit_code == 0, shown.output
    assert "Handwritten digits, clustered" in page.read_text(encoding="utf-8")
    assert "A page about it" in shown.output
    return shown.output


def test_demo_reports_distances_with_errors_that_cover_the_exact_values(demo_output):
    assert "1,797 handwritten digits" in demo_output
    assert len(re.findall(r"\d\.\d{4} ± \d\.\d{4}", demo_output)) == 3
    assert "% of the mass" in demo_output
    covered = re.search(r"(\d+)% of the exact ones", " ".join(demo_output.split()))
    assert int(covered[1]) >= 90


def test_demo_computes_a_consensus(demo_output):
    assert "Consensus(lift_places of 5 partitions: 10 clusters" in demo_output


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"{lc.__version__}\n", "")


def test_python_m_liftcluster_help_lists_the_commands():
    shown = subprocess.run(
        [sys.executable, "-m", "liftcluster", "--help"], capture_output=True, text=True, check=True
    )
    for name in ("demo", *READERS, "measures", "methods"):
        assert name in shown.stdout


@pytest.mark.parametrize("command", READERS)
def test_the_help_of_a_command_has_examples_and_the_exit_codes(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"liftcluster {command} mine.csv" in " ".join(out.split())
    assert "Exit codes" in out


def test_shell_completion_is_offered(run, monkeypatch):
    assert "--install-completion" in run("--help")[1]
    monkeypatch.setenv("_LIFTCLUSTER_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "liftcluster compare mine.csv --measures rand,lift_h")
    monkeypatch.setenv("COMP_CWORD", "4")
    shown = CliRunner().invoke(app, [], prog_name="liftcluster")
    assert "rand,lift_hausdorff" in shown.output


@pytest.mark.parametrize(("command", "names"), [("measures", lc.MEASURES), ("methods", lc.METHODS)])
def test_all_measures_and_methods_are_listed(run, command, names):
    code, out, _ = run(command)
    assert code == 0
    assert [name for name in names if name not in out] == []


def test_two_clusterings_are_compared_by_every_measure(run, mine):
    code, out, err = run("compare", mine, *COLUMNS, "--labels", "kmeans,ward")
    assert (code, err) == (0, "")
    found = lc.compare(KMEANS, WARD, X)
    for name, estimate in found.values.items():
        assert re.search(rf"{name} *│ *{re.escape(str(estimate))}", out), name
    assert "stayed as" in out


def test_json_on_stdout_equals_the_library_result(run, mine):
    code, out, err = run("compare", mine, "--labels", "kmeans,ward", *COLUMNS, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["names"] == ["kmeans", "ward"]
    expected = lc.compare(KMEANS, WARD, X)
    for name, estimate in expected.values.items():
        assert found["measures"][name]["value"] == pytest.approx(estimate.value, abs=1e-9)


def test_several_clusterings_are_compared_pairwise(run, mine):
    args = ("compare", mine, *COLUMNS, "--labels", "kmeans,ward,complete")
    code, out, _ = run(*args, "--measures", "lift_emd,rand", "--json")
    assert code == 0
    found = json.loads(out)["measures"]
    for measure in ("lift_emd", "rand"):
        D = lc.distance_matrix([KMEANS, WARD, COMPLETE], X, measure=measure)
        np.testing.assert_allclose(found[measure]["value"], D, atol=1e-9)
    out = run(*args)[1]
    assert "lift_emd between them" in out
    assert "adjusted_rand between them" in out


def test_verbose_prints_the_lift_and_its_standard_error(run, mine):
    args = ("compare", mine, *COLUMNS, "--labels", "kmeans,ward,complete", "--verbose")
    assert "lift: exact" in run(*args)[1]
    out = run(*args, "--lift", "fourier", "--n-components", "100")[1]
    assert re.search(r"largest standard error of a distance between clusters: 0\.\d+", out)
    assert re.search(r"0\.\d{4} ± 0\.\d{4}", out)


def test_tol_bounds_the_standard_error(run, mine):
    args = ("compare", mine, *COLUMNS, "--labels", "kmeans,ward", "--lift", "fourier", "--json")
    out = run(*args, "--tol", "0.01")[1]
    assert json.loads(out)["measures"]["lift_emd"]["error"] <= 0.01


def test_the_same_seed_gives_the_same_numbers(run, mine):
    args = ("compare", mine, "--labels", "kmeans,ward", "--lift", "fourier", "--seed")
    assert run(*args, 5) == run(*args, 5)
    assert run(*args, 5) != run(*args, 6)


def test_unknown_error_is_null_in_json(run, mine):
    args = ("compare", mine, *COLUMNS, "-l", "kmeans,ward,complete", "--lift", "fourier")
    code, out, _ = run(*args, "--n-components", 2, "--json")
    assert code == 0
    assert json.loads(out)["measures"]["lift_emd"]["error"][0] == [0.0, None, None]


def test_default_coordinate_columns_are_reported(run, mine):
    args = ("compare", mine, "--labels", "kmeans,ward")
    code, _, err = run(*args)
    assert code == 0
    assert "points: a, b, c, d, complete (all other numeric columns" in err
    assert run(*args, "--quiet")[2] == ""


def test_measures_of_labels_lift_nothing_for_several_clusterings(run, mine, monkeypatch):
    labels = ("-l", "kmeans,ward,complete", "--measures", "rand,nmi", "--json")
    monkeypatch.setattr("liftcluster.comparison.comparing.represent_in_memory", None)
    code, out, _ = run("compare", mine, *labels)
    assert (code, list(json.loads(out)["measures"])) == (0, ["rand", "nmi"])
    code, _, err = run("compare", mine, *labels, "--bandwidth", 2)
    assert (code, "bandwidth cannot apply" in err) == (2, True)


def test_labels_only_compares_without_coordinates(run, mine):
    code, out, _ = run("compare", mine, "-l", "kmeans,ward", "--labels-only", "--json")
    assert code == 0
    measures = json.loads(out)["measures"]
    assert "rand" in measures
    assert "lift_emd" not in measures


def test_standardize_equals_standardizing_the_points_first(run, mine):
    args = ("compare", mine, "-l", "kmeans,ward", *COLUMNS, "--standardize", "--json")
    found = json.loads(run(*args)[1])["measures"]["lift_emd"]["value"]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert found == pytest.approx(lc.distance(KMEANS, WARD, Z), abs=1e-9)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_a_consensus_is_written_with_labels_confidence_and_memberships(run, mine, suffix):
    pytest.importorskip("pyarrow")
    out = mine.with_name("consensus" + suffix)
    code, shown, err = run(
        "consensus",
        mine,
        *COLUMNS,
        "-l",
        "kmeans,ward,complete",
        "--n-clusters",
        3,
        "--id",
        "flower",
        "--out",
        out,
    )
    assert code == 0
    assert "written to" in err
    assert "made of" in shown
    expected = lc.consensus({"kmeans": KMEANS, "ward": WARD, "complete": COMPLETE}, 3, X, rng=0)
    columns = ["membership"] if suffix == ".npz" else [f"membership_{j}" for j in range(3)]
    found = open_table(out).read(["confidence", "margin", *columns], ["flower", "consensus"])
    assert found["flower"].tolist() == [f"f{i}" for i in range(len(X))]
    assert found["consensus"].tolist() == expected.labels.tolist()
    np.testing.assert_allclose(found["confidence"], expected.confidence, atol=1e-9)
    np.testing.assert_allclose(found["margin"], expected.margin, atol=1e-9)
    R = np.column_stack([found[name] for name in columns])
    np.testing.assert_allclose(R, expected.memberships, atol=1e-9)


def test_consensus_json_contains_labels(run, mine):
    args = ("consensus", mine, *COLUMNS, "-l", "kmeans,ward,complete", "-k", 3, "--json")
    code, out, err = run(*args)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert len(found["labels"]) == len(X)
    assert sum(found["sizes"]) == len(X)
    assert found["n_clusters"] == 3
    expected = lc.consensus({"kmeans": KMEANS, "ward": WARD, "complete": COMPLETE}, 3, X, rng=0)
    assert found["overruled"] == expected.overruled.tolist()
    for name in ("mean_distance", "best_input_distance", "label_distance"):
        assert found[name] == pytest.approx(getattr(expected, name))


def test_consensus_and_page_print_the_figures_of_the_library(run, mine):
    args = (mine, *COLUMNS, "-l", "kmeans,ward,complete")
    expected = lc.consensus({"kmeans": KMEANS, "ward": WARD, "complete": COMPLETE}, 3, X, rng=0)
    mean = np.mean([lc.distance(expected.labels, p, X) for p in (KMEANS, WARD, COMPLETE)])
    assert expected.mean_distance == pytest.approx(mean, abs=1e-7)
    shown = run("consensus", *args, "-k", 3)[1]
    assert (
        f"mean distance to all inputs by place {mean:.4f}, by labels {expected.label_distance:.4f} "
        f"(least of an input, its own 0 included: {expected.best_input_distance:.4f}"
    ) in " ".join(shown.split())
    out = mine.with_name("page.html")
    page = json.loads(run("report", *args, "-k", 3, "--out", out, "--json")[1])
    assert page["consensus"]["mean_distance"] == pytest.approx(mean, abs=1e-7)


def test_help_says_what_an_automatic_bandwidth_is(run):
    for command in ("consensus", "stability"):
        shown = " ".join(run(command, "--help")[1].replace("│", " ").split())
        assert "auto is median/4, and median for distances between clusterings." in shown


def test_consensus_chooses_the_number_of_clusters_by_default(run, mine):
    code, out, _ = run("consensus", mine, *COLUMNS, "-l", "kmeans,ward,complete", "--json")
    assert code == 0
    assert json.loads(out)["n_clusters"] >= 1


def test_consensus_can_be_written_to_stdout(run, mine):
    code, out, _ = run(
        "consensus", mine, *COLUMNS, "-l", "kmeans,ward", "-k", 3, "--out", "-", "-q"
    )
    assert code == 0
    rows = list(csv.reader(out.splitlines()))
    assert rows[0][:3] == ["consensus", "confidence", "margin"]
    assert len(rows) == len(X) + 1


def test_summarise_equals_the_library_result(run, mine):
    runs = {"kmeans": KMEANS, "ward": WARD, "complete": COMPLETE}
    expected = lc.diverse_subset(runs, 2, X, rng=0)
    options = ("summarise", mine, *COLUMNS, "--id", "flower", "--labels", "*", "--n", 2)
    found = json.loads(run(*options, "--json")[1])
    assert found["names"] == list(runs)
    assert [row["clustering"] for row in found["chosen"]] == list(expected.chosen)
    assert found["nearest"] == [expected.chosen[i] for i in expected.nearest]
    assert found["radius"] == pytest.approx(expected.radius)
    _, shown, _ = run(*options)
    assert f"radius {expected.radius:.4f}" in shown
    assert all(name in shown for name in runs)


def test_summarise_without_points_by_medoids(run, mine):
    runs = {"kmeans": KMEANS, "ward": WARD, "complete": COMPLETE}
    expected = lc.diverse_subset(runs, 1, measure="vi", method="medoids")
    options = ("-l", "kmeans,ward,complete", "--labels-only", "-n", 1, "--method", "medoids")
    found = json.loads(run("summarise", mine, *options, "--json")[1])
    assert [row["clustering"] for row in found["chosen"]] == list(expected.chosen)
    assert (found["measure"], found["method"]) == ("vi", "medoids")


def test_stability_equals_the_library_result(run, mine, tmp_path):
    options = ("stability", mine, *COLUMNS, "-l", "kmeans,ward,complete", "--reference", "ward")
    code, out, _ = run(*options, "--json")
    assert code == 0
    runs = {"kmeans": KMEANS, "ward": [f"w{w}" for w in WARD], "complete": COMPLETE}
    expected = lc.stability(X, runs, reference="ward", rng=0)
    found = json.loads(out)
    assert found["score"] == pytest.approx(expected.score)
    shown = [row["stability"] for row in found["clusters"]]
    np.testing.assert_allclose(shown, expected.clusters)
    written = tmp_path / "stable.csv"
    code, out, err = run(*options, "--out", written)
    assert code == 0
    assert "what becomes of it" in out
    assert "written to" in err
    rows = list(csv.DictReader(written.read_text().splitlines()))
    np.testing.assert_allclose([float(row["stability"]) for row in rows], expected.points)
    names = [str(expected.reference.names[i]) for i in expected.reference.labels]
    assert [row["cluster"] for row in rows] == names
    assert run(*options, "--out", "-")[1] == written.read_text()


def test_soft_clusterings_are_read_from_columns(run, tmp_path):
    path = tmp_path / "soft.csv"
    path.write_text("x,p,q,kind\n0,0.9,0.1,a\n1,0.8,0.2,a\n5,0,1,b\n6,0.3,0.7,b\n")
    code, out, _ = run(
        "compare", path, "-c", "x", "-l", "kind", "--memberships", "soft=p,q", "--json"
    )
    assert code == 0
    found = json.loads(out)["measures"]["lift_emd"]["value"]
    R = [[0.9, 0.1], [0.8, 0.2], [0, 1], [0.3, 0.7]]
    assert found == pytest.approx(lc.distance(["a", "a", "b", "b"], R, [[0.0], [1], [5], [6]]))


def test_long_list_of_membership_columns_is_not_taken_for_a_file(run, tmp_path):
    names = [f"probability_{j}" for j in range(40)]
    path, out = tmp_path / "soft.csv", tmp_path / "found.csv"
    rows = [[int(i % 40 == j) for j in range(40)] for i in range(80)]
    lines = [["x", "kind", *names], *([i, i % 3, *row] for i, row in enumerate(rows))]
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    out.write_text("what was there\n")
    soft = "soft=" + ",".join(names)
    code, _, err = run("consensus", path, "-c", "x", "-l", "kind", "-m", soft, "-k", 3, "-o", out)
    assert code == 0, err


def test_report_passes_command_line_options_to_the_page(run, mine, monkeypatch):
    received = {}

    class Page:
        def save(self, path):
            path.write_text("<html>é", encoding="utf-8")

        def to_dict(self):
            return {"title": received["title"]}

    def report_about(_, partitions, points, **options):
        received.update(options, partitions=partitions, points=points)
        return Page()

    monkeypatch.setattr("liftcluster.cli.work.report_about", report_about)
    out = mine.with_name("page.html")
    code, shown, _ = run(
        "report",
        mine,
        *COLUMNS,
        "-l",
        "kmeans,ward",
        "-o",
        out,
        "-k",
        "auto",
        "--view",
        "a,b",
        "--title",
        "T",
        "--json",
    )
    assert (code, json.loads(shown)["title"]) == (0, "T")
    np.testing.assert_array_equal(received["points"], X)
    np.testing.assert_array_equal(received["view"].coordinates, X[:, :2])
    assert received["view"].axes == ("a", "b")
    assert list(received["partitions"]) == ["kmeans", "ward"]
    assert (received["consensus"], received["rng"]) == ("auto", 0)
    assert out.read_text(encoding="utf-8") == "<html>é"


def test_report_shows_ids_and_all_other_columns(run, tmp_path):
    path, out = tmp_path / "mine.csv", tmp_path / "page.html"
    rng = np.random.default_rng(0)
    header = "user,zip,town,spent,age,height,kmeans_5,mine,yours\n"
    rows = [
        f"u{i},0{i % 7}123,{['north', '', 'south'][i % 3]},{['-1', '2.5', '', '4'][i % 4]},"
        f"{a:.3f},{h:.3f},{i % 2},{i % 3},{i % 4}\n"
        for i, (a, h) in enumerate(rng.normal(50, 9, size=(40, 2)))
    ]
    path.write_text(header + "".join(rows))
    args = ("report", path, "-c", "age,height", "-l", "mine,yours", "--id", "user", "--standardize")
    code, shown, err = run(*args, "-o", out, "--json", "--quiet")
    assert (code, err) == (0, "")
    table = json.loads(shown)["table"]
    kinds = {item["name"]: (item["group"], item["kind"]) for item in table["items"]}
    assert kinds == {
        "age": ("feature", "number"),
        "height": ("feature", "number"),
        "zip": ("column", "category"),
        "town": ("column", "category"),
        "spent": ("column", "number"),
        "kmeans_5": ("column", "category"),
    }
    found = {item["name"]: item for item in table["items"]}
    assert 20 < found["age"]["low"] < found["age"]["high"] < 90  # not standardised
    assert found["spent"]["low"] == -1
    assert found["zip"]["names"][0] == "00123"
    assert sorted(table["ids"]) == sorted(f"u{i}" for i in range(40))


def test_report_shows_a_bounded_number_of_other_columns(run, tmp_path):
    path, out = tmp_path / "wide.csv", tmp_path / "page.html"
    header = ",".join(["x", "a", "b", *(f"c{i}" for i in range(50))])
    rows = "".join(f"{i},{i % 2},{i % 3}," + ",".join(["7.5"] * 50) + "\n" for i in range(12))
    path.write_text(f"{header}\n{rows}")
    code, shown, err = run("report", path, "-c", "x", "-l", "a,b", "-o", out, "--json")
    assert code == 0
    assert "30 of 50 other columns are shown: 'c0', 'c1'" in err
    assert len(json.loads(shown)["table"]["items"]) == 31


def test_markup_and_escape_sequences_in_names_are_not_interpreted(run, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,[red]a[/red],\x1b[31mb\n1,[bold]u,p\n2,[/bold],q\n3,v,\x1b]0;own\x07\n")
    code, out, _ = run("compare", path, "-c", "x", "--labels", "[red]a[/red],\x1b[31mb")
    assert code == 0
    assert "\x1b" not in out
    assert "[red]a[/red]" in out


def test_a_warning_is_one_line(run, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,u,v\n0,a,a\n1,a,b\n2,b,a\n3,b,b\n")
    args = ("consensus", path, "-c", "x", "-l", "u,v", "-k", 9)
    code, _, err = run(*args)
    assert code == 0
    warned = [line for line in err.splitlines() if "warning" in line]
    assert warned
    assert all(line.startswith("liftcluster: ") for line in err.splitlines())
    assert run(*args, "--quiet")[2] == ""


def test_warnings_use_command_line_option_names(run, mine):
    code, _, err = run("consensus", mine, *BY_LABELS.split(), "-k", 9, "--method", "majority")
    assert code == 0
    assert "--n-clusters auto leaves it to the method\n" in err


def test_broken_pipe_prints_no_traceback(mine):
    command = f"{sys.executable} -m liftcluster consensus {mine} {BY_LABELS} --out - | true"
    shown = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in shown.stderr
    assert "Exception" not in shown.stderr
    assert shown.returncode == 0


def test_interrupt_exits_with_130_and_a_message(run, mine, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("liftcluster.cli.work.compare_two", interrupted)
    found = run("compare", mine, "-l", "kmeans,ward")
    assert found == (130, "", "liftcluster: stopped\n")


def test_interrupt_during_import_by_the_script_exits_with_130_and_a_message(tmp_path):
    (tmp_path / "numpy.py").write_text("raise KeyboardInterrupt")
    start = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, name = start["liftcluster"].split(":")
    ended = subprocess.run(
        [sys.executable, "-c", f"from {module} import {name}; {name}()", "measures"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "liftcluster: stopped\n")


def test_interrupt_during_import_by_python_m_exits_with_130_and_a_message(tmp_path):
    (tmp_path / "numpy.py").write_text("import signal; signal.raise_signal(signal.SIGINT)")
    ended = subprocess.run(
        [sys.executable, "-m", "liftcluster", "measures"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "liftcluster: stopped\n")


def test_internal_error_exits_with_1_and_one_line(run, mine, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("on two\nlines")

    monkeypatch.setattr("liftcluster.cli.work.compare_two", broken)
    code, out, err = run("compare", mine, "-l", "kmeans,ward")
    assert (code, out) == (1, "")
    assert "unexpected RuntimeError: on two lines" in err
    assert len(err.splitlines()) == 1
    assert "Traceback" in run("compare", mine, "-l", "kmeans,ward", "--debug")[2]


def test_no_progress_is_shown_without_a_terminal(mine):
    shown = subprocess.run(
        [
            sys.executable,
            "-m",
            "liftcluster",
            "compare",
            mine,
            "--labels-only",
            "-l",
            "kmeans,ward",
        ],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"TERM": "xterm"},
    )
    assert shown.stderr == ""
    assert "\x1b" not in shown.stdout


@pytest.fixture
def non_ascii_csv(tmp_path):
    """A file with non-ASCII names."""
    path = tmp_path / "données.csv"
    rows = "".join(f"{i},{'àß'[i > 3]},{'中文'[i % 2]}\n" for i in range(8))
    path.write_text(f"x,été,中\n{rows}", encoding="utf-8")
    return path


def run_with_ascii_output(*args):
    return subprocess.run(
        [sys.executable, "-m", "liftcluster", *args],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("compare {} --labels-only -l été,中", rb"\xe9t\xe9"),
        ("consensus {} --labels-only -l été,中 -k 2 --method majority", rb"\xe9t\xe9"),
        ("measures", rb"\u221e"),
    ],
)
def test_tables_are_escaped_if_stdout_is_ascii(non_ascii_csv, command, shown):
    ended = run_with_ascii_output(*command.format(non_ascii_csv).split())
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.isascii()
    assert shown in ended.stdout


def test_json_is_valid_if_stdout_is_ascii(non_ascii_csv):
    ended = run_with_ascii_output(
        "compare", str(non_ascii_csv), "--labels-only", "-l", "été,中", "--json"
    )
    assert ended.stdout.isascii()
    assert json.loads(ended.stdout)["names"] == ["été", "中"]


def test_consensus_csv_on_stdout_is_always_utf8(non_ascii_csv):
    non_ascii_csv.write_text(non_ascii_csv.read_text("utf-8").replace("x,", "é,", 1), "utf-8")
    args = (str(non_ascii_csv), "--labels-only", "-l", "été,中", "--id", "é", "-k", "2")
    ended = run_with_ascii_output("consensus", *args, "--method", "majority", "-o", "-")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.decode("utf-8").startswith("é,consensus,confidence")


@pytest.mark.parametrize("options", ["", "--json", "--out -"])
def test_closed_stdout_is_a_one_line_error(mine, options):
    command = f"{sys.executable} -m liftcluster consensus {mine} -q {BY_LABELS}"
    ended = subprocess.run(
        ["bash", "-c", f"{command} {options} >&-"], stderr=subprocess.PIPE, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr == "liftcluster: the output cannot be written: Bad file descriptor\n"


@pytest.mark.long
def test_closed_stdout_is_ignored_by_commands_that_do_not_write_to_it(mine):
    page = mine.with_name("page.html")
    command = f"{sys.executable} -m liftcluster report {mine} -c a,b -l kmeans,ward -o {page}"
    ended = subprocess.run(
        ["bash", "-c", f"{command} <&- >&-"], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (ended.returncode, "written to" in ended.stderr) == (0, True)


def test_a_closed_stderr_puts_no_messages_on_stdout(mine):
    command = f"{sys.executable} -m liftcluster compare {mine} --labels-only -l kmeans,ward --json"
    shown = subprocess.run(["bash", "-c", f"{command} 2>&-"], stdout=subprocess.PIPE, check=True)
    assert json.loads(shown.stdout)["names"] == ["kmeans", "ward"]


@pytest.mark.long
def test_make_flowers_writes_flowers_csv_next_to_itself(tmp_path):
    copy = Path(shutil.copy(ROOT / "examples" / "make_flowers.py", tmp_path))
    subprocess.run([sys.executable, copy], check=True, cwd=ROOT)
    made = (tmp_path / "flowers.csv").read_text().splitlines()
    kept = (ROOT / "examples" / "flowers.csv").read_text().splitlines()
    assert (made[0], len(made)) == (kept[0], len(kept))


def test_the_page_says_what_was_run_without_folders(mine, tmp_path):
    text = mine.read_text().splitlines()
    text[3] = text[3].replace(text[3].split(",")[1], "", 1)  # a row lacks a coordinate
    gaps = tmp_path / "my flowers.csv"
    gaps.write_text("\n".join(text) + "\n")
    out = tmp_path / "page.html"
    args = ["report", str(gaps), *COLUMNS, "-l", "kmeans,ward", f"--out={out}", "--missing", "drop"]
    args += ["--standardize", "--title", "it's mine", "--json"]
    shown = subprocess.run(
        [sys.executable, "-m", "liftcluster", *args], capture_output=True, text=True, check=True
    )
    settings = dict(json.loads(shown.stdout)["settings"])
    assert settings["file"] == "my flowers.csv"
    assert settings["rows"] == "150"
    assert settings["missing coordinates"].startswith(
        "1 of 150 rows lack a coordinate and are left"
    )
    assert settings["coordinates"] == "a, b, c, d"
    assert settings["standardised"].startswith("yes")
    expected = [str(tmp_path / a).split("/")[-1] if a == str(gaps) else a for a in args]
    expected[expected.index(f"--out={out}")] = "--out=page.html"
    assert shlex.split(settings["command"]) == ["liftcluster", *expected]
    assert str(tmp_path) not in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("/home/me/a.csv", "a.csv"),
        ("~/a.csv", "a.csv"),
        ("data/a.csv", "data/a.csv"),
        ("--out=/home/me/p.html", "--out=p.html"),
        ("gmm=/home/me/soft.npy", "gmm=soft.npy"),
        (r"C:\Users\me\a.csv", "a.csv"),
        ("-", "-"),
        ("a b", "'a b'"),
    ],
)
def test_paths_in_the_command_line_are_cut_to_file_names(typed, shown):
    assert command_line([typed]) == "liftcluster " + shown


def test_the_page_of_stability_says_what_was_run(run, mine):
    out = mine.with_name("page.html")
    code, _, err = run("stability", mine, *COLUMNS, "-l", "kmeans,ward", "--page", out)
    assert code == 0, err
    assert '["file","mine.csv"]' in out.read_text(encoding="utf-8")
