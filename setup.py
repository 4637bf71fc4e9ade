"""The one thing that pyproject.toml cannot say: an extension that may fail to build."""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

SOURCES = Path("src/liftcluster/lifts/_native")
# -Wno-psabi: wide vectors never cross a call, so their calling convention is idle talk.
OPTIONS = {
    "extra_compile_args": ["-O3", "-std=gnu11", "-fvisibility=hidden", "-Wno-psabi"],
    "py_limited_api": True,
    "optional": True,  # without a compiler NumPy does the work
}
# No fused multiply-add: the order of equal similarities is that of NumPy.
EXACT = OPTIONS | {"extra_compile_args": [*OPTIONS["extra_compile_args"], "-ffp-contract=off"]}


class BuildExtension(build_ext):
    """Build with GCC or clang; MSVC has no vector extensions, so the extension is left out."""

    def build_extension(self, ext):
        if self.compiler.compiler_type == "msvc":
            print(f"skipping {ext.name}: MSVC has no vector extensions; NumPy does the work")
        else:
            super().build_extension(ext)

    def get_libraries(self, ext):
        """Link MinGW builds to the stable ABI too, not to the DLL of one Python version."""
        if self.compiler.compiler_type == "mingw32":
            return [*ext.libraries, "python3"]
        return super().get_libraries(ext)


class Wheel(bdist_wheel):
    """Without the extension the wheel needs no particular Python or platform."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        build = self.get_finalized_command("build_ext")
        if any(Path(build.get_ext_fullpath(e.name)).exists() for e in build.extensions):
            return python, abi, platform
        # A wheel "any" would also be installed where the extension can be built from source.
        return "py3", "none", platform if sys.platform == "win32" else "any"


setup(
    ext_modules=[
        Extension(
            "liftcluster.lifts._native._kernels",
            sources=[path.as_posix() for path in sorted(SOURCES.glob("*.c"))],
            depends=[path.as_posix() for path in sorted(SOURCES.glob("*.h"))],
            **OPTIONS,
        ),
        Extension(
            "liftcluster.partitions._counting",
            sources=["src/liftcluster/partitions/_counting.c"],
            **OPTIONS,
        ),
        Extension(
            "liftcluster.combination.methods._linkage",
            sources=["src/liftcluster/combination/methods/_linkage.c"],
            **EXACT,
        ),
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    cmdclass={"build_ext": BuildExtension, "bdist_wheel": Wheel},
)
