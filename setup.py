"""The one thing that pyproject.toml cannot say: an extension that may fail to build."""

from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

SOURCES = Path("src/liftcluster/_native")


class Wheel(bdist_wheel):
    """Without a compiler there is nothing of one platform in it, and its name should say so."""

    def get_tag(self):
        build = self.get_finalized_command("build_ext")
        built = [Path(build.get_ext_fullpath(e.name)).exists() for e in build.extensions]
        return super().get_tag() if any(built) else ("py3", "none", "any")


setup(
    ext_modules=[
        Extension(
            "liftcluster._native._kernels",
            sources=[path.as_posix() for path in sorted(SOURCES.glob("*.c"))],
            depends=[path.as_posix() for path in sorted(SOURCES.glob("*.h"))],
            # -Wno-psabi: wide vectors never cross a call, so their calling convention is idle talk.
            extra_compile_args=["-O3", "-std=gnu11", "-fvisibility=hidden", "-Wno-psabi"],
            py_limited_api=True,
            optional=True,  # without a compiler NumPy does the work
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    cmdclass={"bdist_wheel": Wheel},
)
