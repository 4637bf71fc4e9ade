"""Docstrings of the public names: each parameter is described where it is, and alike everywhere."""

import ast
import builtins
import dataclasses
import doctest
import inspect
import re
import runpy
from functools import cached_property
from pathlib import Path

import pytest

import liftcluster as lc

API = Path(__file__).parents[1] / "docs" / "api"
MODULES = {
    "": lc,
    "plot.": lc.plot,
    "anndata.": lc.anndata,
    "anndata.plot.": lc.anndata.plot,
    "datasets.": lc.datasets,
}
PUBLIC = {f"{prefix}{n}": getattr(m, n) for prefix, m in MODULES.items() for n in m.__all__}
FUNCTIONS = {name: obj for name, obj in PUBLIC.items() if inspect.isfunction(obj)}
CLASSES = {name: obj for name, obj in PUBLIC.items() if inspect.isclass(obj)}
# Described by their parameters alone; the template class.rst lists the same names.
WITHOUT_MEMBERS = {
    "Gaussian", "Laplace", "Cauchy", "Matern", "Discrete", "Precomputed",
    "Exact", "Fourier", "Structured", "Grid", "Nystroem", "Blocks", "TableScan",
}  # fmt: skip
WITH_MEMBERS = {name: cls for name, cls in CLASSES.items() if name not in WITHOUT_MEMBERS}
METHODS = {
    f"{name}.{key}": method
    for name, cls in WITH_MEMBERS.items()
    for key in dir(cls)
    if not key.startswith("_")
    and inspect.isroutine(method := getattr(cls, key))
    and method.__module__.startswith("liftcluster")
}
BY_USERS = [
    *WITHOUT_MEMBERS - {"TableScan"},
    "LiftedConsensus",
    "ClusterLifter",
    "MaxMMDClustering",
    "NeighbourCut",
]
WITH_PARAMETERS = {**FUNCTIONS, **METHODS, **{name: CLASSES[name] for name in sorted(BY_USERS)}}

# How the descriptions of shared parameters begin.
SHARED = {
    "kernel": 'How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.',
    "bandwidth": 'The distance at which two points count as near, or a rule that computes it from the points, such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of kernels.',
    "lift": 'How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem"; settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn transformer.',
    "weights": "Weights of the points, in place of any that partitions carry; one each by default.",
    "rng": "Seed of random numbers: the same answer from call to call. None draws others each time.",
    "random_state": "Seed of random numbers: the same answer from call to call. None draws others each time.",
    "progress": "Whether to show a progress bar; by default on a terminal, after two seconds.",
    "measure_options": "Options of the measure: ``outer_kernel`` of lift_kd, ``bins`` of adco, ``alpha`` and ``tol`` of spri and spari.",
    "ax": "The axes to draw on; by default those of a new figure.",
    "adata": "The cells.",
    "use_rep": 'The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if present, else "X" if it has at most 50 columns.',
    "key_added": "The key under which results are stored; None to store nothing.",
}  # fmt: skip
OTHERWISE = {
    ("represent_samples", "weights"),
    ("Partition.from_labels", "weights"),
    ("Partition.from_memberships", "weights"),
    ("Partition.with_weights", "weights"),
    ("cluster_distance", "weights"),
    ("bandwidth_profile", "kernel"),
    ("bandwidth_profile", "lift"),
    ("ClusterLifter", "lift"),
    ("Tally.of", "lift"),
    ("Tally.finish", "lift"),
    ("bandwidth_profile", "measure_options"),
}


def sections(obj):
    """The sections of a numpydoc docstring by title; the text before them by ""."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", inspect.getdoc(obj) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(text):
    """Type and description of each name in a section such as Parameters."""
    found, names = {}, []
    for line in text.splitlines():
        if line[:1].strip():
            heads, _, kind = line.partition(" : ")
            names = heads.split(", ")
            found |= dict.fromkeys(names, (kind, ""))
        for name in names if line.startswith(" ") else []:
            kind, description = found[name]
            found[name] = kind, f"{description} {line.strip()}".strip()
    return found


def parameters(obj):
    """Parameters of a signature, named as in a docstring, but for self."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    every = inspect.signature(obj).parameters.values()
    return {stars.get(p.kind, "") + p.name: p for p in every if p.name != "self"}


def attributes(cls):
    """Public fields and properties of a class, with the docstrings that properties have."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    found = {field.name: "" for field in fields}
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property | cached_property):
            text = member.__doc__ or ""
            found[name] = text if getattr(member, "fget", None) or name in cls.__dict__ else ""
    return {name: text for name, text in found.items() if not name.startswith("_")}


@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_every_parameter_is_described(name):
    wanted, described = parameters(WITH_PARAMETERS[name]), sections(WITH_PARAMETERS[name])
    found = entries(described.get("Parameters", ""))
    assert sorted(found) == sorted(wanted)
    for key, (kind, description) in found.items():
        assert description, f"{key} has no description"
        assert kind or key.startswith("**"), f"{key} has no type"
        assert "As for " not in description


@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_defaults_are_stated(name):
    found = entries(sections(WITH_PARAMETERS[name]).get("Parameters", ""))
    for key, parameter in parameters(WITH_PARAMETERS[name]).items():
        default = parameter.default
        if default is parameter.empty or key.startswith("*"):
            continue
        if isinstance(default, str | int | float):
            assert f"default {default!r}".replace("'", '"') in found[key][0], key
        else:
            assert re.search("optional|default|None", found[key][0]), key


@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_shared_parameters_have_the_same_words(name):
    found = entries(sections(WITH_PARAMETERS[name]).get("Parameters", ""))
    for key in (found.keys() & SHARED.keys()) if name not in WITHOUT_MEMBERS else ():
        if (name, key) not in OTHERWISE:
            assert found[key][1].startswith(SHARED[key]), key


@pytest.mark.parametrize("name", {**FUNCTIONS, **CLASSES, **METHODS})
def test_first_line_is_a_sentence(name):
    obj = {**FUNCTIONS, **CLASSES, **METHODS}[name]
    first, *rest = inspect.getdoc(obj).splitlines()
    assert first.endswith(".")
    assert not rest or not rest[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_return(name):
    assert all(text for _, text in entries(sections(FUNCTIONS[name])["Returns"]).values())


@pytest.mark.parametrize("name", {**FUNCTIONS, **CLASSES})
def test_public_names_have_an_example_and_neighbours(name):
    found = sections(PUBLIC[name])
    assert ">>> " in found["Examples"]
    assert re.search(r"^[\w.]+( : \S|, )", found["See Also"], flags=re.MULTILINE)
    for line in found["See Also"].splitlines():
        if line[:1].strip():
            for other in line.split(" : ")[0].split(", "):
                assert other.removeprefix("liftcluster.") in PUBLIC, other


@pytest.mark.parametrize("name", WITH_MEMBERS)
def test_attributes_are_described_once(name):
    cls = WITH_MEMBERS[name]
    found = sections(cls)
    listed = entries(found.get("Attributes", ""))
    assert all(description for _, description in listed.values()), listed
    own = attributes(cls)
    given = entries(found.get("Parameters", ""))
    for key, text in own.items():
        assert (key in listed) + (key in given) + bool(text) == 1, key
    fitted = {key for key in listed if key.endswith("_")}  # set by fit
    assert listed.keys() - fitted <= own.keys()


def test_the_reference_lists_every_public_name_once():
    pages = re.findall(r"^   ([a-z_]+)$", (API / "index.rst").read_text(), flags=re.MULTILINE)
    listed = [
        name
        for page in pages
        for name in re.findall(
            r"^   ([A-Za-z][\w.]*)$", (API / f"{page}.rst").read_text(), flags=re.MULTILINE
        )
    ]
    assert sorted(listed) == sorted(PUBLIC)


@pytest.mark.parametrize("name", ["MEASURES", "METHODS"])
def test_pages_of_the_reference_match_the_registries(name):
    """``python docs/api/make_pages.py`` writes them."""
    made = runpy.run_path(str(API / "make_pages.py"))["PAGES"][name]()
    assert (API / f"{name}.rst").read_text() == made


def test_template_and_test_agree_on_classes_without_members():
    text = (API.parent / "_templates" / "autosummary" / "class.rst").read_text()
    listed = re.search(r"set without_members = \[(.*?)\]", text, flags=re.DOTALL)[1]
    assert set(re.findall(r"\w+", listed)) == WITHOUT_MEMBERS


def test_options_of_measures_and_methods_are_named():
    described = entries(sections(lc.consensus)["Parameters"])["method_options"][1]
    for text, registry in ((SHARED["measure_options"], lc.MEASURES), (described, lc.METHODS)):
        for name, entry in registry.items():
            for option in entry.options:
                assert re.search(rf"``{option}(=\w+)?``[^.]*\b{name}\b", text), (name, option)


@pytest.mark.parametrize("name", {**FUNCTIONS, **CLASSES, **METHODS})
def test_examples_import_what_they_use(name):
    text = inspect.getdoc({**FUNCTIONS, **CLASSES, **METHODS}[name])
    source = "".join(example.source for example in doctest.DocTestParser().get_examples(text))
    nodes = list(ast.walk(ast.parse(source)))
    known = {*dir(builtins), "_"}
    known |= {a.asname or a.name for n in nodes if hasattr(n, "names") for a in n.names}
    known |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    known |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    known |= {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    assert {n.id for n in nodes if isinstance(n, ast.Name)} <= known
