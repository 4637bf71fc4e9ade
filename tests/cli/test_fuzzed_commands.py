"""Random command lines: a result or a one-line error, exit code 0 or 2, never a traceback.

The seeds are fixed unless ``LIFTCLUSTER_LONG`` asks for more examples than usual.
"""

import contextlib
import io
import os
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftcluster as lc
from liftcluster.cli import main
from support.amount import IS_LONG, examples

fuzzed = settings(max_examples=examples(60), derandomize=not IS_LONG)

COMMANDS = ["compare", "consensus", "stability", "choose", "tree", "drift", "summarise", "significance", "profile", "report", "demo", "measures", "methods", "dance", ""]  # fmt: skip
FLAGS = ["--json", "--quiet", "--verbose", "--debug", "--standardize", "--labels-only", "--help", "--version", "-q", "--", "-"]  # fmt: skip
VALUES = {
    "--labels": ["u,v", "u", "u,v,w", "u,u", "", ",", "*", "x*", "no", '"u', "u\n"],
    "-l": ["u,v"],
    "--columns": ["x,y", "x", "*", "u", "", "[", "x,x"],
    "--labels-file": ["mine.csv", "other.csv", ".", "gone.csv", ""],
    "--memberships": ["s=p,q", "p,q", "s=", "=", "s=gone.npy", "s=x,y", "mine.csv"],
    "--id": ["name", "u", "gone", ""],
    "--view": ["x,y", "x", "u,v", "pca", "neighbours"],
    "--measures": ["rand", "lift_emd,vi", "cdistance", "spari", "no", ""],
    "--method": ["lift_km", "majority", "evidence", "medoid", "cspa", "hgpa", "no"],
    "--kernel": ["gaussian", "laplace", "discrete", "matern", "no"],
    "--bandwidth": ["1", "median/4", "1,2", "0", "-1", "nan", "inf", "1e-320", "1e308", "auto", "x"],
    "--lift": ["exact", "fourier", "grid", "structured", "nystroem", "auto", "no"],
    "--n-components": ["1", "64", "0", "-3", "1e3", "1000000000000", "99999999999999999999"],
    "--tol": ["0.1", "0", "-1", "nan", "x"],
    "--seed": ["0", "7", "-1", "4294967296", "x"],
    "-k": ["2", "0", "-1", "99", "auto", "two", "1e3"],
    "--n-clusters": ["3", "auto"],
    "--out": ["-", "found.csv", "page.html", "gone/found.csv", ".", "/dev/full", "found.xls", "mine.csv", "x" * 300],
    "--page": ["page.html", "page.pdf", "gone/page.html", "mine.csv"],
    "--reference": ["u", "no", ""],
    "--n-permutations": ["3", "0", "x"],
    "--bandwidths": ["3", "1", "0.5,2", "0,1", "-1", "nan", "1e-320,1e308", "x", ","],
    "--measure": ["lift_kd", "vi", "cdistance", "no"],
    "--n": ["1", "9", "0", "x"],
    "--n-splits": ["3", "0", "x"],
    "--title": ["", "</title><script>", "\u202e", "x" * 5000, "\udcff"],
    "--consensus": ["2", "auto", "x"],
}  # fmt: skip

option = st.sampled_from(sorted(VALUES)).flatmap(
    lambda name: st.sampled_from([[name, value] for value in VALUES[name]])
)
FILES = ["mine.csv", "other.csv", "bad.csv", "empty.csv", "gone.csv", ".", "", "\udcff.csv"]


@st.composite
def arguments(draw):
    command = draw(st.sampled_from(COMMANDS))
    usual = draw(st.booleans())  # so that most commands do some work
    file = (
        ["mine.csv", "-l", "u,v"] if usual else draw(st.lists(st.sampled_from(FILES), max_size=2))
    )
    if usual and command == "drift":
        file = draw(st.sampled_from([["mine.csv", "mine.csv", "-l", "u"], ["mine.csv"] * 2]))
        file = [*file, "-c", "x,y", "--n-splits", "3"]
    if usual and command == "significance":
        file = [*file, "--n-permutations", "9"]
    options = [word for pair in draw(st.lists(option, max_size=4)) for word in pair]
    flags = draw(st.lists(st.sampled_from(FLAGS), max_size=2))
    noise = draw(st.lists(st.text(max_size=5), max_size=1)) if not usual else []
    return [command, *file, *options, *flags, *noise]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    rows = [f"n{i},{i % 5},{i * 0.5},{'ab'[i > 9]},{i % 2},{i % 3},{i % 2},{1 - i % 2}" for i in range(20)]  # fmt: skip
    (folder / "mine.csv").write_text("name,x,y,u,v,w,p,q\n" + "\n".join(rows))
    (folder / "other.csv").write_text("name,z\n" + "\n".join(f"n{i},{i % 4}" for i in range(20)))
    (folder / "bad.csv").write_bytes(b"x,u\n1,\xff\n")
    (folder / "empty.csv").write_bytes(b"")
    return folder


def run(args):
    """Exit code, stdout and stderr, from streams like those of a shell."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace") for _ in "12")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(args)
        except SystemExit as stopped:
            code = stopped.code
    shown = []
    for stream in (out, err):
        stream.flush()
        shown.append(stream.buffer.getvalue().decode("utf-8"))
    return code, *shown


@pytest.mark.filterwarnings("default")
@fuzzed
@given(arguments())
def test_any_arguments_give_a_result_or_a_one_line_error(folder, arguments):
    if arguments[0] == "demo":
        arguments = ["demo", "--out", "gone/page.html", *arguments[1:]]
    before = os.getcwd()
    os.chdir(folder)
    kept = (folder / "mine.csv").read_bytes()
    try:
        code, out, err = run(arguments)
    finally:
        os.chdir(before)
    assert code in (0, 2), (arguments, err)
    if "--debug" not in arguments:
        assert "Traceback" not in out + err, arguments
        assert all(line.startswith("liftcluster: ") for line in err.splitlines()), (arguments, err)
    if code == 2:
        assert err.splitlines()[-1].startswith("liftcluster: "), arguments
    assert (folder / "mine.csv").read_bytes() == kept, arguments
    assert not [path for path in folder.iterdir() if path.name.endswith(".tmp")], arguments


NAMES = st.one_of(
    st.text(min_size=1, max_size=20),
    st.sampled_from(["</script>", "<!--", "]]>", "\u2028", "\u202eevil", "\0", "\ud800", "a" * 10**6, "$title", "${data}", "&amp;", "'\"><img onerror=x>", "\x1b[2J", "\ufeff", "é\u0301"]),
)  # fmt: skip


@settings(max_examples=examples(25), derandomize=not IS_LONG)
@given(NAMES, NAMES, NAMES)
def test_report_with_any_names_is_valid_html_in_utf8(folder, name, cluster, title):
    """For any names of clusterings, clusters and pages, the page is one HTML file in UTF-8."""
    u, v = np.array([cluster, "b", cluster, "b"], dtype=object), [0, 0, 1, 1]
    if not name.split() or name.split() == ["plain"]:
        return
    page = lc.make_report({name: u, "plain": v}, [[0.0], [1.0], [2.0], [3.0]], title=title, rng=0)
    path = folder / "page.html"
    page.save(path)
    text = path.read_bytes().decode("utf-8")
    assert text.count("<script") == text.count("</script>")
    assert text.count("<script") == PLAIN.count("<script")
    assert text.count("<!--") == PLAIN.count("<!--")
    for kind in ("<img", "<iframe", "<object", "<svg"):
        assert text.count(kind) == PLAIN.count(kind)
    assert "\0" not in text
    assert "\x1b" not in text


PLAIN = lc.make_report({"a": [0, 1], "b": [0, 0]}, [[0.0], [1.0]], title="plain", rng=0).html()


def test_run_captures_the_streams_of_the_command_line():
    """The tests above rely on the streams that ``run`` returns."""
    code, out, _ = run(["measures"])
    assert code == 0
    assert "lift_emd" in out
    assert sys.stdout is not None
