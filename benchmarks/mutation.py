"""Mutation testing: `python -m benchmarks mutation [MODULE ...]`, such as comparison/transport.py.

Applies one small change at a time to a module (`<` becomes `<=`, a constant is increased, a
statement is removed) and runs the tests that execute the changed line, fastest first, until one
fails. A mutant that no test kills has survived: either a test is missing, or the change makes no
difference. Messages of errors and warnings, and other texts, are not changed.

The tests of a module are those of its package, `tests/<package>/test_*.py`, and its doctests. One
process at a time, one thread; needs `coverage`, and a system with fork.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "liftcluster"
MODULES = (  # by default, relative to the package
    "partitions/*.py",
    "representation/representation.py",
    "comparison/transport.py",
    "comparison/measures/*.py",
    "combination/*.py",
    "combination/methods/lifted.py",
)
# Imported before the processes fork, which saves each of them the time.
LIBRARIES = ("hypothesis", "ot", "pandas", "scipy.stats", "sklearn.cluster", "sklearn.metrics")
LEAST_KILLED = 0.75  # of the mutants of a module; some changes make no difference
SURVIVED = (0, 5)  # status of pytest: all tests passed, or none ran

_PAIRS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)]
_PAIRS += [(ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or)]
_PAIRS += [(ast.BitAnd, ast.BitOr)]
OPERATORS = dict(_PAIRS) | {b: a for a, b in _PAIRS}
OPERATORS |= dict.fromkeys((ast.FloorDiv, ast.Mod, ast.Pow), ast.Mult)
_PAIRS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("all", "any")]
_PAIRS += [("floor", "ceil"), ("zeros", "ones")]
FUNCTIONS = dict(_PAIRS) | {b: a for a, b in _PAIRS} | {"sqrt": "abs", "sorted": "list"}
SKIPPED_FIELDS = ("annotation", "returns", "decorator_list", "bases", "type_params")
SKIPPED_NAMES = ("cast", "TypeVar", "warn", "Literal", "__all__")


class Mutant(NamedTuple):
    """A node to replace: ``parent.field`` or ``parent.field[index]``."""

    parent: ast.AST
    field: str
    index: int | None
    old: Any
    new: ast.AST

    def apply(self) -> None:
        ast.copy_location(self.new, self.old)
        if self.index is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.index] = self.new

    def __str__(self) -> str:
        old, new = (ast.unparse(node).partition("\n")[0] for node in (self.old, self.new))
        return f"  {self.old.lineno}: {old}  →  {new}"


def mutants(node: ast.AST) -> Iterator[Mutant]:
    """All mutants of the children of a node, in the order of the source."""
    for field, value in ast.iter_fields(node):
        if field in SKIPPED_FIELDS:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_skipped(child):
                for new in _alternatives(child):
                    yield Mutant(node, field, index, child, new)
                if not isinstance(child, ast.Raise):
                    yield from mutants(child)


def _is_skipped(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()):  # docstring
            return True
        case ast.keyword(arg="strict"):  # zip(..., strict=True)
            return True
        case ast.Call(func=name) | ast.Subscript(value=name) | ast.Assign(targets=[name, *_]):
            return getattr(name, "attr", getattr(name, "id", "")) in SKIPPED_NAMES
    return False


def _alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that replace a node, one for each mutant."""
    if (op := getattr(node, "op", None)) is not None and type(op) in OPERATORS:
        yield _changed(node, op=OPERATORS[type(op)]())
    match node:
        case ast.Compare():
            for i, op in enumerate(node.ops):
                yield _changed(node, ops=[*node.ops[:i], OPERATORS[type(op)](), *node.ops[i + 1 :]])
        case ast.BoolOp():
            for value in node.values:  # without each operand
                rest = [v for v in node.values if v is not value]
                yield _changed(node, values=rest) if len(rest) > 1 else copy.copy(rest[0])
        case ast.UnaryOp():
            yield copy.copy(node.operand)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1 if isinstance(value, int) or not value else 2 * value)
        case ast.Constant(value=str() as value) if len(value.split()) < 3:  # not a message
            yield ast.Constant("other" + value)
        case ast.IfExp():
            yield from (copy.copy(node.body), copy.copy(node.orelse))
        case ast.If() | ast.While():
            yield _changed(node, test=ast.UnaryOp(ast.Not(), node.test))
            if isinstance(node, ast.If):
                yield _changed(node, test=ast.Constant(False))
        case ast.Expr() | ast.Raise() | ast.AugAssign() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            yield _changed(node, func=_changed(node.func, id=FUNCTIONS[name]))
        case ast.Call(func=ast.Attribute(attr=name)) if name in FUNCTIONS:
            yield _changed(node, func=_changed(node.func, attr=FUNCTIONS[name]))


def _changed(node: ast.AST, **fields: Any) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


class Tracer:
    """A pytest plugin that records the seconds of each test and the lines that it executes."""

    def __init__(self, path: Path) -> None:
        import coverage

        self.coverage = coverage.Coverage(data_file=None, include=[str(path)], config_file=False)
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)
        self.seconds[nodeid] = -time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] += time.monotonic()


class Selection:
    """A pytest plugin that runs only some tests, in the given order."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list) -> None:
        chosen = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(chosen, key=lambda item: self.order[item.nodeid])


def check(path: Path, sample: int | None) -> float:
    """Run the tests on the mutants of a module, print those that survive; the share killed."""
    module = path.relative_to(PACKAGE)
    tree = ast.parse(path.read_text())
    if not (todo := list(mutants(tree))):
        return 1.0
    if sample is not None and sample < len(todo):
        todo = sorted(random.Random(0).sample(todo, sample), key=lambda m: m.old.lineno)
    with tempfile.NamedTemporaryFile() as file:
        if in_child(_trace, path, tests_of(path), Path(file.name), timeout=86_400) != 0:
            sys.exit(f"the tests of {module} fail without mutation")
        by_line, seconds = json.load(file)
    survived = 0
    for mutant in todo:
        near = set(by_line.get(str(mutant.old.lineno), [])) - {""}
        # A line that no test executes is executed on import, if at all: run all tests.
        chosen = sorted(near or seconds, key=seconds.__getitem__)
        limit = 60 + 20 * sum(seconds[test] for test in chosen)
        if in_child(_try, mutant, tree, path, chosen, timeout=limit) in SURVIVED:
            survived += 1
            print(mutant, flush=True)
    killed = 1 - survived / len(todo)
    print(f"{module}: {len(todo)} mutants, {survived} survived, {killed:.1%} killed", flush=True)
    return killed


def tests_of(path: Path) -> list[str]:
    """The module itself, for its doctests, and the test files of the nearest mirrored folder."""
    folder = ROOT / "tests" / path.parent.relative_to(PACKAGE)
    while not (found := sorted(map(str, folder.rglob("test_*.py")))):
        folder = folder.parent
    return [str(path), *found]


def _trace(path: Path, tests: list[str], answer: Path) -> int:
    tracer = Tracer(path)
    tracer.coverage.start()
    status = _pytest(tests, tracer)
    tracer.coverage.stop()
    tests_by_line = tracer.coverage.get_data().contexts_by_lineno(str(path))
    answer.write_text(json.dumps([tests_by_line, tracer.seconds]))
    return status


def _try(mutant: Mutant, tree: ast.Module, path: Path, tests: list[str]) -> int:
    """Status of the tests in this process, after it has imported the mutant."""
    module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    mutant.apply()
    code = compile(ast.fix_missing_locations(tree), str(path), "exec")
    read = SourceFileLoader.get_code
    SourceFileLoader.get_code = lambda self, name: code if name == module else read(self, name)
    import_module(module)  # before pytest, which would import the file for its doctests
    files = dict.fromkeys(test.split("::")[0] for test in tests)
    return _pytest(["-x", *files], Selection(tests))


def _pytest(arguments: list[str], plugin: object) -> int:
    import pytest

    options = ["-q", "-n0", "-m", "", "-p", "no:cacheprovider", "--no-header", "--tb=line"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, *arguments], plugins=[plugin]))


def in_child(function: Callable[..., int], *arguments: Any, timeout: float) -> int | None:
    """What a function returns in a forked process without output; None after the timeout."""

    def run() -> None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        sys.exit(function(*arguments))

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(timeout)
    process.kill()
    return process.exitcode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", default=MODULES)
    parser.add_argument("--sample", type=int, help="number of mutants per module (default: all)")
    options = parser.parse_args()
    os.environ |= {"CI": "true"} | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    os.environ.setdefault("LIFTCLUSTER_LONG", "1")  # as many random examples as .ci/coverage
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]
    for name in LIBRARIES:
        import_module(name)
    paths = {pattern: sorted(PACKAGE.glob(pattern)) for pattern in options.modules}
    if missing := [pattern for pattern, found in paths.items() if not found]:
        sys.exit(f"no such module in src/liftcluster: {', '.join(missing)}")
    modules = [path for found in paths.values() for path in found]
    weak = [path.name for path in modules if check(path, options.sample) < LEAST_KILLED]
    if weak:
        sys.exit(f"less than {LEAST_KILLED:.0%} killed: {', '.join(weak)}")


if __name__ == "__main__":
    main()
