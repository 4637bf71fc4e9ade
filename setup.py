"""The one thing that pyproject.toml cannot say: an extension that may fail to build."""

from pathlib import Path

from setuptools import Extension, setup

SOURCES = Path("src/liftcluster/_native")

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
)
