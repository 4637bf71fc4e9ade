"""Which small mistakes the tests would notice: `python -m benchmarks mutation [MODULE ...]`.

Makes one small change at a time to a copy of a module (a `<` that becomes `<=`, a constant that is
one more, a line that is left out) and runs the tests that come by that line, quickest first, until
one fails. A change that no test notices has survived: either a test is missing, or the change is
no mistake. Those that are none are listed, with the reason, in `docs/mutants.md`, and do not count.

Words of errors and warnings, titles and other sentences are not changed: no test need know them.
One process at a time, one thread; needs `coverage`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import signal
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "liftcluster"
LIST = ROOT / "docs" / "mutants.md"

# The tests of a module, beside its own doctests; paths without .py below src/liftcluster and tests.
_MEASURES = "comparison/measures"
_METHODS = "combination/methods"
_CONSENSUS = tuple(
    f"combination/test_{name}"
    for name in ("consensus", "consensus_result", "choice_of_k", "partial_fit")
)
TESTS = {
    "partitions/partition": ("partitions/test_partition", "test_inputs"),
    "comparison/transport": ("comparison/test_transport",),
    "representation/representation": (
        "representation/test_representation",
        "representation/test_represent",
        "lifts/test_uncertainty",
    ),
    f"{_MEASURES}/information": (f"{_MEASURES}/test_information", f"{_MEASURES}/test_measures"),
    f"{_MEASURES}/lifted": (f"{_MEASURES}/test_lifted", f"{_MEASURES}/test_measures"),
    f"{_MEASURES}/pairs": (f"{_MEASURES}/test_pairs", f"{_MEASURES}/test_measures"),
    f"{_MEASURES}/registry": (f"{_MEASURES}/test_measures", "comparison/test_comparison"),
    f"{_MEASURES}/spatial": (f"{_MEASURES}/test_spatial", f"{_MEASURES}/test_measures"),
    f"{_MEASURES}/spatial_agreement": (
        f"{_MEASURES}/test_spatial",
        f"{_MEASURES}/test_spatial_agreement",
        f"{_MEASURES}/test_measures",
    ),
    f"{_METHODS}/lifted": (
        f"{_METHODS}/test_lifted_methods",
        f"{_METHODS}/test_lift_graph",
        *_CONSENSUS,
    ),
    "combination/by_vectors": (*_CONSENSUS, "combination/test_streamed_consensus"),
    "combination/combining": (
        *_CONSENSUS,
        f"{_METHODS}/test_label_consensus",
        "combination/test_base_partitions",
        "combination/test_streamed_consensus",
        "test_estimators",
        "test_memory",
    ),
}


@dataclass(frozen=True)
class Mutant:
    line: int
    start: int  # of what is replaced, in bytes of the source
    stop: int
    new: str
    old: str
    text: str  # the line as it was

    @property
    def title(self) -> str:
        return f"{_short(self.old)} → {_short(self.new)}"


def mutants(source: str) -> list[Mutant]:
    """Every small change to a module, in the order of its lines."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for text in lines:
        starts.append(starts[-1] + len(text.encode()))
    data = source.encode()

    def place(node: ast.AST) -> tuple[int, int]:
        return (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )

    found: dict[tuple[int, int, str], Mutant] = {}

    def add(node: ast.AST, start: int, stop: int, new: str) -> None:
        old = data[start:stop].decode()
        line = data[:start].count(b"\n") + 1
        if old != new:
            found[start, stop, new] = Mutant(line, start, stop, new, old, lines[line - 1].strip())

    for node in _mutable(tree):
        start, stop = place(node)

        def text(part: ast.AST) -> str:
            first, last = place(part)
            return data[first:last].decode()

        if isinstance(node, ast.Compare):
            left = node.left
            for op, right in zip(node.ops, node.comparators, strict=True):
                gap = place(left)[1], place(right)[0]
                between = data[slice(*gap)].decode()
                for old, new in _COMPARISONS.get(type(op), ()):
                    add(node, *gap, between.replace(old, new, 1))
                left = right
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            gap = place(node.left)[1], place(node.right)[0]
            old, new = _OPERATORS[type(node.op)]
            add(node, *gap, data[slice(*gap)].decode().replace(old, new, 1))
        elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
            gap = place(node.target)[1], place(node.value)[0]
            old, new = _OPERATORS[type(node.op)]
            add(node, *gap, data[slice(*gap)].decode().replace(old, new, 1))
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            gap = place(node.values[0])[1], place(node.values[1])[0]
            if len(node.values) == 2:
                add(node, *gap, data[slice(*gap)].decode().replace(old, new, 1))
            for value in node.values:  # without each of its parts
                rest = f" {old} ".join(f"({text(v)})" for v in node.values if v is not value)
                add(node, start, stop, f"({rest})")
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
            add(node, start, stop, f"({text(node.operand)})")
        elif isinstance(node, ast.Constant):
            for new in _other_values(node.value):
                add(node, start, stop, new)
        elif isinstance(node, ast.IfExp):
            add(node, start, stop, f"({text(node.body)})")
            add(node, start, stop, f"({text(node.orelse)})")
        elif isinstance(node, ast.If | ast.While):
            first, last = place(node.test)
            add(node, first, last, f"not ({text(node.test)})")
            if isinstance(node, ast.If):
                add(node, first, last, "False")
        elif isinstance(node, ast.Expr | ast.Raise | ast.AugAssign | ast.Break | ast.Continue):
            add(node, start, stop, "pass")
        elif isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                add(node, *place(node.value), "None")
        elif isinstance(node, ast.Call):
            for new in _SWAPPED.get(text(node.func).split(".")[-1], ()):
                first, last = place(node.func)
                last_name = text(node.func).split(".")[-1]
                add(node, last - len(last_name.encode()), last, new)
        if isinstance(node, ast.AugAssign):
            add(node, start, stop, "pass")
    return sorted(found.values(), key=lambda m: (m.start, m.stop, m.new))


_COMPARISONS = {
    ast.Lt: [("<", "<="), ("<", ">=")],
    ast.LtE: [("<=", "<"), ("<=", ">")],
    ast.Gt: [(">", ">="), (">", "<=")],
    ast.GtE: [(">=", ">"), (">=", "<")],
    ast.Eq: [("==", "!=")],
    ast.NotEq: [("!=", "==")],
    ast.Is: [("is", "is not")],
    ast.IsNot: [("is not", "is")],
    ast.In: [("in", "not in")],
    ast.NotIn: [("not in", "in")],
}
_OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_SWAPPED = {
    "min": ("max",),
    "max": ("min",),
    "minimum": ("maximum",),
    "maximum": ("minimum",),
    "argmin": ("argmax",),
    "argmax": ("argmin",),
    "all": ("any",),
    "any": ("all",),
    "floor": ("ceil",),
    "ceil": ("floor",),
    "zeros_like": ("ones_like",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "sqrt": ("abs",),
    "abs": ("float",),
    "sorted": ("list",),
}


_SENTENCE = 3  # words


def _other_values(value: object) -> list[str]:
    if isinstance(value, bool):
        return [str(not value)]
    if isinstance(value, int):
        return [str(value + 1)]
    if isinstance(value, float):
        return [repr(value * 2 if value else 1.0)]
    if isinstance(value, str) and len(value.split()) < _SENTENCE:
        return [repr("other" + value)]
    return []


def _mutable(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes but for docstrings, annotations, imports, `__all__`, and the words of complaints."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert):
            continue
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            continue
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Constant):
                continue
            yield node
            if _is_warning(node.value):
                continue
        elif isinstance(node, ast.Raise):
            yield node
            continue
        elif isinstance(node, ast.JoinedStr):
            continue
        elif isinstance(node, ast.AnnAssign):
            todo += [node.value] if node.value is not None else []
            continue
        elif isinstance(node, ast.ClassDef):
            todo += node.body  # not what it is declared to be
            continue
        elif isinstance(node, ast.FunctionDef):
            todo += [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body]
            continue
        elif hasattr(node, "lineno"):
            yield node
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("cast", "TypeVar"):
            continue
        todo += ast.iter_child_nodes(node)


def _is_warning(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def check(module: str, lines: set[int] | None, sample: int | None) -> Counter[str]:
    """Try every mutant of a module and print those that survive."""
    started = time.monotonic()
    path = PACKAGE / f"{module}.py"
    todo = [m for m in mutants(path.read_text()) if lines is None or m.line in lines]
    if sample is not None and sample < len(todo):
        todo = sorted(random.Random(0).sample(todo, sample), key=lambda m: m.start)
    tests = [ROOT / "tests" / f"{name}.py" for name in TESTS[module]]
    arguments = [str(test) for test in (*tests, path) if test.exists()]
    listed = equivalents(module)
    outcome: Counter[str] = Counter()

    def note(mutant: Mutant, killed: bool) -> None:
        known = not killed and (mutant.text, mutant.title) in listed
        outcome["killed" if killed else "equivalent" if known else "survived"] += 1

    def show(mutant: Mutant) -> None:
        if (mutant.text, mutant.title) not in listed:
            os.write(out, f"  {mutant.line}: {mutant.text}\n      {mutant.title}\n".encode())

    out = os.dup(1)  # which pytest does not capture

    named = constants(path.read_text())
    inside = functions(path.read_text()) | set(named)
    live = [m for m in todo if m.line in inside]
    on_import = [m for m in todo if m.line not in inside]
    with tempfile.NamedTemporaryFile() as answer:
        plugin = Mutator(module, live, Path(answer.name), show)
        status = in_child(lambda: _pytest([*arguments], [plugin]), 86_400)
        if status != 0:
            sys.exit(f"the tests of {module} do not pass as they are (status {status})")
        for mutant, killed in zip(live, json.loads(Path(answer.name).read_text()), strict=True):
            if killed is None:
                on_import.append(mutant)
            else:
                note(mutant, killed)
    for mutant in sorted(on_import, key=lambda m: m.start):
        status = in_child(lambda m=mutant: _run_changed(module, m, arguments), 600)
        if status == 0:
            show(mutant)
        note(mutant, status != 0)
    alive, same = outcome["survived"], outcome["equivalent"]
    print(
        f"{module}: {len(todo)} mutants, {same} equivalent, {alive} survived; "
        f"{1 - alive / max(len(todo) - same, 1):.1%} killed "
        f"in {(time.monotonic() - started) / 60:.0f} min",
        flush=True,
    )
    return outcome


class Mutator:
    """A pytest plugin: collects the tests once, then runs them in a fork for each mutant."""

    def __init__(self, module: str, todo: list[Mutant], answer: Path, show) -> None:
        self.name = "liftcluster." + module.replace("/", ".")
        self.path = PACKAGE / f"{module}.py"
        self.todo, self.answer, self.show = todo, answer, show
        self.out = os.dup(1)  # which pytest does not capture
        self.failed = False

    def pytest_runtest_logreport(self, report) -> None:
        self.failed |= report.failed

    def fails(self, item) -> bool:
        """Run one test as pytest does, with the warnings that its marks allow."""
        self.failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return self.failed

    def pytest_runtestloop(self, session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("tests could not be collected")
        items = session.items
        by_line, seconds = self.trace(items)
        every = sorted(range(len(items)), key=seconds.__getitem__)
        killed = []
        named = constants(self.path.read_text())

        def lines_of(line: int) -> set[int]:
            return named.get(line, {line})

        for mutant in self.todo:
            near = {i for line in lines_of(mutant.line) for i in by_line.get(str(line), [])}
            if not near:
                killed.append(None)  # run on import, if at all
                continue
            chosen = [i for i in every if i in near]
            limit = 20 + 20 * sum(seconds[i] for i in chosen)

            def attempt(mutant=mutant, chosen=chosen) -> int:
                self.change(mutant)
                return int(any(self.fails(items[i]) for i in chosen))

            killed.append(in_child(attempt, limit) != 0)
            if not killed[-1]:
                self.show(mutant)
        self.answer.write_text(json.dumps(killed))
        return True

    def trace(self, items: list) -> tuple[dict[str, list[int]], list[float]]:
        """Which tests come by which line, and how many seconds each takes."""

        def run() -> int:
            import coverage

            measured = coverage.Coverage(
                data_file=None, include=[str(self.path)], config_file=False
            )
            measured.set_option("run:disable_warnings", ["no-data-collected"])
            seconds, failed = [], []
            measured.start()
            for i, item in enumerate(items):
                measured.switch_context(str(i))
                start = time.monotonic()
                if self.fails(item):
                    failed.append(item.nodeid)
                seconds.append(time.monotonic() - start)
            measured.stop()
            lines = measured.get_data().contexts_by_lineno(str(self.path))
            by_line = {line: [int(c) for c in contexts if c] for line, contexts in lines.items()}
            self.answer.write_text(json.dumps([by_line, seconds]))
            for name in failed:
                os.write(self.out, f"  fails as it is: {name}\n".encode())
            return int(bool(failed))

        if in_child(run, 3600, silent=False) != 0:
            raise SystemExit(1)
        by_line, seconds = json.loads(self.answer.read_text())
        return by_line, seconds

    def change(self, mutant: Mutant) -> None:
        """Give the functions of the module, wherever they are known, the code of the mutant."""
        module = sys.modules[self.name]
        changed = {"__name__": module.__name__, "__package__": module.__package__}
        changed["__file__"] = module.__file__
        known = sys.modules[self.name]
        try:
            exec(compile(_changed(self.path, mutant), str(self.path), "exec"), changed)
        finally:
            sys.modules[self.name] = known
        _take_over(vars(module), changed, module.__name__)
        for key, value in changed.items():
            if isinstance(value, int | float | str | tuple) and not key.startswith("__"):
                setattr(module, key, value)


def _take_over(old: dict, new: dict, name: str) -> None:
    for key, value in list(old.items()):
        other = new.get(key)
        if isinstance(value, type) and value.__module__ == name and isinstance(other, type):
            _take_over(dict(vars(value)), dict(vars(other)), name)
        elif (function := _function(value)) is not None and function.__module__ == name:
            twin = _function(other)
            if twin is not None and len(twin.__code__.co_freevars) == len(
                function.__code__.co_freevars
            ):
                function.__code__ = twin.__code__
                function.__defaults__ = twin.__defaults__
                function.__kwdefaults__ = twin.__kwdefaults__


def _function(value: object):
    """The plain function inside a method, a property, or what caches one."""
    for name in ("fget", "func", "__func__"):
        value = getattr(value, name, value)
    return value if isinstance(value, types.FunctionType) else None


def constants(source: str) -> dict[int, set[int]]:
    """Lines that give a plain constant its name, and the lines that use that name."""
    tree = ast.parse(source)
    uses: dict[str, set[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses.setdefault(node.id, set()).add(node.lineno)
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Tuple):
            plain = not any(isinstance(part, ast.Call) for part in ast.walk(node.value))
            names = [n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)]
            if plain and all(name.startswith("_") or name.isupper() for name in names):
                lines = set().union(*(uses.get(name, set()) for name in names))
                found |= dict.fromkeys(range(node.lineno, node.end_lineno + 1), lines)
    return found


def functions(source: str) -> set[int]:
    """The lines that belong to functions; the others are run once, on import."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            lines |= set(range(node.lineno, node.end_lineno + 1))
    return lines


def _changed(path: Path, mutant: Mutant) -> bytes:
    data = path.read_bytes()
    return data[: mutant.start] + mutant.new.encode() + data[mutant.stop :]


def _run_changed(module: str, mutant: Mutant, arguments: list[str]) -> int:
    """The tests in a process that imports the mutant."""
    name, path = "liftcluster." + module.replace("/", "."), PACKAGE / f"{module}.py"

    class Loader(SourceFileLoader):
        def get_code(self, fullname: str):
            return compile(_changed(path, mutant), str(path), "exec")

    class Finder:
        @staticmethod
        def find_spec(fullname: str, where=None, target=None):
            if fullname != name:
                return None
            return spec_from_file_location(name, path, loader=Loader(name, str(path)))

    sys.meta_path.insert(0, Finder)
    # Now, since pytest itself would load the file as it is: its doctests are among the tests.
    import_module(name)
    return _pytest(["-x", *arguments], [])


def _pytest(arguments: list[str], plugins: list) -> int:
    import pytest

    os.chdir(ROOT)
    return int(pytest.main([*_QUIET, *arguments], plugins=plugins))


_QUIET = ["-q", "-n0", "-m", "", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
_QUIET += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what is imported before the fork


def in_child(function, timeout: float, *, silent: bool = True) -> int | None:
    """What a function returns in a forked process; None if it takes too long, 99 if it fails."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        if silent:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        try:
            status = function()
        except BaseException:
            status = 99
        os._exit(status)
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def _preload() -> None:
    """Import what the tests import, once and for all, but for what is mutated and the tests."""
    ours = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    ours |= {"liftcluster", "liftcluster_start", "benchmarks", "support"}
    sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]
    for name in sorted({name for names in TESTS.values() for name in names}):
        path = ROOT / "tests" / f"{name}.py"
        if path.exists():
            sys.path.insert(0, str(path.parent))
            import_module(path.stem)
    for name in list(sys.modules):
        if name.split(".")[0] in ours and name != "benchmarks":
            del sys.modules[name]


def equivalents(module: str) -> set[tuple[str, str]]:
    """The mutants that are no mistakes: lines of the table in docs/mutants.md."""
    if not LIST.exists():
        return set()
    found, inside = set(), False
    for line in LIST.read_text().splitlines():
        if line.startswith("## "):
            inside = line.removeprefix("## ").strip(" `") == f"{module}.py"
        cells = [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]
        if inside and len(cells) == 3 and cells[0].startswith("`"):
            code, change = (cell.replace("\0", "|").strip("`") for cell in cells[:2])
            found.add((code, change))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(TESTS))
    parser.add_argument("--lines", help="only these lines, such as 10,20-30")
    parser.add_argument("--sample", type=int, help="so many mutants of each module, by chance")
    options = parser.parse_args()
    os.environ.setdefault("LIFTCLUSTER_LONG", "1")  # as many examples as .ci/coverage draws
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # a process with threads must not be forked
    os.environ["CI"] = "true"
    _preload()
    only = None
    if options.lines:
        only = set()
        for part in options.lines.split(","):
            first, _, last = part.partition("-")
            only |= set(range(int(first), int(last or first) + 1))
    survived = 0
    for module in options.modules or TESTS:
        if module not in TESTS:
            parser.error(f"no such module: {module}; there are {', '.join(TESTS)}")
        survived += check(module, only, options.sample)["survived"]
    if survived:
        sys.exit(f"{survived} survived: write a test, or say in {LIST.name} why it is no mistake")


if __name__ == "__main__":
    main()
