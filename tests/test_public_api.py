"""The public names: listed once, documented, with an example, and light to import."""

import inspect
import pkgutil
import subprocess
import sys

import pytest

import liftcluster as lc


def public_names():
    modules = {module.name for module in pkgutil.iter_modules(lc.__path__)}
    return {name for name in vars(lc) if not name.startswith("_") and name not in modules}


def test_all_lists_exactly_the_public_names():
    assert set(lc.__all__) == public_names()
    assert len(lc.__all__) == len(set(lc.__all__))


def test_no_public_name_is_a_module():
    assert not [name for name in lc.__all__ if inspect.ismodule(getattr(lc, name))]


@pytest.mark.parametrize("name", [n for n in lc.__all__ if callable(getattr(lc, n))])
def test_every_public_name_is_documented(name):
    assert len(inspect.getdoc(getattr(lc, name)) or "") > 40


@pytest.mark.parametrize("name", [n for n in lc.__all__ if inspect.isfunction(getattr(lc, n))])
def test_every_public_function_has_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(lc, name))


def test_importing_loads_no_heavy_optional_package():
    heavy = ["matplotlib", "plotly", "dask", "torch", "ot", "anndata"]  # scikit-learn loads pandas
    code = f"import sys, liftcluster; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
