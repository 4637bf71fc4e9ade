"""Packages import only from the floors below them; optional array libraries are named in one file."""

import ast
from pathlib import Path

import liftcluster

ROOT = Path(liftcluster.__file__).parent
FLOORS = [
    "_util",
    "partitions kernels",
    "streaming lifts",
    "representation",
    "comparison",
    "combination",
    "estimators datasets io viz",
    "cli",
    "__main__ __init__",
]
FLOOR = {name: i for i, names in enumerate(FLOORS) for name in names.split()}


def imports_of(path):
    """(package of liftcluster or name of another library, whether it is ours) for each import.

    ``result.plot()`` imports the plots when it is called, and types are imported for type checkers
    alone; neither makes the packages depend on each other.
    """
    tree = ast.parse(path.read_text())
    here = [*path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0], False
        elif isinstance(node, ast.ImportFrom) and not _is_plot_method(node, tree):
            base = here[: len(here) - node.level + 1] + (node.module or "").split(".")
            base = [part for part in base if part]
            yield from ((name, True) for name in base[:1] or [a.name for a in node.names])


def _is_plot_method(node, tree):
    return node not in tree.body and node.module in ("viz", "viz.plot")


FILES = sorted([*ROOT.rglob("*.py"), *ROOT.rglob("__init__.pyi")])


def package_of(path):
    return path.relative_to(ROOT).parts[0].split(".")[0]


def test_packages_import_only_from_the_floors_below():
    upward = [
        (str(path.relative_to(ROOT)), target)
        for path in FILES
        for target, ours in imports_of(path)
        if ours and target != package_of(path) and FLOOR[target] >= FLOOR[package_of(path)]
    ]
    assert upward == []


def test_the_root_has_no_other_entries():
    found = {path.name.split(".")[0] for path in ROOT.iterdir()} - {"__pycache__", "py"}
    assert found == set(FLOOR)


def test_optional_array_libraries_are_named_in_one_file_each():
    named = {
        (path.stem, target)
        for path in FILES
        for target, ours in imports_of(path)
        if not ours and target in {"torch", "cupy", "dask", "distributed", "jax"}
    }
    assert named == {("dask", "dask")}


def test_imports_within_a_package_are_seen():
    assert ("kernels", True) in set(imports_of(ROOT / "lifts" / "fourier.py"))
    assert ("numpy", False) in set(imports_of(ROOT / "lifts" / "fourier.py"))
