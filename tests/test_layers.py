"""The layers: packages import only from lower layers, and import chains stay short."""

import ast
from functools import cache
from pathlib import Path

import liftcluster

ROOT = Path(liftcluster.__file__).parent
LAYERS = ["_util", "partitions kernels", "streaming lifts", "representation", "comparison",
          "combination", "estimators datasets io viz", "cli", "__main__ __init__"]  # fmt: skip
LAYER = {name: i for i, names in enumerate(LAYERS) for name in names.split()}
FILES = sorted(ROOT.rglob("*.py"))


def imports_of(path, nodes):
    """The modules of this package that some statements import, as tuples of names."""
    here = path.relative_to(ROOT).parts[:-1]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1] + tuple((node.module or "").split("."))
            base = tuple(part for part in base if part)
            names = [(*base, alias.name) for alias in node.names]
            yield from (name if is_module(name) else base for name in names)


def is_module(name):
    return ROOT.joinpath(*name).with_suffix(".py").exists() or ROOT.joinpath(*name).is_dir()


def test_packages_import_only_from_lower_layers():
    """Methods such as ``Comparison.plot`` import the plots when they are called."""
    for path in FILES:
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for target, *_ in imports_of(path, ast.parse(path.read_text()).body):
            assert target == own or LAYER[target] < LAYER[own], (path, target)


def test_package_root_has_no_other_entries():
    found = {path.name.split(".")[0] for path in ROOT.iterdir()} - {"__pycache__", "py"}
    assert found == set(LAYER)


def test_import_chains_have_at_most_16_modules():
    """Imports within functions count, those for type checkers and of plots by methods do not."""

    @cache
    def length(path):
        tree = ast.parse(path.read_text())
        tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
        targets = {ROOT.joinpath(*name) for name in imports_of(path, ast.walk(tree))}
        files = [t / "__init__.py" if t.is_dir() else t.with_suffix(".py") for t in targets]
        below = {file for file in files if file.name != "plot.py"} - {path}
        return 1 + max(map(length, below), default=0)

    assert max(map(length, FILES)) <= 16


def test_modules_have_at_most_400_lines():
    assert max(len(path.read_text().splitlines()) for path in FILES) <= 400


def test_optional_array_libraries_are_named_in_one_file_each():
    named = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            named |= {(path.stem, name.split(".")[0]) for name in names}
    optional = {"torch", "cupy", "dask", "distributed", "jax"}
    assert {pair for pair in named if pair[1] in optional} == {("dask", "dask")}
