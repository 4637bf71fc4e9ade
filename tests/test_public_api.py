"""The public names: listed once, documented, with an example, and loaded when first used."""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import lazy_loader
import pytest

import liftcluster as lc
from liftcluster._util import checks
from liftcluster._util import names as _names
from liftcluster.kernels import bandwidths as scales
from liftcluster.kernels import kernel as kernels
from liftcluster.lifts import settings

README = (Path(__file__).parent.parent / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
MODULES = {"anndata", "datasets", "plot"}


def test_every_name_in_the_stub_can_be_loaded(monkeypatch):
    monkeypatch.setenv("EAGER_IMPORT", "1")
    *_, names = lazy_loader.attach_stub("liftcluster", lc.__file__)
    assert set(names) == {*lc.__all__, *MODULES}


def test_dir_lists_only_public_names_before_and_after_loading():
    code = "import liftcluster as lc; print(dir(lc)); lc.make_report; lc.plot; print(dir(lc))"
    for shown in output_of(code).splitlines():
        assert set(ast.literal_eval(shown)) == {*lc.__all__, *MODULES}


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="distanse"):
        lc.distanse  # noqa: B018


def test_no_public_name_is_a_module():
    assert not [name for name in lc.__all__ if inspect.ismodule(getattr(lc, name))]
    assert all(inspect.ismodule(getattr(lc, name)) for name in MODULES)


@pytest.mark.parametrize("name", [n for n in lc.__all__ if callable(getattr(lc, n))])
def test_every_public_name_is_documented(name):
    assert len(inspect.getdoc(getattr(lc, name)) or "") > 40


@pytest.mark.parametrize("name", [n for n in lc.__all__ if inspect.isfunction(getattr(lc, n))])
def test_every_public_function_has_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(lc, name))


FUNCTIONS = [getattr(lc, n) for n in lc.__all__ if inspect.isfunction(getattr(lc, n))]
FUNCTIONS += [getattr(getattr(lc, m), n) for m in sorted(MODULES) for n in getattr(lc, m).__all__]
FUNCTIONS += [getattr(lc.anndata.plot, n) for n in lc.anndata.plot.__all__]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_no_public_function_has_more_than_twelve_parameters(function):
    assert len(inspect.signature(function).parameters) <= 12


@pytest.mark.parametrize(
    ("names", "loaded"),
    [
        (get_args(_names.MeasureName), lc.MEASURES),
        (get_args(_names.MethodName), lc.METHODS),
        (get_args(_names.LiftName), ("auto", *settings._BY_NAME)),
        (get_args(_names.KernelName), kernels._BY_NAME),
        (get_args(checks.BandwidthRule), scales._RULES),
    ],
)
def test_literal_names_match_the_registries(names, loaded):
    assert names == tuple(loaded)


HEAVY = ["numpy", "scipy", "scipy.stats", "scipy.optimize", "sklearn", "joblib", "ot", "pandas",
         "typer", "matplotlib", "dask", "torch", "anndata"]  # fmt: skip


def output_of(code):
    """Standard output of some code in a new process."""
    environment = {k: v for k, v in os.environ.items() if k != "EAGER_IMPORT"}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout


def loaded_after(*steps):
    """Which heavy packages a new process has loaded after each of some statements."""
    lines = ["import json, sys", "found = []"]
    for step in steps:
        lines += [step, f"found.append([m for m in {HEAVY} if m in sys.modules])"]
    code = "\n".join([*lines, "print(json.dumps(found))"])
    return json.loads(output_of(code).splitlines()[-1])


def test_library_imports_only_what_is_used():
    imported, partition, measures, distance = loaded_after(
        "import liftcluster as lc",
        "lc.Partition",
        "lc.MEASURES",
        "lc.distance([0, 0, 1], [0, 1, 1], [[0.0], [1.0], [2.0]], measure='lift_kd')",
    )
    assert imported == []
    assert partition == measures == distance == ["numpy", "scipy"]


def test_command_line_help_and_errors_do_not_import_numpy():
    mistakes = ["dance", "compare --bogus", "compare gone.csv -l u,v", "compare x --measures u",
                "consensus x --method u", "compare x --lift u", "compare x --kernel u",
                "compare x --bandwidth u", "consensus x -k three", "consensus x --out u.xls",
                "consensus x --json --out -", "tree x --out u.gif", "choose x --out u.xls",
                "drift x y -k 2", "stability x --page u.pdf"]  # fmt: skip
    successes = ["--version", "--help", "compare --help", "drift --help"]
    completion = {
        "_LIFTCLUSTER_COMPLETE": "complete_bash",
        "COMP_WORDS": "liftcluster compare --measures li",
        "COMP_CWORD": "3",
    }
    run = "\ntry: main({!r})\nexcept SystemExit as end: assert end.code == {}, end.code"
    steps = [run.format(line.split(), 2) for line in mistakes]
    steps += [run.format(line.split(), 0) for line in successes]
    steps += [f"\nimport os; os.environ.update({completion})", run.format([], 0)]
    assert loaded_after("from liftcluster.cli import main" + "".join(steps)) == [["typer"]]


# Lines with type errors, and the message expected from mypy.
MISTAKES = [
    ('lc.distance(a, b, X, measure="lift_end")', 'Argument "measure" to "distance"'),
    ('lc.distance(a, b, X, bandwith=2.0)', 'Unexpected keyword argument "bandwith"'),
    ('lc.distance(a, b, X, n_components=10)', 'Unexpected keyword argument "n_components"'),
    ('lc.distance(a, b, X, measure_options=["bins"])', 'Argument "measure_options" to "distance"'),
    ('lc.distance(a, b, X, lift=lc.Fourier(sampling="qausi"))', 'Argument "sampling" to "Fourier"'),
    ('lc.distance(a, b, X, lift="fuorier")', 'Argument "lift" to "distance"'),
    ('lc.distance(a, b, X, kernel="gausian")', 'Argument "kernel" to "distance"'),
    ('lc.distance(a, b, X, rng="0")', 'Argument "rng" to "distance"'),
    ('lc.compare(a, b, X, measures=["lift_emd", "rant"])', "List item 1 has incompatible type"),
    ('lc.consensus([a, b], 2, X, methd="lift_hac")', 'Unexpected keyword argument "methd"'),
    ('lc.consensus([a, b], 2, X, method="lift_hca")', 'Argument "method" to "consensus"'),
    ('lc.consensus([a, b], 2, X, bandwith=2.0)', 'Unexpected keyword argument "bandwith"'),
    ('lc.consensus([a, b], n_clusters="3", X=X)', 'Argument "n_clusters" to "consensus"'),
    ('lc.consensus([a, b], "3", X)', 'Argument 2 to "consensus"'),
    ('lc.significance(a, b, X, n_jobs=2)', 'Unexpected keyword argument "n_jobs"'),
    ('lc.drift(X, X, KMeans(2), measures="lift_end")', 'Argument "measures" to "drift"'),
    ('lc.drift(X, X, 3)', 'Argument 3 to "drift"'),
]  # fmt: skip
GIVEN = """
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import RBFSampler

import liftcluster as lc

X = np.zeros((3, 2))
a, b = [0, 1, 1], np.array([0, 0, 1])
"""
CORRECT = (
    GIVEN
    + """
outer: dict[str, object] = {"outer_kernel": lc.Gaussian(0.1)}
d: float = lc.distance(a, b, X, measure="lift_kd", measure_options=outer, rng=0)
d = lc.distance(a, b, X, Y=X, weights=([1, 2, 3], None), bandwidth="median/4", lift="fourier")
d = lc.distance(a, b, X, lift=lc.Fourier(4000, sampling="quasi"), bandwidth=[1.0, 2.0])
d = lc.distance(["x", "y", None], pd.Series([0, 1, 1]), measure="rand")
d = lc.distance(a, b, X, lift=RBFSampler(), progress=True)
d = lc.distance(a, b, X, kernel=lc.Matern(2.5), rng=np.random.default_rng(0))
d = lc.distance(a, b, ["one", "two", "six"], kernel=lambda P, Q: np.ones((len(P), len(Q))))
rep = lc.represent(X, {"a": a, "b": b}, lift=lc.Nystroem(2), checkpoint="sums.npz")
d = lc.distance(rep["a"], rep["b"])
D: np.ndarray = lc.distance_matrix(rep)
found = lc.consensus([a, b], "auto", X, method="lift_hac", method_options={"linkage": "average"})
found = lc.consensus({"a": a, "b": b}, 2, X, method=KMeans(2), bandwidth=2.0, lift=lc.Exact())
found = lc.consensus(rep, 2, X, out=np.empty(3, dtype=int))
k: int = found.n_clusters
print(found.labels, found.composition[0], found.predict(X), lc.compare(a, b, X)["rand"].value)
p: float = lc.significance(lc.Partition.from_labels(a, [1, 2, 3]), b, X).p_value
p = lc.drift(X, X, KMeans(2), n_splits=99, rng=0).p_value
p = lc.drift(X, X, (a, b), measures="lift_emd").p_values["lift_emd"]
p = lc.drift(X, X, lambda points: points[:, 0] > 0, measures=["centroid"]).null["centroid"][0]
"""
)


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Errors that mypy reports in example programs, by file and line."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("checked")
    programs = {"mistakes": "\n".join([*GIVEN.splitlines(), *(line for line, _ in MISTAKES)])}
    programs["correct"] = CORRECT
    programs |= {f"readme_{i}": code for i, code in enumerate(EXAMPLES)}
    for name, code in programs.items():
        (folder / f"{name}.py").write_text(code)
    options = ["--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    shown = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            *options,
            "--cache-dir=cache",
            *(f"{name}.py" for name in programs),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(Path(lc.__file__).parents[1])},
    )
    assert shown.stderr == ""
    errors = re.findall(r"^(\w+)\.py:(\d+): error: (.*)$", shown.stdout, flags=re.MULTILINE)
    return {
        name: [(int(line), text) for file, line, text in errors if file == name]
        for name in programs
    }


@pytest.mark.long
def test_a_type_checker_finds_misspelled_arguments(checked):
    first = len(GIVEN.splitlines()) + 1
    found = dict(checked["mistakes"])
    for line, (code, message) in enumerate(MISTAKES, first):
        assert message in found.pop(line, "nothing"), code
    assert found == {}


@pytest.mark.long
def test_a_type_checker_accepts_correct_calls_and_the_readme(checked):
    assert len(checked) > 2
    errors = {
        name: messages for name, messages in checked.items() if name != "mistakes" and messages
    }
    assert errors == {}
