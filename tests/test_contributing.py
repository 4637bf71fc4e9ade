"""The measure and the method that CONTRIBUTING.md adds to a copy of the library work there."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from support.documentation import ROOT, blocks_of

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MEASURE, MEASURE_LINE, METHOD, METHOD_LINE = (
    block.text for block in blocks_of(ROOT / "CONTRIBUTING.md") if block.info == "python"
)
USE = """
import liftcluster as lc
from liftcluster._util import names
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_iris

assert names.MeasureName.__args__ == tuple(lc.MEASURES)
assert names.MethodName.__args__ == tuple(lc.METHODS)
X = load_iris().data
inputs = lc.base_partitions(X, 3, rng=0)
a, b = [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 3]  # two pairs in both, one in a
found = lc.consensus(inputs, 3, X, method="lift_spectral", rng=0)
print(found.n_clusters, found.method, lc.compare(a, b)["sokal_sneath"])
print(lc.consensus(inputs, 3, X, method=AgglomerativeClustering(linkage="average")).n_clusters)
"""


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} in {path}"
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables of processes that import a copy of the library, changed as the text says."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True)
    package = folder / "liftcluster"
    names = package / "_util" / "names.py"
    for literal, name, function, line, place in (
        ("MeasureName", "sokal_sneath", MEASURE, MEASURE_LINE, "comparison/measures/pairs.py"),
        ("MethodName", "lift_spectral", METHOD, METHOD_LINE, "combination/methods/lifted.py"),
    ):
        assert f"`src/liftcluster/{place}`" in TEXT
        assert f'`"{name}"` to the end of `{literal}` in `src/liftcluster/_util/names.py`' in TEXT
        path = package / place
        registry = path.with_name("registry.py")
        assert f"`src/liftcluster/{registry.relative_to(package).as_posix()}`" in TEXT
        path.write_text(path.read_text(encoding="utf-8") + "\n\n" + function, encoding="utf-8")
        edit(registry, "\nNeeds = ", f"\nfrom .{path.stem} import {name}\n\nNeeds = ")
        edit(registry, "\n]\n", f"\n{line.rstrip()},\n]\n")
        known = re.search(
            rf"^{literal} = Literal\[.*?^\]", names.read_text(), re.DOTALL | re.MULTILINE
        )
        edit(names, known[0], known[0].removesuffix("]") + f'    "{name}",\n]')
    return os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def run(environment, *arguments):
    found = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_added_measure_and_method_are_available(environment):
    assert run(environment, "-c", USE).splitlines() == ["3 lift_spectral 0.5000", "3"]


def test_traits_of_the_added_measure_are_tested(environment):
    laws = "tests/comparison/measures/test_measures.py"
    found = run(
        environment, "-m", "pytest", "-n0", "-p", "no:cacheprovider", laws, "-k", "sokal_sneath"
    )
    assert int(re.search(r"(\d+) passed", found)[1]) >= 5
