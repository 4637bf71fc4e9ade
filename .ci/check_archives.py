"""What a source archive and wheels must hold, and must not.

python .ci/check_archives.py ARCHIVE WHEEL WHEEL_WITHOUT_A_COMPILER
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = {
    path.relative_to(ROOT).as_posix()
    for ending in ("*.py", "*.pyi")
    for path in (ROOT / "src").rglob(ending)
}
ASSETS = {
    path.relative_to(ROOT).as_posix()
    for folder, ending in (
        ("viz/report/assets", "*"),
        ("lifts/_native", "*.[ch]"),
        ("partitions", "*.c"),
        ("combination/methods", "*.c"),
        (".", "py.typed"),
    )
    for path in (ROOT / "src" / "liftcluster" / folder).glob(ending)
}
TESTS = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")}
COMPILED = (
    "liftcluster/lifts/_native/_kernels.",
    "liftcluster/partitions/_counting.",
    "liftcluster/combination/methods/_linkage.",
)
BESIDES = {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "setup.py"}
EXAMPLES = {"examples/flowers.csv", "examples/make_flowers.py"}


def check_archive(path: str) -> None:
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    _lack(path, SOURCES | ASSETS | TESTS | BESIDES | EXAMPLES, names)


def check_wheel(path: str, *, compiled: bool) -> None:
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    wanted = {n.removeprefix("src/") for n in SOURCES | ASSETS if not n.endswith((".c", ".h"))}
    _lack(path, wanted, names)
    if not any(name.endswith("/LICENSE") for name in names):
        sys.exit(f"{path} lacks the licence")
    extra = {n for n in names if n not in wanted and ".dist-info/" not in n}
    kernels = {n for n in extra if n.startswith(COMPILED)}
    sources = {n for n in extra if n.endswith((".c", ".h"))}
    if unknown := extra - kernels - sources:
        sys.exit(f"{path} holds what it should not: {sorted(unknown)}")
    built = sum(name.endswith((".so", ".pyd")) for name in kernels) == len(COMPILED)
    plain = path.endswith("-py3-none-any.whl")
    if (built, plain) != (compiled, not compiled):
        sys.exit(f"{path}: kernels {built}, for any platform {plain}; expected {compiled} kernels")


def _lack(path: str, wanted: set[str], names: set[str]) -> None:
    if missing := sorted(wanted - names):
        sys.exit(f"{path} lacks {', '.join(missing)}")


if __name__ == "__main__":
    archive, wheel, plain = sys.argv[1:]
    check_archive(archive)
    check_wheel(wheel, compiled=True)
    check_wheel(plain, compiled=False)
    print("archives are whole")
