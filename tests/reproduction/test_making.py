"""Reproduction of the paper: tasks, missing data, the page, the command."""

import csv
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from reproduction import SECTIONS, Settings, consensus_tasks, data, pipeline, reproduce_paper
from reproduction.data import Labelled, Located, MissingData, load, locate
from reproduction.environment import describe_environment
from reproduction.execution import run_tasks
from reproduction.page import write_page
from reproduction.plots import plot_digits
from reproduction.tasks import Task, TaskCache
from support.amount import also

ROOT = Path(__file__).parents[2]
QUICK = Settings(seeds=2, seeds_mnist=1)


@pytest.fixture
def folder(tmp_path):
    """A folder of data with two of the sets; the second only has the shape of Soybean."""
    place = tmp_path / "data"
    place.mkdir()
    iris = load_iris()
    write_set(place / "iris.csv", iris.data, iris.target)
    rng = np.random.default_rng(0)
    classes = np.arange(47) % 4
    write_set(place / "soybean_small.csv", rng.normal(classes[:, None], 1, (47, 35)), classes)
    return place


@pytest.fixture
def no_network(monkeypatch):
    def refuse(number):
        raise OSError("there is no network")

    monkeypatch.setattr(data, "_from_openml", refuse)


def write_set(path, X, classes):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{i}" for i in range(X.shape[1])), "class"])
        writer.writerows([*map(repr, row.tolist()), c] for row, c in zip(X, classes, strict=True))


# Tasks


def count_calls(log, value, fails=False):
    with open(log, "a") as file:
        file.write(f"{value}\n")
    if fails and not Path(log).with_suffix(".fixed").exists():
        raise KeyboardInterrupt
    return {"square": value * value}


def size_of(points, seed):
    return len(points.X)


def add_up(*results):
    return sum(result["square"] for result in results)


def some_tasks(tmp_path, fails_at=None):
    log = str(tmp_path / "calls.log")
    parts = [
        Task(f"part-{i}", count_calls, {"log": log, "value": i, "fails": i == fails_at})
        for i in range(5)
    ]
    return [Task("total", add_up, dependencies=tuple(parts))]


def calls(tmp_path):
    return (tmp_path / "calls.log").read_text().split()


def test_interrupted_run_resumes_from_completed_tasks(tmp_path):
    tasks, cache = some_tasks(tmp_path, fails_at=3), TaskCache(tmp_path / "tasks")
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, cache)
    kept = {path.name: path.read_bytes() for path in cache.folder.iterdir()}
    assert sorted(kept) == ["part-0.json", "part-1.json", "part-2.json"]
    (tmp_path / "calls.fixed").touch()
    work = run_tasks(tasks, cache)
    assert work.results["total"].result == 0 + 1 + 4 + 9 + 16
    assert work.reused == ("part-0", "part-1", "part-2")
    assert work.computed == ("part-3", "part-4", "total")
    assert calls(tmp_path) == ["0", "1", "2", "3", "3", "4"]
    for name, content in kept.items():
        assert (cache.folder / name).read_bytes() == content
    again = run_tasks(tasks, cache)
    assert again.computed == ()
    assert again.results == work.results


def test_redo_recomputes_a_cached_task(tmp_path):
    tasks, cache = some_tasks(tmp_path), TaskCache(tmp_path / "tasks")
    run_tasks(tasks, cache)
    assert run_tasks(tasks, cache, redo=["part-1"]).computed == ("part-1",)
    assert calls(tmp_path) == ["0", "1", "2", "3", "4", "1"]


def test_cache_key_depends_on_all_inputs_of_a_task(monkeypatch):
    where = Located("iris", "/somewhere", "abc")
    task = Task("p", add_up, {"seed": 0}, where)
    same = Task("p", add_up, {"seed": 0}, Located("iris", "/elsewhere", "abc"))
    assert same.key == task.key
    others = [
        Task("q", add_up, {"seed": 0}, where),
        Task("p", add_up, {"seed": 1}, where),
        Task("p", add_up, {"seed": 0}, Located("iris", "/somewhere", "abd")),
        Task("p", add_up, {"seed": 0}, where, dependencies=(task,)),
    ]
    assert len({task.key, *(other.key for other in others)}) == 5
    before = task.key
    monkeypatch.setattr("reproduction.tasks.__version__", "9.9")
    assert task.key != before


def test_damaged_cached_result_is_recomputed(tmp_path):
    (task,) = some_tasks(tmp_path)
    cache = TaskCache(tmp_path / "tasks")
    run_tasks([task], cache)
    (cache.folder / "total.json").write_text('{"key": "cut of')
    (cache.folder / ".part-1.json.123.tmp").write_text("half")
    assert run_tasks([task], cache).computed == ("total",)
    assert not list(cache.folder.glob(".*"))


def test_partial_files_of_a_concurrent_run_are_kept(tmp_path):
    cache, half = TaskCache(tmp_path / "tasks"), tmp_path / "tasks" / ".liftcluster-1.tmp"
    with cache.opened():
        half.write_text("half")
        run_tasks(some_tasks(tmp_path), TaskCache(tmp_path / "tasks"))
        assert half.exists()
    run_tasks(some_tasks(tmp_path), TaskCache(tmp_path / "tasks"))
    assert not half.exists()


def test_cache_key_depends_on_installed_graph_partitioners(monkeypatch):
    located = {"iris": Located("iris", "/somewhere", "abc")}
    keys = []
    for missing in (("pymetis", "mtkahypar"), ("mtkahypar",), ("pymetis",), ()):
        with monkeypatch.context() as without:
            for module in ("pymetis", "mtkahypar"):
                there = None if module in missing else sys
                without.setitem(sys.modules, module, there)
            keys.append(consensus_tasks.plan_consensus(Settings(seeds=1), located)["iris 0"].key)
    assert len(set(keys)) == 4


def test_exclusive_timing_tasks_run_last(tmp_path):
    log = str(tmp_path / "calls.log")
    timing = Task("timing", count_calls, {"log": log, "value": 9}, exclusive=True)
    run_tasks([timing, *some_tasks(tmp_path)], TaskCache(tmp_path / "tasks"), jobs=1)
    assert calls(tmp_path) == ["0", "1", "2", "3", "4", "9"]


@pytest.mark.long
def test_parallel_run_gives_the_results_of_a_serial_run(tmp_path):
    one, two = (reproduce_paper(["table-1"], tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert two.sections["table-1"]["values"] == one.sections["table-1"]["values"]
    assert two.computed == one.computed == 2


# Data


def test_data_set_is_read_from_the_folder(folder, tmp_path):
    found = load(locate("iris", folder, tmp_path / "cache"))
    np.testing.assert_array_equal(found.X, load_iris().data)
    np.testing.assert_array_equal(found.classes.astype(int), load_iris().target)


@pytest.mark.parametrize("jobs", [1, also(2)])
def test_data_that_change_during_a_run_are_an_error(folder, tmp_path, jobs):
    where = locate("iris", folder, tmp_path)
    path = folder / "iris.csv"
    path.write_text(path.read_text().replace("5.1,3.5", "5.2,3.5", 1))
    tasks = [Task(f"p{i}", size_of, {"seed": i}, where) for i in range(2)]
    with pytest.raises(ValueError, match="the files of Iris changed during the run; run again"):
        run_tasks(tasks, TaskCache(tmp_path / "tasks"), jobs=jobs)
    assert not list((tmp_path / "tasks").glob("*.json"))


def test_missing_data_set_is_downloaded_once(tmp_path, monkeypatch):
    fetched = []

    def fetch(number):
        fetched.append(number)
        return load_iris().data, load_iris().target.astype(str)

    monkeypatch.setattr(data, "_from_openml", fetch)
    first = locate("iris", None, tmp_path / "cache")
    assert locate("iris", None, tmp_path / "cache") == first
    assert fetched == [61]
    np.testing.assert_array_equal(load(first).X, load_iris().data)


def test_both_parts_of_mnist_need_one_download(tmp_path, monkeypatch):
    small = {
        name: replace(data.SETS[name], shape=(n, 2), rows=rows)
        for name, n, rows in (("mnist-test", 10, (60, None)), ("mnist-train", 60, (None, 60)))
    }
    X = np.arange(70.0)[:, None] * np.ones(2)
    monkeypatch.setattr(data, "SETS", small)
    monkeypatch.setattr(data, "_from_openml", lambda number: (X, np.arange(70) % 10))
    test = load(locate("mnist-test", None, tmp_path))
    monkeypatch.setattr(data, "_from_openml", None)
    train = load(locate("mnist-train", None, tmp_path))
    np.testing.assert_array_equal(np.vstack([train.X, test.X]), X)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,class\n1,2,x\n3,4,y\n", "should have 150 × 4 numbers in 3 classes, but iris.csv has 2 × 2 in 2"),
        ("a,b,class\n1,oops,x\n", "iris.csv cannot be read"),
    ],
)  # fmt: skip
def test_invalid_data_file_is_reported(tmp_path, content, message):
    (tmp_path / "iris.csv").write_text(content)
    with pytest.raises(MissingData, match=re.escape(message)):
        locate("iris", tmp_path, tmp_path / "cache")


def test_missing_data_are_reported_and_other_sections_run(tmp_path, folder, no_network):
    messages = []
    made = reproduce_paper(
        ["table-3", "figure-9", "figure-3"],
        tmp_path / "out",
        folder,
        settings=QUICK,
        sets=["iris", "wine", "soybean", "mnist-train"],
        on_missing=messages.append,
    )
    assert list(made.missing) == ["wine", "mnist-train"]
    assert list(made.missing.values()) == messages
    assert messages[0] == (
        "Wine: not in the data folder, and the download from OpenML failed (there is no network); put "
        "wine.csv (from UCI, class in last column) into a folder and pass it as --data or LIFTCLUSTER_DATA"
    )
    assert list(made.sections["table-3"]["values"]["methods"]) == ["iris", "soybean"]
    assert made.sections["figure-9"]["values"] == {}
    assert made.sections["figure-3"]["values"]["claims"][0]["holds"]
    page = made.page.read_text()
    assert f"Missing data set: {messages[0]}" in page
    assert "mnist/train-images-idx3-ubyte.gz" in page


def test_output_contains_no_local_paths_or_host_name(tmp_path, folder, no_network):
    reproduce_paper(["table-1", "table-2"], tmp_path / "out", folder, sets=["wine"])
    written = "".join((tmp_path / "out" / name).read_text() for name in ("paper.json", "paper.md"))
    assert describe_environment()["versions"]["numpy"] in written
    for name in (str(tmp_path), str(Path.home()), platform.node()):
        assert name not in written


# Page and plots


def test_sections_of_earlier_runs_stay_on_the_page(tmp_path):
    reproduce_paper(["table-1"], tmp_path)
    page = reproduce_paper(["figure-2"], tmp_path).page.read_text()
    assert "| ADCO |" in page
    assert "![Figure 2: concentric circles, where CC fails](images/paper-figure-2.png)" in page
    assert "Not computed yet: `python -m reproduction table-2`" in page
    assert (tmp_path / "images" / "paper-figure-2.svg").exists()


def test_cached_results_keep_their_date_and_environment(tmp_path, monkeypatch):
    today = describe_environment()
    before = reproduce_paper(["table-1"], tmp_path).sections["table-1"]["environments"]
    monkeypatch.setattr(
        "reproduction.tasks.describe_environment",
        lambda: today | {"date": "2099-01-01", "processor": "another"},
    )
    made = reproduce_paper(["table-1", "figure-2"], tmp_path)
    assert made.sections["table-1"]["environments"] == before
    page = made.page.read_text()
    assert f"- {today['date']}" in page
    assert re.search(r"- 2099-01-01, .* cores of another, .*: figure-2 \(.*\)\.", page)
    (tmp_path / "tasks" / "table-1-2d2c.json").unlink()
    made = reproduce_paper(["table-1"], tmp_path)
    new, old = made.sections["table-1"]["environments"]
    assert (new["date"], old["date"]) == ("2099-01-01", today["date"])
    assert new["seconds"] + old["seconds"] == pytest.approx(made.sections["table-1"]["seconds"])


def test_earlier_results_stay_on_the_page_if_data_are_missing(tmp_path, folder, no_network):
    out = tmp_path / "out"
    reproduce_paper(["table-3"], out, folder, settings=QUICK, sets=["iris"])
    (folder / "iris.csv").unlink()
    page = reproduce_paper(["table-3"], out, folder, settings=QUICK, sets=["iris"]).page.read_text()
    assert "| Iris | " in page


def test_sections_without_a_requested_data_set_are_unchanged(reproduce, tmp_path, folder):
    out = tmp_path / "out"
    reproduce_paper(["table-3"], out, folder, settings=QUICK, sets=["iris"])
    before = (out / "paper.json").read_bytes()
    code, shown, err = reproduce("table-3", "--sets", "mnist-train", "--out", out)
    assert (code, shown) == (2, "")
    assert "Table 3: consensus by the Rand distance uses iris, glass," in err
    assert (out / "paper.json").read_bytes() == before
    made = reproduce_paper(["figure-9", "figure-2"], out, folder, settings=QUICK, sets=["iris"])
    assert list(made.sections) == ["figure-2"]


@pytest.mark.parametrize(
    "damaged", ["{}", also("[]"), also('{"values": {}}'), also("null"), also('"text"')]
)
def test_invalid_sections_of_the_json_file_are_ignored(tmp_path, damaged):
    reproduce_paper(["figure-2"], tmp_path)
    book = tmp_path / "paper.json"
    content = json.loads(book.read_text())
    content["sections"]["table-1"] = json.loads(damaged)
    book.write_text(json.dumps(content))
    page = reproduce_paper(["figure-3"], tmp_path).page.read_text()
    assert "Not computed yet: `python -m reproduction table-1`" in page
    assert "![Figure 2: " in page


def test_page_in_the_docs_is_up_to_date():
    """To update it: python -m reproduction table-1 --out docs/evidence."""
    evidence = ROOT / "docs" / "evidence"
    book = json.loads((evidence / "paper.json").read_text(encoding="utf-8"))
    assert write_page(book["sections"]) == (evidence / "paper.md").read_text(encoding="utf-8")
    assert list(book["sections"]) == list(SECTIONS)
    for section in book["sections"].values():
        if "picture" in section:
            assert (evidence / "images" / section["picture"]).stat().st_size < 150_000


def test_the_same_numbers_give_the_same_files(tmp_path):
    for name in ("a", "b"):
        reproduce_paper(["figure-3"], tmp_path / name)
    for path in (tmp_path / "a" / "images").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / "images" / path.name).read_bytes()


def test_tables_are_made_without_matplotlib(tmp_path, monkeypatch):
    def absent():
        raise ImportError("drawing figures needs matplotlib")

    monkeypatch.setattr(pipeline, "load_matplotlib", absent)
    made = reproduce_paper(["table-1", "figure-1", "figure-2"], tmp_path)
    assert made.notes == ("drawing figures needs matplotlib",)
    assert made.sections["figure-1"]["values"]["claims"][0]["holds"]
    assert "| ADCO |" in made.page.read_text()
    assert "![" not in made.page.read_text()


@pytest.mark.parametrize("name", [f"figure-{i}" for i in range(1, 7)])
def test_claims_of_constructed_figures_hold_and_axes_are_labelled(name):
    section = SECTIONS[name]
    (task,) = section.plan(QUICK, {}).values()
    values = section.evaluate({"all": task.function(**task.options)})
    assert all(claim["holds"] for claim in values["claims"])
    figure = section.plot(values, {})
    assert all(ax.get_xlabel() for ax in figure.axes)
    shared = 3 if "partitions" in values else 1
    assert sum(bool(ax.get_ylabel()) for ax in figure.axes) >= max(1, len(figure.axes) - shared)


def test_figure_of_digits_has_a_row_for_each_partition():
    rng = np.random.default_rng(0)
    classes = np.repeat([str(d) for d in range(10)], 5)
    points = Labelled(rng.integers(0, 255, (50, 784)).astype(np.float32), classes)
    truth = np.arange(50) // 5
    inputs = {name: truth.tolist() for name in consensus_tasks.LINKAGES}
    methods = {name: {"labels": (truth + 1).tolist()} for name in ("cspa", "lift_km")}
    section = SECTIONS["figure-7"]
    plan = section.plan(Settings(seeds_mnist=1), {"mnist-test": Located("mnist-test", "", "")})
    found = plan["0"].function(points, {"methods": methods}, inputs, truth.tolist())
    values = section.evaluate({"0": found})
    assert values["counts"]["lift_km"] == {"seen": [10], "recovered": [10]}
    figure = plot_digits(values, {"0": found})
    assert len(figure.axes) == 50
    titles = [ax.get_ylabel().split("\n")[0] for ax in figure.axes[::10]]
    assert titles == ["k-means", "complete linkage", "average linkage", "CSPA", "LiftKm"]
    assert "| LiftKm | 10 | 0 1 2 3 4 5 6 7 8 9 | 10 | 9 |" in section.describe(values)


# From the command line


def test_the_command_makes_a_table(reproduce, tmp_path):
    code, out, err = reproduce("table-1", "--out", tmp_path / "new" / "folder", "--jobs", 1)
    assert code == 0
    assert "for all five spatial measures, on both sets: holds" in out
    assert "2 tasks: 2 computed, 0 loaded from earlier runs" in err
    book = json.loads((tmp_path / "new" / "folder" / "paper.json").read_text())
    record = book["sections"]["table-1"]
    (made,) = record["environments"]
    assert made["python"] == platform.python_version()
    assert made["seconds"] == record["seconds"]
    assert list(record["durations"]) == ["table-1-2d2c", "table-1-2d3c"]
    assert record["settings"] == {"seeds": 20, "seeds_mnist": 5, "full": False}
    assert reproduce("table-1", "--out", tmp_path / "new" / "folder")[2].startswith(
        "liftcluster: 2 tasks: 0 computed, 2 loaded from earlier runs"
    )


def test_unknown_section_is_an_error_that_lists_the_sections(reproduce, tmp_path):
    code, out, err = reproduce("table-1", "table-5", "--out", tmp_path)
    assert code == 2
    assert out == ""
    assert err == (
        f"liftcluster: section must be one of all, {', '.join(SECTIONS)}; got 'table-5'; did you mean 'table-4'?\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sets", "iris,wein"], "--sets must be one of iris, glass"),
        (["--out", "{file}"], "is a file; --out must be a folder"),
        (["--data", "{file}"], "is not a folder; --data or LIFTCLUSTER_DATA must be"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_invalid_options_are_a_one_line_error(reproduce, tmp_path, options, message):
    file = tmp_path / "a-file"
    file.touch()
    given = [option.format(file=file) for option in options]
    code, _, err = reproduce("table-1", "--out", tmp_path / "out", *given)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
def test_stopping_the_command_leaves_only_complete_results(tmp_path, folder):
    """A second run reuses them."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "reproduction", "table-3", "--sets", "soybean"]
    command += ["--data", str(folder), "--out", str(out), "--jobs", "2"]
    stopped = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(out.glob("tasks/consensus-*"))) < 2:
        time.sleep(0.05)
    os.killpg(stopped.pid, signal.SIGINT)  # as a terminal does
    assert stopped.communicate(timeout=30)[1] == "liftcluster: stopped\n"
    assert stopped.returncode == 130
    kept = {path: path.read_bytes() for path in out.glob("tasks/*.json")}
    assert 2 <= len(kept) < 41
    assert all(json.loads(content)["result"] for content in kept.values())
    assert not (out / "paper.md").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (
        f"41 tasks: {41 - len(kept)} computed, {len(kept)} loaded from earlier runs" in again.stderr
    )
    assert all(path.read_bytes() == content for path, content in kept.items())
