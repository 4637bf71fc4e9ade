"""Modules import downwards only, and array libraries are named in one file only."""

import ast
from pathlib import Path

import liftcluster
from benchmarks import mutation

ROOT = Path(liftcluster.__file__).parent

# Each module may import from the lines above its own.
LAYERS = [
    ["_version", "_names", "_typing", "_extras", "_memory", "_progress", "_writing", "_html"],
    ["_native", "_checks", "_threads"],
    ["_arrays", "_dask"],
    ["_validation", "_labels", "distances", "sources"],
    ["reading", "tables"],
    ["partition", "kernels", "transport", "uncertainty"],
    ["scales", "stack", "contingency", "blocks"],
    ["lifts.device", "lifts.nufft", "lifts.spectral", "lifts._triton"],
    ["lifts.engine", "lifts.fused"],
    ["lifts.base", "lifts.waves"],
    ["lifts.trigonometric"],
    ["lifts.fourier", "lifts.structured", "lifts.grid"],
    ["lifts.nystrom", "lifts.span", "lifts.transformer"],
    ["lifts", "lifts.choice", "storage"],
    ["representation", "lifting"],
    ["tally", "streams"],
    ["chunked"],
    ["surveying", "checkpoint"],
    ["streaming"],
    ["counting"],
    ["representing"],
    ["mmd", "measures.lifted", "measures.pairs", "measures.information", "measures.spatial"],
    ["measures.spatial_agreement"],
    ["measures", "measures.registry"],
    ["explanation"],
    ["sides"],
    ["comparison"],
    ["permutation", "profiles"],
    ["methods.tuples"],
    ["methods.spectral"],
    ["methods.evidence", "methods.graph", "methods.voting"],
    ["methods.bipartite"],
    ["methods.lifted"],
    ["methods.selection", "methods", "methods.registry"],
    ["grouping", "label_consensus"],
    ["streamed_consensus"],
    ["combination", "ensembles"],
    ["estimators", "datasets"],
    ["planes", "palette"],
    ["report.findings", "report.telling"],
    ["report.contents", "report.words"],
    ["report.page"],
    ["report.making"],
    ["report"],
    ["plot", "anndata"],
    ["files.inputs", "files.labels", "files.h5ad_reader"],
    ["files.table"],
    [
        "files.text",
        "files.arrays",
        "files.columnar",
        "files.cells",
        "files.writing",
        "files.matching",
    ],
    ["files.opening"],
    ["files.clusterings"],
    ["files"],
    ["demo"],
    ["paper.printed", "paper.data", "paper.record"],
    ["paper.ledger"],
    ["paper.section", "paper.working"],
    ["paper.sensitivity", "paper.combining", "paper.agreement"],
    ["paper.runtimes", "paper.tables_of_consensus", "paper.digits"],
    ["paper.precision", "paper.figures", "paper.table_of_runtimes"],
    ["paper.pictures"],
    ["paper.contents"],
    ["paper.page"],
    ["paper.making"],
    ["paper"],
    ["cli.text"],
    ["cli.application", "cli.options", "cli.showing", "cli.stopping", "cli.work"],
    ["cli.commands", "cli.reproducing", "cli.tour"],
    ["cli.running"],
    ["cli"],
    ["__main__"],
    [""],
]
RANK = {module: i for i, layer in enumerate(LAYERS) for module in layer}
ELSEWHERE = {"torch", "cupy", "dask", "distributed", "jax"}


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path):
    """Modules of this package, and top-level names of others, that a file imports.

    ``result.plot()`` may call upon the pictures when it is called, and types may be named; neither
    ties the modules together when they are imported.
    """
    package = (
        module_name(path).split(".")
        if path.stem == "__init__"
        else module_name(path).split(".")[:-1]
    )
    package = [part for part in package if part]
    ours, others = set(), set()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "plot" and node not in tree.body:
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
        if isinstance(node, ast.Import):
            others |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            others.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - (node.level - 1)]
            modules = [node.module] if node.module else [alias.name for alias in node.names]
            modules = [module for module in modules if module != "_kernels"]  # compiled
            ours |= {".".join([*base, *module.split(".")]) for module in modules}
    return ours, others


# A package that loads its names lazily lists them in a stub.
FILES = sorted([*ROOT.rglob("*.py"), *ROOT.rglob("__init__.pyi")])


def test_every_module_has_a_layer():
    assert {module_name(path) for path in FILES} == set(RANK)


def test_modules_import_only_from_lower_layers():
    upward = [
        (module_name(path), target)
        for path in FILES
        for target in imports_of(path)[0]
        if RANK[target] >= RANK[module_name(path)]
    ]
    assert upward == []


def test_only_one_file_may_name_other_array_libraries():
    named = {module_name(path): imports_of(path)[1] & ELSEWHERE for path in FILES}
    # Dask is no array library but a way to run tasks: one file for each of the two.
    assert named.pop("_dask") == {"dask"}
    assert {name for name, libraries in named.items() if libraries} <= {"_arrays"}


def test_the_reader_of_imports_sees_relative_ones():
    ours, others = imports_of(ROOT / "lifts" / "fourier.py")
    assert {"kernels", "lifts.trigonometric", "_validation"} <= ours
    assert "numpy" in others


def test_changes_that_are_listed_as_no_mistakes_are_of_lines_that_there_are():
    for module in mutation.TESTS:
        source = (ROOT / f"{module}.py").read_text()
        listed = {code for code, _ in mutation.equivalents(module)}
        assert listed <= {line.strip() for line in source.splitlines()}
    assert sum(len(mutation.equivalents(module)) for module in mutation.TESTS) > 100
