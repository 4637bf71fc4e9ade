"""Optional libraries: every message about a missing one has a command that installs it."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import liftcluster as lc
from liftcluster._util.extras import how_to_install, needs

SOURCES = {path: path.read_text() for path in Path(lc.__file__).parent.rglob("*.py")}
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
EXTRAS = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
REQUIREMENTS = {
    re.match(r"[\w-]+", line)[0]: line for extra in EXTRAS.values() for line in extra
}  # by the name of the package


def packages_named_in_messages():
    """First arguments of the functions that write such messages."""
    for source in SOURCES.values():
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in {"needs", "how_to_install", "_require"}:
                argument = node.args[0]
                if isinstance(argument, ast.Constant):
                    yield argument.value


PACKAGES = sorted(set(packages_named_in_messages()))


def test_all_optional_packages_with_messages_are_found():
    assert PACKAGES == ["anndata", "matplotlib", "mtkahypar", "pandas", "pyarrow", "pymetis"]


@pytest.mark.parametrize("package", PACKAGES)
def test_install_command_has_the_requirement_of_pyproject(package):
    command = f'pip install "{REQUIREMENTS[package]}"'
    assert needs(package, "this") == f"this needs {package}: {command}"


def test_prefix_of_a_package_name_is_another_package():
    assert how_to_install("py") == 'pip install "py"'
    assert how_to_install("scikit") == 'pip install "scikit"'


def test_no_message_installs_an_extra_of_liftcluster():
    """From a checkout, pip would install liftcluster from an index, or fail."""
    assert [str(path) for path, source in SOURCES.items() if "liftcluster[" in source] == []


def test_extras_named_in_the_source_exist():
    named = {method.extra for method in lc.METHODS.values() if method.extra}
    for source in SOURCES.values():
        named |= set(re.findall(r"extra [`\"]+(\w+)[`\"]", source))
    assert named >= {"anndata", "graph", "parquet", "plot"}
    assert named <= set(EXTRAS)
