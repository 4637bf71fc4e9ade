"""Run time and peak memory of consensus methods."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.lifts._native import kernels as loaded_kernels

from ..labelled import mnist
from ..timing import best_times, machine, peak_memory
from .plain import plain_lwgp, plain_mcla

__all__ = ["in_units", "measure_all"]

# points, method, number of inputs; those of methods that this version does not have are left out
RUNS = [
    *(("mnist", method, 10) for method in lc.METHODS),
    ("million", "auto", 5),
    ("million", "lift_km", 10),
]
K = 10
IN_UNITS = [("mnist", 10), ("million", 5)]
TIMED = ("auto", "lift_km", "lift_hac", "lift_places", "evidence", "lwgp", "mcla")
PLAIN = ("plain lwgp", "plain mcla")
BLAS = {"avx512": "SkylakeX", "avx2": "Haswell"}  # what OpenBLAS calls them


def measure_all(folder: Path) -> Iterator[str]:
    """Markdown table: 60,000 images of 784 pixels, and a million points in 20 dimensions.

    Each method runs in a new process, so its first call is timed, imports included.
    Total time and the peak memory of the process are from reading the points to the labels, with
    the inputs, which are mini-batch k-means of 10 clusters. The memory of the consensus is the
    growth of the process while it is computed. Targets of "auto": 5 s for the images, 20 s for
    the million points, 2 GiB.
    """
    yield (
        "| points | inputs | method | total time, s | consensus, s | peak memory, GiB "
        "| of the consensus, GiB | ARI |"
    )
    yield "|---|--:|---|--:|--:|--:|--:|--:|"
    for points, method, m in RUNS:
        if method in lc.METHODS:
            yield _in_new_process("whole", points, method, str(m), folder)


def in_units(folder: Path) -> Iterator[str]:
    """Markdown table: whole calls in units of one product of the points with 500 landmarks.

    By each instruction set of this processor, in our kernels and in OpenBLAS. The baselines of
    lwgp and mcla are the same in plain SciPy.
    """
    yield machine()
    yield ""
    yield f"| points | inputs | processor | unit, s | {' | '.join((*TIMED, *PLAIN))} |"
    yield "|---|--:|---|" + "--:|" * (1 + len(TIMED) + len(PLAIN))
    kernels = loaded_kernels()
    here = kernels.instruction_sets() if kernels else []
    for points, m in IN_UNITS:
        for name, code in BLAS.items():
            if name in here:
                chosen = {"LIFTCLUSTER_NATIVE": name, "OPENBLAS_CORETYPE": code}
                yield _in_new_process("units", points, name, str(m), folder, **chosen)


def measure_in_units(points: str, name: str, m: int, folder: Path, repeats: int = 3) -> str:
    """A line of the table, by what this process has loaded."""
    X = POINTS[points](folder)[0].astype(np.float32)
    inputs = [MiniBatchKMeans(K, n_init=1, random_state=s).fit(X).labels_ for s in range(m)]
    seconds = best_times(_jobs(X, inputs), repeats)
    unit = seconds.pop("unit")
    cells = [f"{t / unit:.1f} ({t:.2f} s)" for t in seconds.values()]
    size = f"{X.shape[0]:,} × {X.shape[1]} | {m}"
    return f"| {size} | {name} | {unit:.2f} | {' | '.join(cells)} |"


def _jobs(X: np.ndarray, inputs: list[np.ndarray]) -> dict[str, Callable[[], object]]:
    landmarks = np.ascontiguousarray(X[:500].T)
    blocks, out = np.array_split(X, len(X) // 10_000), np.empty((10_000, 500), dtype=X.dtype)
    return {
        "unit": lambda: [np.matmul(block, landmarks, out=out) for block in blocks],
        **{name: partial(lc.consensus, inputs, K, X, method=name, rng=0) for name in TIMED},
        "plain lwgp": lambda: plain_lwgp(inputs, K),
        "plain mcla": lambda: plain_mcla(inputs, K),
    }


def _in_new_process(*arguments: str | Path, **environment: str) -> str:
    """A line of a table, or the last line of its error."""
    command = [sys.executable, "-m", "benchmarks.consensus.scale", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )
    output = done.stdout if done.returncode == 0 else done.stderr
    return output.strip().splitlines()[-1]


def measure(points: str, method: str, m: int, folder: Path) -> str:
    """A line of the table."""
    start = time.perf_counter()
    X, classes = POINTS[points](folder)
    inputs = [MiniBatchKMeans(K, n_init=1, random_state=s).fit(X).labels_ for s in range(m)]
    inputs_done = time.perf_counter()
    labels = np.empty(0)

    def work() -> None:
        nonlocal labels
        labels = lc.consensus(inputs, K, X, method=method, rng=0).labels

    growth = peak_memory(work) / 2**10  # from MiB
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # Linux counts in KiB
    size = f"{X.shape[0]:,} × {X.shape[1]} | {m}"
    times = f"{end - start:.0f} | {end - inputs_done:.1f}"
    index = adjusted_rand_score(classes, labels)
    return f"| {size} | {method} | {times} | {peak:.2f} | {growth:.2f} | {index:.2f} |"


def _images(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    return mnist(folder, "train")


def _million(folder: Path, n: int = 1_000_000) -> tuple[np.ndarray, np.ndarray]:
    """Ten Gaussians in 20 dimensions."""
    rng = np.random.default_rng(0)
    classes = np.arange(n) % 10
    centres = 1.5 * rng.standard_normal((10, 20))
    return centres[classes] + rng.standard_normal((n, 20)), classes


POINTS = {"mnist": _images, "million": _million}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table, points, name, m, folder = sys.argv[1:]
    run = {"whole": measure, "units": measure_in_units}[table]
    print(run(points, name, int(m), Path(folder)))
