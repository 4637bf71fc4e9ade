"""The public names: listed once, documented, with an example, and loaded when first used."""

import inspect
import json
import os
import subprocess
import sys
from typing import get_args

import lazy_loader
import pytest

import liftcluster as lc
from liftcluster._util import names as _names
from liftcluster.kernels import bandwidths as scales
from liftcluster.kernels import kernel as kernels
from liftcluster.lifts.choice import LIFTS

MODULES = {"anndata", "datasets", "plot"}


def test_every_name_in_the_stub_can_be_loaded(monkeypatch):
    monkeypatch.setenv("EAGER_IMPORT", "1")
    *_, names = lazy_loader.attach_stub("liftcluster", lc.__file__)
    assert set(names) == {*lc.__all__, *MODULES}


def test_names_and_modules_are_visible_before_they_are_loaded():
    assert {*lc.__all__, *MODULES} <= set(dir(lc))


def test_a_name_that_there_is_not_is_an_attribute_error():
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


@pytest.mark.parametrize(
    ("names", "loaded"),
    [
        (get_args(_names.MeasureName), lc.MEASURES),
        (get_args(_names.MethodName), lc.METHODS),
        (get_args(_names.LiftName), LIFTS),
        (get_args(_names.KernelName), kernels._BY_NAME),
        (get_args(_names.BandwidthRule), scales._RULES),
    ],
)
def test_names_known_before_loading_are_those_that_are_loaded(names, loaded):
    assert names == tuple(loaded)


HEAVY = ["numpy", "scipy", "scipy.stats", "scipy.optimize", "sklearn", "joblib", "ot", "pandas",
         "typer", "matplotlib", "dask", "torch", "anndata"]  # fmt: skip


def loaded_after(*steps):
    """Which heavy packages a new process has loaded after each of some statements."""
    lines = ["import json, sys", "found = []"]
    for step in steps:
        lines += [step, f"found.append([m for m in {HEAVY} if m in sys.modules])"]
    code = "\n".join([*lines, "print(json.dumps(found))"])
    environment = {k: v for k, v in os.environ.items() if k != "EAGER_IMPORT"}
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(shown.stdout.splitlines()[-1])


def test_the_library_loads_only_what_is_used():
    imported, partition, measures, distance = loaded_after(
        "import liftcluster as lc",
        "lc.Partition",
        "lc.MEASURES",
        "lc.distance([0, 0, 1], [0, 1, 1], [[0.0], [1.0], [2.0]], measure='lift_kd')",
    )
    assert imported == []
    assert partition == measures == distance == ["numpy", "scipy"]


def test_the_command_line_answers_without_loading_numpy():
    mistakes = ["dance", "compare --bogus", "compare gone.csv -l u,v", "compare x --measures u",
                "consensus x --method u", "compare x --lift u", "compare x --kernel u",
                "compare x --bandwidth u", "consensus x -k three", "consensus x --out u.xls",
                "consensus x --json --out -"]  # fmt: skip
    answers = ["--version", "--help", "compare --help"]
    completion = {
        "_LIFTCLUSTER_COMPLETE": "complete_bash",
        "COMP_WORDS": "liftcluster compare --measures li",
        "COMP_CWORD": "3",
    }
    run = "\ntry: main({!r})\nexcept SystemExit as end: assert end.code == {}, end.code"
    steps = [run.format(line.split(), 2) for line in mistakes]
    steps += [run.format(line.split(), 0) for line in answers]
    steps += [f"\nimport os; os.environ.update({completion})", run.format([], 0)]
    assert loaded_after("from liftcluster.cli import main" + "".join(steps)) == [["typer"]]
