"""Peak memory and run time of consensus methods, each in a separate process."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ON_IMAGES = ("lift_km", "lift_graph", "lwgp", "evidence", "cspa", "mcla", "hbgf")


def measure_all(folder: Path) -> Iterator[str]:
    """Markdown table: 60,000 images of 784 pixels by some methods, a million points by lift_km."""
    yield "| points | method | total time, s | consensus, s | peak memory, GiB | ARI |"
    yield "|---|---|---|---|---|---|"
    for points, method in [*(("mnist", m) for m in ON_IMAGES), ("million", "lift_km")]:
        yield _in_new_process(points, method, folder)


def _in_new_process(points: str, method: str, folder: Path) -> str:
    command = [sys.executable, "-m", "benchmarks.consensus_scale", points, method, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    output = done.stdout if done.returncode == 0 else done.stderr
    return output.strip().splitlines()[-1]


def measure(points: str, method: str, folder: Path) -> str:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import adjusted_rand_score

    import liftcluster as lc

    start = time.perf_counter()
    X, classes = _points(points, folder)
    inputs = [MiniBatchKMeans(10, n_init=1, random_state=s).fit(X).labels_ for s in range(10)]
    inputs_done = time.perf_counter()
    found = lc.consensus(inputs, 10, X, method=method, rng=0)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # Linux counts in KiB
    index = adjusted_rand_score(classes, found.labels)
    size = f"{X.shape[0]:,} × {X.shape[1]}"
    times = f"{end - start:.0f} | {end - inputs_done:.0f}"
    return f"| {size} | {method} | {times} | {peak:.2f} | {index:.2f} |"


def _points(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    from .labelled import mnist

    if name == "mnist":
        return mnist(folder, "train")
    rng = np.random.default_rng(0)
    classes = np.arange(1_000_000) % 10
    centres = 1.5 * rng.standard_normal((10, 20))
    return centres[classes] + rng.standard_normal((len(classes), 20)), classes


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(measure(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
