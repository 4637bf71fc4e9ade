"""Out-of-core points: `python -m benchmarks out-of-core [--bytes 20e9]`.

Creates a memory map as a sparse file (which needs little disk space), with labels of five
partitions, and lifts it. Reports the peak of anonymous memory beyond the start (without the page
cache), points per second compared with the same lift of a slice in memory, and whether a run that
is killed and resumed gives the same bits.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import liftcluster as lc
from benchmarks.timing import best_times, machine, peak_memory
from liftcluster.representation import checkpoint

RESULTS = Path(__file__).parent / "results" / "out_of_core.md"
PARTITIONS, CLUSTERS = 5, 20
SLICE = 500_000  # points that are also lifted in memory


def make_files(folder: Path, n: int, d: int) -> None:
    """Points that are zero except for one in a thousand; random labels."""
    rng = np.random.default_rng(0)
    X = np.memmap(folder / "X.bin", dtype=np.float32, mode="w+", shape=(n, d))
    for row in range(0, n, 1000):
        X[row] = rng.standard_normal(d)
    X.flush()
    for i in range(PARTITIONS):
        with open(folder / f"labels{i}.bin", "wb") as file:
            for start in range(0, n, 10**7):
                size = min(10**7, n - start)
                file.write(rng.integers(0, CLUSTERS, size, dtype=np.int8).tobytes())


def open_files(folder: Path, d: int, most: int | None = None) -> tuple[Any, dict[str, Any]]:
    X = np.memmap(folder / "X.bin", dtype=np.float32, mode="r").reshape(-1, d)
    labels = {
        f"p{i}": np.memmap(folder / f"labels{i}.bin", dtype=np.int8, mode="r")
        for i in range(PARTITIONS)
    }
    return X[:most], {name: p[:most] for name, p in labels.items()}


def anonymous() -> float:
    """MiB of this process that are not mapped from files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    raise OSError("RssAnon is not available on this system")


def lift_all(folder: Path, d: int, rho: int) -> list[str]:
    X, labels = open_files(folder, d)
    seconds = 0.0

    def work() -> None:
        nonlocal seconds
        start = time.perf_counter()
        lc.represent(X, labels, lift=lc.Fourier(rho), rng=0)
        seconds = time.perf_counter() - start

    peak = peak_memory(work, anonymous)
    size = (folder / "X.bin").stat()
    return [
        f"{len(X):,} points × {d} float32 ({size.st_size / 1e9:.1f} GB, "
        f"{size.st_blocks * 512 / 1e9:.2f} GB on disk), {PARTITIONS} partitions of {CLUSTERS} "
        f"clusters, ρ = {rho}:",
        f"- peak of anonymous memory beyond the start: {peak:.0f} MiB",
        f"- {seconds:.0f} s, {len(X) / seconds:,.0f} points per second",
    ]


def against_memory(folder: Path, d: int, rho: int) -> str:
    """Streaming and lifting in memory, measured alternately on a slice in the page cache."""
    X, labels = open_files(folder, d, SLICE)
    lift = lc.make_lift(np.array(X), lift=lc.Fourier(rho), rng=0)
    held, held_labels = np.array(X), {name: np.array(p) for name, p in labels.items()}
    times = best_times(
        {
            "stream": lambda: lc.represent(X, labels, lift=lift),
            "memory": lambda: lc.represent(held, held_labels, lift=lift),
        },
        5,
    )
    rates = {name: len(X) / t for name, t in times.items()}
    return (
        f"- a slice of {len(X):,} points: {rates['stream']:,.0f} points per second streamed, "
        f"{rates['memory']:,.0f} in memory ({times['stream'] / times['memory']:.2f} times as long)"
    )


def interrupted(folder: Path, d: int, rho: int, n: int) -> str:
    """Kill a run, resume it, and compare with an uninterrupted run."""
    file, sums = folder / "sums.npz", folder / "sums.npy"
    command = [sys.executable, "-m", "benchmarks", "out-of-core", "--work", str(folder)]
    command += ["--features", str(d), "--components", str(rho), "--points", str(n)]
    work = subprocess.Popen(command)
    reached = 0
    while reached < n // 3 and work.poll() is None:
        time.sleep(0.05)
        if file.exists():
            reached = int(np.load(file)["tally_sizes"][0])
    os.kill(work.pid, signal.SIGKILL)
    work.wait()
    subprocess.run(command, check=True)
    X, labels = open_files(folder, d, n)
    whole = lc.represent(lc.Blocks([X]), labels, lift=lc.Fourier(rho), rng=0)
    same = np.array_equal(np.load(sums), whole.sums)
    return (
        f"- killed at {reached:,} of {len(X):,} points and resumed: "
        f"{'the same bits' if same else 'DIFFERENT BITS'} as without interruption"
    )


def work_with_checkpoint(folder: Path, d: int, rho: int, n: int) -> None:
    checkpoint.EVERY = 0
    X, labels = open_files(folder, d, n)
    rep = lc.represent(X, labels, lift=lc.Fourier(rho), rng=0, checkpoint=folder / "sums.npz")
    np.save(folder / "sums.npy", rep.sums)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=20e9, help="size of the points")
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--components", type=int, default=2048)
    parser.add_argument("--folder", help="folder for the files (default: a temporary folder)")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--points", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    d, rho = options.features, options.components
    if options.work is not None:
        work_with_checkpoint(options.work, d, rho, options.points)
        return
    n = int(options.bytes // (4 * d))
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        make_files(folder, n, d)
        lines = [f"One run of `python -m benchmarks out-of-core` on {machine()}.", ""]
        lines += lift_all(folder, d, rho)
        lines.append(against_memory(folder, d, rho))
        lines.append(interrupted(folder, d, rho, min(n, 4 * SLICE)))
    print("\n".join(lines))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
