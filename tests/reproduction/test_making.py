"""Making the paper's tables and figures: pieces, data that are missing, pages, the command."""

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

from reproduction import SECTIONS, Settings, combining, data, make_paper
from reproduction import making as making_module
from reproduction.data import Labelled, Located, MissingData, load, locate
from reproduction.ledger import Ledger, Piece
from reproduction.page import write_page
from reproduction.pictures import draw_digits
from reproduction.record import circumstances
from reproduction.working import do_all
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


# Pieces of work


def count_calls(log, value, fails=False):
    with open(log, "a") as file:
        file.write(f"{value}\n")
    if fails and not Path(log).with_suffix(".mended").exists():
        raise KeyboardInterrupt
    return {"square": value * value}


def size_of(points, seed):
    return len(points.X)


def add_up(*results):
    return sum(result["square"] for result in results)


def some_pieces(tmp_path, fails_at=None):
    log = str(tmp_path / "calls.log")
    parts = [
        Piece(f"part-{i}", count_calls, {"log": log, "value": i, "fails": i == fails_at})
        for i in range(5)
    ]
    return [Piece("total", add_up, needs=tuple(parts))]


def calls(tmp_path):
    return (tmp_path / "calls.log").read_text().split()


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    pieces, ledger = some_pieces(tmp_path, fails_at=3), Ledger(tmp_path / "pieces")
    with pytest.raises(KeyboardInterrupt):
        do_all(pieces, ledger)
    kept = {path.name: path.read_bytes() for path in ledger.folder.iterdir()}
    assert sorted(kept) == ["part-0.json", "part-1.json", "part-2.json"]
    (tmp_path / "calls.mended").touch()
    work = do_all(pieces, ledger)
    assert work.finished["total"].result == 0 + 1 + 4 + 9 + 16
    assert work.reused == ("part-0", "part-1", "part-2")
    assert work.computed == ("part-3", "part-4", "total")
    assert calls(tmp_path) == ["0", "1", "2", "3", "3", "4"]
    for name, content in kept.items():
        assert (ledger.folder / name).read_bytes() == content
    again = do_all(pieces, ledger)
    assert again.computed == ()
    assert again.finished == work.finished


def test_what_was_done_is_done_again_on_request(tmp_path):
    pieces, ledger = some_pieces(tmp_path), Ledger(tmp_path / "pieces")
    do_all(pieces, ledger)
    assert do_all(pieces, ledger, redo=["part-1"]).computed == ("part-1",)
    assert calls(tmp_path) == ["0", "1", "2", "3", "4", "1"]


def test_a_key_changes_with_all_that_determines_the_answer(monkeypatch):
    where = Located("iris", "/somewhere", "abc")
    piece = Piece("p", add_up, {"seed": 0}, where)
    same = Piece("p", add_up, {"seed": 0}, Located("iris", "/elsewhere", "abc"))
    assert same.key == piece.key
    others = [
        Piece("q", add_up, {"seed": 0}, where),
        Piece("p", add_up, {"seed": 1}, where),
        Piece("p", add_up, {"seed": 0}, Located("iris", "/somewhere", "abd")),
        Piece("p", add_up, {"seed": 0}, where, needs=(piece,)),
    ]
    assert len({piece.key, *(other.key for other in others)}) == 5
    before = piece.key
    monkeypatch.setattr("reproduction.ledger.__version__", "9.9")
    assert piece.key != before


def test_a_file_that_is_not_a_piece_is_done_again(tmp_path):
    (piece,) = some_pieces(tmp_path)
    ledger = Ledger(tmp_path / "pieces")
    do_all([piece], ledger)
    (ledger.folder / "total.json").write_text('{"key": "cut of')
    (ledger.folder / ".part-1.json.123.tmp").write_text("half")
    assert do_all([piece], ledger).computed == ("total",)
    assert not list(ledger.folder.glob(".*"))


def test_what_another_run_is_writing_is_left_to_it(tmp_path):
    ledger, half = Ledger(tmp_path / "pieces"), tmp_path / "pieces" / ".liftcluster-1.tmp"
    with ledger.opened():
        half.write_text("half")
        do_all(some_pieces(tmp_path), Ledger(tmp_path / "pieces"))
        assert half.exists()
    do_all(some_pieces(tmp_path), Ledger(tmp_path / "pieces"))
    assert not half.exists()


def test_partitioners_of_graphs_that_are_installed_later_are_used(monkeypatch):
    located = {"iris": Located("iris", "/somewhere", "abc")}
    keys = []
    for missing in (("pymetis", "mtkahypar"), ("mtkahypar",), ("pymetis",), ()):
        with monkeypatch.context() as without:
            for module in ("pymetis", "mtkahypar"):
                there = None if module in missing else sys
                without.setitem(sys.modules, module, there)
            keys.append(combining.consensus_pieces(Settings(seeds=1), located)["iris 0"].key)
    assert len(set(keys)) == 4


def test_timings_come_last_and_by_themselves(tmp_path):
    log = str(tmp_path / "calls.log")
    timing = Piece("timing", count_calls, {"log": log, "value": 9}, alone=True)
    do_all([timing, *some_pieces(tmp_path)], Ledger(tmp_path / "pieces"), jobs=1)
    assert calls(tmp_path) == ["0", "1", "2", "3", "4", "9"]


@pytest.mark.long
def test_processes_find_what_one_process_finds(tmp_path):
    one, two = (make_paper(["table-1"], tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert two.sections["table-1"]["values"] == one.sections["table-1"]["values"]
    assert two.computed == one.computed == 2


# Data


def test_a_set_is_found_in_the_folder_and_read_as_it_is(folder, tmp_path):
    found = load(locate("iris", folder, tmp_path / "cache"))
    np.testing.assert_array_equal(found.X, load_iris().data)
    np.testing.assert_array_equal(found.classes.astype(int), load_iris().target)


@pytest.mark.parametrize("jobs", [1, also(2)])
def test_data_that_change_during_the_work_are_not_taken_for_what_they_were(folder, tmp_path, jobs):
    where = locate("iris", folder, tmp_path)
    path = folder / "iris.csv"
    path.write_text(path.read_text().replace("5.1,3.5", "5.2,3.5", 1))
    pieces = [Piece(f"p{i}", size_of, {"seed": i}, where) for i in range(2)]
    with pytest.raises(ValueError, match="Iris has changed since it was found; start again"):
        do_all(pieces, Ledger(tmp_path / "pieces"), jobs=jobs)
    assert not list((tmp_path / "pieces").glob("*.json"))


def test_what_is_not_in_the_folder_is_fetched_once(tmp_path, monkeypatch):
    asked = []

    def fetch(number):
        asked.append(number)
        return load_iris().data, load_iris().target.astype(str)

    monkeypatch.setattr(data, "_from_openml", fetch)
    first = locate("iris", None, tmp_path / "cache")
    assert locate("iris", None, tmp_path / "cache") == first
    assert asked == [61]
    np.testing.assert_array_equal(load(first).X, load_iris().data)


def test_both_parts_of_mnist_come_of_one_fetch(tmp_path, monkeypatch):
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
    ("content", "says"),
    [
        ("a,b,class\n1,2,x\n3,4,y\n", "should have 150 × 4 numbers in 3 classes, but iris.csv has 2 × 2 in 2"),
        ("a,b,class\n1,oops,x\n", "iris.csv cannot be read"),
    ],
)  # fmt: skip
def test_a_file_that_is_something_else_is_said_to_be_so(tmp_path, content, says):
    (tmp_path / "iris.csv").write_text(content)
    with pytest.raises(MissingData, match=re.escape(says)):
        locate("iris", tmp_path, tmp_path / "cache")


def test_missing_data_are_named_while_the_rest_runs(tmp_path, folder, no_network):
    told = []
    made = make_paper(
        ["table-3", "figure-9", "figure-3"],
        tmp_path / "out",
        folder,
        settings=QUICK,
        sets=["iris", "wine", "soybean", "mnist-train"],
        tell=told.append,
    )
    assert list(made.missing) == ["wine", "mnist-train"]
    assert list(made.missing.values()) == told
    assert told[0] == (
        "Wine: not in the folder of data, and OpenML did not answer (there is no network); put "
        "wine.csv (UCI's, the class last) into a folder and give it as --data or LIFTCLUSTER_DATA"
    )
    assert list(made.sections["table-3"]["values"]["methods"]) == ["iris", "soybean"]
    assert made.sections["figure-9"]["values"] == {}
    assert made.sections["figure-3"]["values"]["claims"][0]["holds"]
    page = made.page.read_text()
    assert f"Missing here: {told[0]}" in page
    assert "mnist/train-images-idx3-ubyte.gz" in page


def test_nothing_that_names_the_machine_is_written(tmp_path, folder, no_network):
    make_paper(["table-1", "table-2"], tmp_path / "out", folder, sets=["wine"])
    written = "".join((tmp_path / "out" / name).read_text() for name in ("paper.json", "paper.md"))
    assert circumstances()["versions"]["numpy"] in written
    for name in (str(tmp_path), str(Path.home()), platform.node()):
        assert name not in written


# Pages and pictures


def test_sections_of_earlier_runs_stay_on_the_page(tmp_path):
    make_paper(["table-1"], tmp_path)
    page = make_paper(["figure-2"], tmp_path).page.read_text()
    assert "| ADCO |" in page
    assert "![Figure 2: concentric circles, where CC fails](images/paper-figure-2.png)" in page
    assert "Not made yet: `python -m reproduction table-2`" in page
    assert (tmp_path / "images" / "paper-figure-2.svg").exists()


def test_what_was_done_before_keeps_the_day_and_machine_it_was_done_on(tmp_path, monkeypatch):
    today = circumstances()
    before = make_paper(["table-1"], tmp_path).sections["table-1"]["circumstances"]
    monkeypatch.setattr(
        "reproduction.ledger.circumstances",
        lambda: today | {"date": "2099-01-01", "processor": "another"},
    )
    made = make_paper(["table-1", "figure-2"], tmp_path)
    assert made.sections["table-1"]["circumstances"] == before
    page = made.page.read_text()
    assert f"- {today['date']}" in page
    assert re.search(r"- 2099-01-01, .* cores of another, .*: figure-2 \(.* of work\)\.", page)
    (tmp_path / "pieces" / "table-1-2d2c.json").unlink()
    made = make_paper(["table-1"], tmp_path)
    new, old = made.sections["table-1"]["circumstances"]
    assert (new["date"], old["date"]) == ("2099-01-01", today["date"])
    assert new["seconds"] + old["seconds"] == pytest.approx(made.sections["table-1"]["seconds"])


def test_what_was_found_stays_on_the_page_when_its_data_are_missing(tmp_path, folder, no_network):
    out = tmp_path / "out"
    make_paper(["table-3"], out, folder, settings=QUICK, sets=["iris"])
    (folder / "iris.csv").unlink()
    page = make_paper(["table-3"], out, folder, settings=QUICK, sets=["iris"]).page.read_text()
    assert "| Iris | " in page


def test_sections_without_a_set_that_was_asked_for_are_left_alone(reproduce, tmp_path, folder):
    out = tmp_path / "out"
    make_paper(["table-3"], out, folder, settings=QUICK, sets=["iris"])
    before = (out / "paper.json").read_bytes()
    code, shown, err = reproduce("table-3", "--sets", "mnist-train", "--out", out)
    assert (code, shown) == (2, "")
    assert "Table 3: consensus by the Rand distance is about iris, glass," in err
    assert (out / "paper.json").read_bytes() == before
    made = make_paper(["figure-9", "figure-2"], out, folder, settings=QUICK, sets=["iris"])
    assert list(made.sections) == ["figure-2"]


@pytest.mark.parametrize(
    "damaged", ["{}", also("[]"), also('{"values": {}}'), also("null"), also('"text"')]
)
def test_a_book_with_a_page_torn_out_is_written_anew(tmp_path, damaged):
    make_paper(["figure-2"], tmp_path)
    book = tmp_path / "paper.json"
    torn = json.loads(book.read_text())
    torn["sections"]["table-1"] = json.loads(damaged)
    book.write_text(json.dumps(torn))
    page = make_paper(["figure-3"], tmp_path).page.read_text()
    assert "Not made yet: `python -m reproduction table-1`" in page
    assert "![Figure 2: " in page


def test_the_page_in_the_docs_is_what_the_program_writes():
    """After a change of its words: python -m reproduction table-1 --out docs."""
    book = json.loads((ROOT / "docs" / "paper.json").read_text(encoding="utf-8"))
    assert write_page(book) == (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert list(book["sections"]) == list(SECTIONS)
    for section in book["sections"].values():
        if "picture" in section:
            assert (ROOT / "docs" / "images" / section["picture"]).stat().st_size < 150_000


def test_the_same_numbers_give_the_same_files(tmp_path):
    for name in ("a", "b"):
        make_paper(["figure-3"], tmp_path / name)
    for path in (tmp_path / "a" / "images").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / "images" / path.name).read_bytes()


def test_tables_do_without_matplotlib(tmp_path, monkeypatch):
    def absent():
        raise ImportError("drawing figures needs matplotlib")

    monkeypatch.setattr(making_module, "load_matplotlib", absent)
    made = make_paper(["table-1", "figure-1", "figure-2"], tmp_path)
    assert made.notes == ("drawing figures needs matplotlib",)
    assert made.sections["figure-1"]["values"]["claims"][0]["holds"]
    assert "| ADCO |" in made.page.read_text()
    assert "![" not in made.page.read_text()


@pytest.mark.parametrize("name", [f"figure-{i}" for i in range(1, 7)])
def test_constructed_figures_bear_out_their_captions_and_label_their_axes(name):
    section = SECTIONS[name]
    (piece,) = section.plan(QUICK, {}).values()
    values = section.gather({"all": piece.function(**piece.options)})
    assert all(claim["holds"] for claim in values["claims"])
    figure = section.draw(values, {})
    assert all(ax.get_xlabel() for ax in figure.axes)
    shared = 3 if "partitions" in values else 1
    assert sum(bool(ax.get_ylabel()) for ax in figure.axes) >= max(1, len(figure.axes) - shared)


def test_the_picture_of_digits_has_a_row_for_each_partition():
    rng = np.random.default_rng(0)
    classes = np.repeat([str(d) for d in range(10)], 5)
    points = Labelled(rng.integers(0, 255, (50, 784)).astype(np.float32), classes)
    truth = np.arange(50) // 5
    inputs = {name: truth.tolist() for name in combining.LINKAGES}
    methods = {name: {"labels": (truth + 1).tolist()} for name in ("cspa", "lift_km")}
    section = SECTIONS["figure-7"]
    plan = section.plan(Settings(seeds_mnist=1), {"mnist-test": Located("mnist-test", "", "")})
    found = plan["0"].function(points, {"methods": methods}, inputs, truth.tolist())
    values = section.gather({"0": found})
    assert values["counts"]["lift_km"] == {"seen": [10], "recovered": [10]}
    figure = draw_digits(values, {"0": found})
    assert len(figure.axes) == 50
    titles = [ax.get_ylabel().split("\n")[0] for ax in figure.axes[::10]]
    assert titles == ["k-means", "complete linkage", "average linkage", "CSPA", "LiftKm"]
    assert "| LiftKm | 10 | 0 1 2 3 4 5 6 7 8 9 | 10 | 9 |" in section.tell(values)


# From the command line


def test_the_command_makes_a_table(reproduce, tmp_path):
    code, out, err = reproduce("table-1", "--out", tmp_path / "new" / "folder", "--jobs", 1)
    assert code == 0
    assert "for all five spatial measures, on both sets: holds" in out
    assert "2 pieces of work: 2 done now, 0 before" in err
    book = json.loads((tmp_path / "new" / "folder" / "paper.json").read_text())
    record = book["sections"]["table-1"]
    (made,) = record["circumstances"]
    assert made["python"] == platform.python_version()
    assert made["seconds"] == record["seconds"]
    assert list(record["durations"]) == ["table-1-2d2c", "table-1-2d3c"]
    assert record["settings"] == {"seeds": 20, "seeds_mnist": 5, "full": False}
    assert reproduce("table-1", "--out", tmp_path / "new" / "folder")[2].startswith(
        "liftcluster: 2 pieces of work: 0 done now, 2 before"
    )


def test_a_wrong_name_gets_a_list_of_the_right_ones(reproduce, tmp_path):
    code, out, err = reproduce("table-1", "table-5", "--out", tmp_path)
    assert code == 2
    assert out == ""
    assert err == (
        f"liftcluster: what to make must be one of all, {', '.join(SECTIONS)}; got 'table-5'\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--sets", "iris,wein"], "--sets must be one of iris, glass"),
        (["--out", "{file}"], "is a file; --out must be a folder"),
        (["--data", "{file}"], "is not a folder; --data or LIFTCLUSTER_DATA must be"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_mistakes_are_one_line(reproduce, tmp_path, options, says):
    file = tmp_path / "a-file"
    file.touch()
    given = [option.format(file=file) for option in options]
    code, _, err = reproduce("table-1", "--out", tmp_path / "out", *given)
    assert code == 2
    assert says in err
    assert len(err.splitlines()) == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_stopping_the_command_leaves_only_whole_pieces(tmp_path, folder):
    """Started again, it does not do again what it had done."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "reproduction", "table-3", "--sets", "soybean"]
    command += ["--data", str(folder), "--out", str(out), "--jobs", "2"]
    stopped = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(out.glob("pieces/consensus-*"))) < 2:
        time.sleep(0.05)
    os.killpg(stopped.pid, signal.SIGINT)  # as a terminal does
    assert stopped.communicate(timeout=30)[1] == "liftcluster: stopped\n"
    assert stopped.returncode == 130
    kept = {path: path.read_bytes() for path in out.glob("pieces/*.json")}
    assert 2 <= len(kept) < 41
    assert all(json.loads(content)["result"] for content in kept.values())
    assert not (out / "paper.md").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"41 pieces of work: {41 - len(kept)} done now, {len(kept)} before" in again.stderr
    assert all(path.read_bytes() == content for path, content in kept.items())
