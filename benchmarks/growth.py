"""Growth of time and memory: `python -m benchmarks growth [--most 1e7] [--seconds 100]`.

Each verb on n points of Gaussian clusters in d dimensions with m clusterings of ten clusters, in a
new process: seconds, and the growth of the process in MiB beside points and labels. The exponent is
that of a power law through the last two sizes. A size is left out if it does not fit into the
memory, or if the sizes before let one expect more than the given seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import liftcluster as lc
from benchmarks.timing import best_times, growth, machine, peak_memory

K = 10
SIZES = [10**e for e in range(3, 8)]
DIMENSIONS = (2, 20, 784)
Inputs = list[lc.Partition]


def distance(X: Any, inputs: Inputs) -> None:
    lc.distance(*inputs, X)


def matrix(X: Any, inputs: Inputs) -> None:
    lc.distance_matrix(inputs, X)


def consensus(X: Any, inputs: Inputs) -> None:
    lc.consensus(inputs, K, X)


def lift_km(X: Any, inputs: Inputs) -> None:
    lc.consensus(inputs, K, X, method="lift_km")


def lwgp(X: Any, inputs: Inputs) -> None:
    lc.consensus(inputs, K, X, method="lwgp")


def stability_of_runs(X: Any, inputs: Inputs) -> None:
    lc.stability(X, inputs, progress=False)


def stability_of_kmeans(X: Any, inputs: Inputs) -> None:
    lc.stability(X, KMeans(K, n_init=1), progress=False)


Verb = Callable[[Any, Inputs], None]
VERBS: dict[str, tuple[Verb, tuple[int, ...]]] = {  # with the numbers of clusterings
    "distance": (distance, (2,)),
    "matrix": (matrix, (10, 100)),
    "consensus": (consensus, (10,)),
    "consensus, lift_km": (lift_km, (10, 100)),
    "consensus, lwgp": (lwgp, (10, 100)),
    "stability of runs": (stability_of_runs, (10, 100)),
    "stability of k-means": (stability_of_kmeans, (0,)),
}


def points(n: int, d: int) -> np.ndarray:
    """Ten Gaussians whose centres are three standard deviations from their mean."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((K, d)) * 3 / np.sqrt(d)
    X = rng.standard_normal((n, d), dtype=np.float32)
    for start in range(0, n, 100_000):
        block = X[start : start + 100_000]
        block += centres.astype(np.float32)[rng.integers(K, size=len(block))]
    return X


def clusterings(X: np.ndarray, m: int) -> Inputs:
    """Nearest of ten of the points, drawn anew for each clustering."""
    rng, found = np.random.default_rng(1), []
    for _ in range(m):
        centres = X[rng.choice(len(X), K, replace=False)]
        labels = np.empty(len(X), dtype=np.int8)
        for start in range(0, len(X), 100_000):
            rows = slice(start, start + 100_000)
            scores = X[rows] @ centres.T - (centres**2).sum(axis=1) / 2
            labels[rows] = scores.argmax(axis=1)
        found.append(lc.as_partition(labels))
    return found


def measure_one(verb: str, n: int, d: int, m: int) -> dict[str, float]:
    """Seconds and MiB of one call; the shorter of two if it is short."""
    X = points(n, d)
    inputs = clusterings(X, m)
    job = VERBS[verb][0]
    job(X[: 20 * K], [lc.as_partition(p.labels[: 20 * K]) for p in inputs])  # imports
    start = time.perf_counter()
    memory = peak_memory(lambda: job(X, inputs))
    seconds = time.perf_counter() - start
    if seconds < 5:
        seconds = min(seconds, best_times({"": lambda: job(X, inputs)}, 2)[""])
    return {"seconds": seconds, "MiB": memory}


def in_new_process(verb: str, n: int, d: int, m: int) -> dict[str, float]:
    arguments = ["--one", verb, str(n), str(d), str(m)]
    command = [sys.executable, "-m", "benchmarks.growth", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def fits(n: int, d: int, m: int) -> bool:
    """Whether points and labels take less than half of the free memory."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    return n * (4 * d + 5 * m) < free / 2


def expected(sizes: list[int], seconds: list[float], n: int) -> float:
    if len(sizes) < 2:
        return 0.0
    return seconds[-1] * (n / sizes[-1]) ** growth(sizes[-2:], seconds[-2:])


def table(most: int, limit: float) -> Iterator[str]:
    sizes = [n for n in SIZES if n <= most]
    yield "| | d | m | " + " | ".join(f"n = {n:,}" for n in sizes) + " | exponent |"
    yield "|---|--:|--:|" + "--:|" * (len(sizes) + 1)
    for verb, (_, numbers) in VERBS.items():
        for d in DIMENSIONS:
            for m in numbers:
                done: list[int] = []
                seconds: list[float] = []
                cells = []
                for n in sizes:
                    if not fits(n, d, m) or expected(done, seconds, n) > limit:
                        break
                    found = in_new_process(verb, n, d, m)
                    done.append(n)
                    seconds.append(found["seconds"])
                    cells.append(f"{found['seconds']:.2g} s, {max(found['MiB'], 0):.0f} MiB")
                cells += ["–"] * (len(sizes) - len(cells))
                exponent = f"{growth(done[-2:], seconds[-2:]):.2f}"
                yield f"| {verb} | {d} | {m or '–'} | {' | '.join(cells)} | {exponent} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=float, default=1e7, help="number of points at most")
    parser.add_argument("--seconds", type=float, default=100, help="of one call at most")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        verb, *numbers = options.one
        print(json.dumps(measure_one(verb, *map(int, numbers))))
        return
    print(machine(), "", sep="\n", flush=True)
    for line in table(int(options.most), options.seconds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
