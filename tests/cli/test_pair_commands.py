"""The commands significance and profile, and what tables show of many clusterings."""

import csv
import io
import json
import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans

import liftcluster as lc
from liftcluster._util import progress
from support.report_cases import HOSTILE

RNG = np.random.default_rng(0)
WHICH = np.arange(90) % 3
X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[WHICH] + RNG.standard_normal((90, 2))
NOISY = np.where(RNG.random(90) < 0.3, RNG.integers(3, size=90), WHICH)
COLUMNS = ["--columns", "x,y"]


@pytest.fixture
def mine(tmp_path):
    return write(tmp_path / "mine.csv", X, {"u": WHICH, "v": NOISY})


def write(path, points, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", *columns])
        writer.writerows(zip(*points.T.tolist(), *columns.values(), strict=True))
    return path


def table(text):
    rows = list(csv.DictReader(text.splitlines()))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


@pytest.mark.parametrize("options", [[], ["--measure", "lift_kd"], ["--labels-only"]])
def test_significance_equals_the_library_result(run, mine, tmp_path, options):
    by = {"--measure": "lift_kd", "--labels-only": "vi"}.get(*options[:1] or [""], "lift_emd")
    points = None if options == ["--labels-only"] else X
    expected = lc.significance(WHICH, NOISY, points, measure=by, n_permutations=19, rng=0)
    command = ["significance", mine, "-l", "u,v", "--n-permutations", 19, *options]
    command += [] if points is None else COLUMNS
    code, out, err = run(*command)
    assert code == 0, err
    assert f"p = {expected.p_value:.3g} (the least" in out
    assert "small if u and v are related" in out
    assert f"{expected.value:.4f}" in out
    found = json.loads(run(*command, "--json")[1])
    assert (found["measure"], found["names"]) == (by, ["u", "v"])
    assert found["p_value"] == expected.p_value
    assert found["z"] == pytest.approx(expected.z)
    np.testing.assert_allclose(found["null"], expected.null)
    written = tmp_path / "null.csv"
    code, _, err = run(*command, "--out", written)
    assert f"written to {written}" in err
    np.testing.assert_allclose(table(written.read_text())[by], expected.null)
    assert run(*command, "--out", "-")[1] == written.read_text()


def test_labels_at_random_are_not_significant(run, tmp_path):
    shuffled = np.random.default_rng(1).permutation(WHICH)
    mine = write(tmp_path / "mine.csv", X, {"u": WHICH, "v": shuffled})
    out = run("significance", mine, *COLUMNS, "-l", "u,v", "--n-permutations", 99)[1]
    assert "the least that" not in out
    assert float(out.split("p = ")[1].split(":")[0]) > 0.05


def test_profile_equals_the_library_result(run, mine, tmp_path):
    expected = lc.bandwidth_profile(WHICH, NOISY, X, bandwidths=4)
    command = ["profile", mine, *COLUMNS, "-l", "u,v", "--bandwidths", 4]
    code, out, err = run(*command)
    assert code == 0, err
    rows = [line.split("│")[1:-1] for line in out.splitlines() if line.startswith("│")]
    assert [row[2].strip() for row in rows] == [f"{value:.4f}" for value in expected.values]
    lengths = np.array([len(row[3].strip()) for row in rows])
    np.testing.assert_allclose(lengths, 30 * expected.values / expected.values.max(), atol=1)
    assert f"up to the bandwidth {expected.scale:.4g}" in out
    found = json.loads(run(*command, "--json")[1])
    assert found["scale"] == expected.scale
    np.testing.assert_allclose(found["values"], expected.values)
    np.testing.assert_allclose(found["bandwidths"], expected.bandwidths)
    written = tmp_path / "profile.csv"
    assert run(*command, "--out", written)[0] == 0
    np.testing.assert_allclose(table(written.read_text())["lift_emd"], expected.values)
    assert run(*command, "--out", "-")[1] == written.read_text()


def test_profile_at_given_bandwidths(run, mine):
    command = ["profile", mine, *COLUMNS, "-l", "u,v", "--json", "--bandwidths"]
    assert json.loads(run(*command, "2,0.5")[1])["bandwidths"] == [0.5, 2.0]
    assert json.loads(run(*command, "0.5")[1])["bandwidths"] == [0.5]
    assert len(json.loads(run(*command, "2")[1])["bandwidths"]) == 2
    by_errors = ["2,0.5", "--lift", "fourier", "--n-components", 64, "--measure", "lift_hausdorff"]
    expected = lc.bandwidth_profile(
        WHICH, NOISY, X, bandwidths=[0.5, 2], measure="lift_hausdorff", lift=lc.Fourier(64)
    )
    np.testing.assert_allclose(json.loads(run(*command, *by_errors)[1])["values"], expected.values)


def test_profile_of_equal_clusterings_says_so(run, tmp_path):
    mine = write(tmp_path / "mine.csv", X, {"u": WHICH, "v": 2 - WHICH})
    out = run("profile", mine, *COLUMNS, "-l", "u,v")[1]
    assert "in the same places at every bandwidth" in out


def test_bars_are_ascii_where_the_terminal_is(mine, run, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert run("profile", mine, *COLUMNS, "-l", "u,v", "--bandwidths", 3)[0] == 0
    stream.flush()
    shown = stream.buffer.getvalue().decode()
    assert "#" * 30 in shown
    assert "\\" not in shown


def test_names_of_clusterings_are_not_read_as_markup(run, tmp_path):
    for name in ("[bold]red[/]", *[name for name in HOSTILE if "," not in name][:2]):
        mine = write(tmp_path / "mine.csv", X, {"u": WHICH, name: NOISY})
        quoted = '"' + name.replace('"', '""') + '"'
        for command in (["significance", "--n-permutations", "3"], ["profile"]):
            code, out, err = run(*command, mine, *COLUMNS, "-l", "u", "-l", quoted)
            assert code == 0, err
            assert name.split()[0] in out


def test_many_parts_of_a_consensus_cluster_are_counted(run, tmp_path):
    runs = {f"run{i:02}": WHICH for i in range(17)} | {"v": NOISY}
    mine = write(tmp_path / "mine.csv", X, runs)
    command = ["consensus", mine, *COLUMNS, "-l", "run*,v", "-k", "3"]
    out = " ".join(run(*command)[1].replace("│", "").split())
    assert out.count("of run") == 3 * 5
    assert out.count("and 13 more") == 3
    few = run("consensus", mine, *COLUMNS, "-l", "run00,run01,run02", "-k", "3")[1]
    assert "more" not in few
    assert len(json.loads(run(*command, "--json")[1])["composition"][0]) >= 18


@pytest.mark.parametrize(("m", "chosen"), [(2, 1), (3, 2), (4, 2), (9, 5), (12, 5)])
def test_summarise_chooses_five_or_half_of_them(run, tmp_path, m, chosen):
    runs = {f"k{k}": KMeans(k, n_init=1, random_state=0).fit(X).labels_ for k in range(2, m + 2)}
    mine = write(tmp_path / "mine.csv", X, runs)
    found = json.loads(run("summarise", mine, *COLUMNS, "-l", "k*", "--json")[1])
    assert len(found["chosen"]) == chosen


def test_a_sample_from_stdin_is_called_so(run, mine, monkeypatch):
    def names(*files):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(mine.read_bytes())))
        command = ("drift", *files, *COLUMNS, "-l", "u", "--n-splits", "3", "--json")
        return json.loads(run(*command)[1])["names"]

    assert names("-", mine) == ["stdin", "mine"]
    assert names(mine, "-") == ["mine", "stdin"]
    other = mine.rename(mine.parent / "stdin.csv")
    mine = other
    assert names("-", other) == ["-", str(other)]


class Shown:
    """In place of a bar or a spinner: what is shown, and that nothing else is at the same time."""

    now, seen = [], {}

    def __init__(self, *_):
        self.live, self.is_started = self, False

    def add_task(self, description, total):
        self.description = description
        self.seen[description] = 0

    def start(self):
        assert not self.now, (self.description, self.now)
        self.now.append(self.description)
        self.is_started = True

    def advance(self, task, steps):
        self.seen[self.description] += steps

    def stop(self):
        self.now.remove(self.description)


@pytest.mark.parametrize("command", ["report", "stability"])
def test_a_page_shows_one_progress_at_a_time(run, tmp_path, monkeypatch, command):
    """Combining, comparing and stability one after another: two at once would garble both."""
    runs = {f"k{k}": KMeans(k, n_init=1, random_state=0).fit(X).labels_ for k in range(2, 6)}
    mine = write(tmp_path / "mine.csv", X, runs)
    page = ["--consensus", 3, "--out"] if command == "report" else ["--page"]
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setattr(progress, "_progress", Shown)
    monkeypatch.setattr(Shown, "seen", {})
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, err = run(command, mine, *COLUMNS, "-l", "k*", *page, tmp_path / "page.html")
    assert code == 0, err
    assert Shown.now == []
    assert Shown.seen["comparisons"] >= 6
    if command == "report":
        assert {"combining the clusterings", "stability of the clusters"} < set(Shown.seen)
