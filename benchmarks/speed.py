"""Speed of the lifts: `python -m benchmarks` (or `python -m benchmarks speed`).

The baseline, measured alternately with the library, is scikit-learn's RBFSampler and a product with
the one-hot matrix of the labels. Machines are noisy, so only ratios within one run are meaningful.
Tables are printed and written to benchmarks/results/speed.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler

import liftcluster as lc
from benchmarks.labelled import mnist
from benchmarks.timing import best_times, growth, machine, peak_memory
from liftcluster.lifts import _native
from liftcluster.lifts.fourier import draw_fourier_lift
from liftcluster.lifts.structured import draw_structured_lift

RESULTS = Path(__file__).parent / "results" / "speed.md"
K = 10  # clusters in a partition


class Report:
    """Lines that are printed at once and saved to a file at the end."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, *lines: str) -> None:
        for line in lines:
            self.lines.append(line)
            print(line, flush=True)

    def table(self, title: str, columns: list[str]) -> None:
        self.say(
            "", f"### {title}", "", "| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"
        )

    def row(self, *cells: object) -> None:
        self.say("| " + " | ".join(map(str, cells)) + " |")

    def save(self) -> None:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text("\n".join(self.lines) + "\n", encoding="utf-8")


# ---- baselines ----


def one_hot(labels: Any, dtype: Any) -> Any:
    R = np.zeros((len(labels), K), dtype=dtype)
    R[np.arange(len(labels)), labels] = 1
    return R


def pipeline(X: Any, labels: Any, rho: int, gamma: float, dtype: Any) -> Any:
    """Random features of scikit-learn for all points, then their sums by cluster."""
    sampler = RBFSampler(gamma=gamma, n_components=rho, random_state=0)
    return one_hot(labels, dtype).T @ sampler.fit_transform(X.astype(dtype, copy=False))


def pipeline_labels(X: Any, V: Any, rho: int, gamma: float) -> Any:
    sampler = RBFSampler(gamma=gamma, n_components=rho, random_state=0)
    return (sampler.fit_transform(X.astype(np.float64)) @ V.T).argmax(axis=1)


def nystroem(X: Any, labels: Any, rho: int, gamma: float) -> Any:
    made = Nystroem(gamma=gamma, n_components=rho, random_state=0).fit(X[:: len(X) // 2000])
    return one_hot(labels, np.float64).T @ made.transform(X)


def blocked_numpy(X: Any, labels: Any, rho: int, bandwidth: float) -> Any:
    """Cosine-sine pairs in float32, 512 points at a time."""
    rng = np.random.default_rng(0)
    W = (rng.standard_normal((X.shape[1], rho // 2)) / bandwidth).astype(np.float32)
    total = np.zeros((K, 2 * W.shape[1]))
    for i in range(0, len(X), 512):
        T = X[i : i + 512].astype(np.float32, copy=False) @ W
        Z = np.concatenate([np.cos(T), np.sin(T)], axis=1)
        total += one_hot(labels[i : i + 512], np.float32).T @ Z
    return total


# ---- the library ----


@contextmanager
def computing_by(name: str | None) -> Iterator[None]:
    """Use one instruction set, or no compiled kernels (None)."""
    loaded = _native.kernels()
    if loaded is None:
        yield
        return
    before = loaded.in_use()
    try:
        if name is None:
            _native._loaded = None
        else:
            loaded.use(name)
        yield
    finally:
        _native._loaded = loaded
        loaded.use(before)


def by(name: str | None, job: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        with computing_by(name):
            return job()

    return run


def ways() -> list[str | None]:
    loaded = _native.kernels()
    return [*(loaded.instruction_sets() if loaded else []), None]


def image_like(rng: np.random.Generator, n: int, d: int) -> tuple[Any, Any]:
    """Bytes around ten patterns, of which a third are not zero."""
    labels = rng.integers(K, size=n).astype(np.int32)
    shapes = rng.integers(0, 256, (K, d)) * (rng.random((K, d)) < 0.31)
    noise = rng.integers(0, 30, (n, d), dtype=np.uint8)
    return np.clip(shapes.astype(np.uint8)[labels] // 2 + noise, 0, 255).astype(np.uint8), labels


def lift_for(X: Any, rho: int, kind: str = "structured", dtype: Any = np.float32) -> Any:
    kernel = lc.Gaussian(lc.bandwidth(X[:: max(1, len(X) // 2000)]))
    centre = X[:1000].mean(axis=0)
    draw = draw_structured_lift if kind == "structured" else draw_fourier_lift
    return draw(kernel, X.shape[1], rho, centre=centre, dtype=dtype, rng=np.random.default_rng(0))


def many_dimensions(report: Report, n: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    d, rho = 784, 4000
    images, labels = image_like(rng, n, d)
    X = images.astype(np.float32)
    double = X.astype(np.float64)
    lift = lift_for(X, rho)
    h = lift.kernel.scale
    gamma = 1 / (2 * h**2)
    p = lc.as_partition(labels)
    jobs: dict[str, Callable[[], object]] = {
        "RBFSampler float64": lambda: pipeline(double, labels, rho, gamma, np.float64),
        "RBFSampler float32": lambda: pipeline(X, labels, rho, gamma, np.float32),
        "blocked NumPy float32": lambda: blocked_numpy(X, labels, rho, h),
        "Nystroem, 500 landmarks": lambda: nystroem(X, labels, 500, gamma),
    }
    for name in ways():
        jobs[f"ours, {name or 'NumPy only'}"] = by(name, lambda: lift.sums(X, p))
    jobs["ours, bytes"] = lambda: lift.sums(images, p)
    jobs["ours, float64 points"] = lambda: lift.sums(double, p)
    jobs["ours, orthogonal (matrix product)"] = lambda: orthogonal.sums(X, p)
    jobs["ours, represent()"] = lambda: lc.represent(
        X, p, bandwidth=h, lift=lc.Structured(rho), rng=0
    )
    orthogonal = lift_for(X, rho, "fourier")
    seconds = best_times(jobs, repeats)
    report.table(
        f"{n:,} points, d = {d}, ρ = {rho}, one partition of {K}",
        ["", "s", "times faster than RBFSampler float64", "than float32", "additional MiB"],
    )
    for name, job in jobs.items():
        t = seconds[name]
        report.row(
            name,
            f"{t:.3f}",
            f"{seconds['RBFSampler float64'] / t:.1f}",
            f"{seconds['RBFSampler float32'] / t:.1f}",
            f"{peak_memory(job):.0f}",
        )


def assigning(report: Report, n: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    X = image_like(rng, n, 784)[0].astype(np.float32)
    lift = lift_for(X, 4000)
    gamma = 1 / (2 * lift.kernel.scale**2)
    V = rng.standard_normal((K, 4000))
    jobs: dict[str, Callable[[], object]] = {
        "RBFSampler float64, product, argmax": lambda: pipeline_labels(X, V, 4000, gamma)
    }
    for name in ways():
        jobs[f"ours, {name or 'NumPy only'}"] = by(name, lambda: lift.assign(X, V))
    seconds = best_times(jobs, repeats)
    report.table(
        f"Assigning {n:,} points to {K} vectors, d = 784, ρ = 4000", ["", "s", "times faster"]
    )
    first = next(iter(seconds.values()))
    for name, t in seconds.items():
        report.row(name, f"{t:.3f}", f"{first / t:.1f}")


def many_partitions(report: Report, n: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    X = image_like(rng, n, 784)[0].astype(np.float32)
    lift = lift_for(X, 4000)
    stacks = {
        m: [lc.as_partition(rng.integers(K, size=n)) for _ in range(m)] for m in (1, 3, 10, 30)
    }
    jobs = {str(m): lambda m=m: lc.represent(X, stacks[m], lift=lift) for m in stacks}
    seconds = best_times(jobs, repeats)
    report.table(f"Partitions of {n:,} points at once, d = 784, ρ = 4000", ["m", "s", "times one"])
    for m, t in seconds.items():
        report.row(m, f"{t:.3f}", f"{t / seconds['1']:.1f}")


def in_the_plane(report: Report, n: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((K, 2))
    labels = rng.integers(K, size=n).astype(np.int32)
    X = centres[labels] + rng.standard_normal((n, 2))
    h = 0.3 * lc.bandwidth(X)
    gamma = 1 / (2 * h**2)
    p = lc.as_partition(labels)
    jobs: dict[str, Callable[[], object]] = {
        "RBFSampler float64, ρ = 200": lambda: pipeline(X, labels, 200, gamma, np.float64),
        "ours, grid by default": lambda: lc.represent(X, p, bandwidth=h),
        "ours, quasi-random, ρ = 1024": lambda: lc.represent(
            X, p, bandwidth=h, lift=lc.Fourier(1024), rng=0
        ),
        "ours, grid, extension off": by(None, lambda: lc.represent(X, p, bandwidth=h)),
    }
    seconds = best_times(jobs, repeats)
    some = slice(0, 8000)
    exact = lc.represent(X[some], labels[some], bandwidth=h, lift="exact").distances()

    def error(V: Any) -> float:
        V = V / np.linalg.norm(V, axis=1, keepdims=True)
        D = np.linalg.norm(V[:, None] - V[None], axis=2)
        return float(np.sqrt(np.mean((D - exact)[np.triu_indices(K, 1)] ** 2)))

    grid = lc.represent(X, p, bandwidth=h).lift
    errors = {
        "RBFSampler float64, ρ = 200": error(pipeline(X[some], labels[some], 200, gamma, float)),
        "ours, grid by default": error(grid.sums(X[some], lc.as_partition(labels[some]))),
        "ours, quasi-random, ρ = 1024": error(
            lc.represent(X[some], labels[some], bandwidth=h, lift=lc.Fourier(1024), rng=0).sums
        ),
    }
    errors["ours, grid, extension off"] = errors["ours, grid by default"]
    report.table(
        f"{n:,} points in the plane, bandwidth 0.3 of the median, {grid.describe()}",
        ["", "s", "times faster", "rms error of distances (8,000 points)"],
    )
    first = next(iter(seconds.values()))
    for name, t in seconds.items():
        report.row(name, f"{t:.3f}", f"{first / t:.1f}", f"{errors[name]:.1e}")


def a_large_plane(report: Report, n: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2), dtype=np.float32)
    X += (3 * rng.standard_normal((K, 2), dtype=np.float32))[labels := rng.integers(K, size=n)]
    p = lc.as_partition(labels.astype(np.int32))
    job = lambda: lc.represent(X, p)  # noqa: E731
    seconds = best_times({"": job}, 2)[""]
    report.say(
        "",
        f"{n:,} points in the plane: {seconds:.2f} s, {peak_memory(job):.0f} MiB additional memory",
    )


def growing(report: Report, repeats: int) -> None:
    rng = np.random.default_rng(0)

    def seconds(n: int = 10_000, d: int = 256, rho: int = 2048, m: int = 1) -> float:
        X = rng.standard_normal((n, d), dtype=np.float32)
        lift = draw_structured_lift(
            lc.Gaussian(d**0.5), d, rho, dtype=np.float32, rng=np.random.default_rng(0)
        )
        partitions = [lc.as_partition(rng.integers(K, size=n)) for _ in range(m)]
        return best_times({"": lambda: lc.represent(X, partitions, lift=lift)}, repeats)[""]

    report.table("Growth of structured lifts", ["in", "from", "to", "seconds", "exponent"])
    for name, sizes in {
        "n": [10_000, 30_000, 100_000, 300_000],
        "rho": [1024, 2048, 4096, 8192, 16384],
        "d": [64, 128, 256, 512, 1024],
        "m": [1, 3, 10, 30],
    }.items():
        times = [seconds(**{name: size}) for size in sizes]
        listed = ", ".join(f"{t:.4f}" for t in times)
        report.row(name, sizes[0], sizes[-1], listed, f"{growth(sizes, times):.2f}")


def crossing(report: Report, repeats: int) -> None:
    """The dimension from which fast transforms are faster, on which lift="auto" is based."""
    rng = np.random.default_rng(0)
    n = 20_000
    report.table(
        f"Dense or structured frequencies, {n:,} points, ρ = 2048",
        ["d", "orthogonal s", "structured s", "times faster"],
    )
    for d in (16, 32, 48, 64, 128):
        X = rng.standard_normal((n, d), dtype=np.float32)
        p = lc.as_partition(rng.integers(K, size=n))
        made = {kind: lift_for(X, 2048, kind) for kind in ("fourier", "structured")}
        t = best_times({kind: partial(lift.sums, X, p) for kind, lift in made.items()}, repeats)
        ratio = t["fourier"] / t["structured"]
        report.row(d, f"{t['fourier']:.4f}", f"{t['structured']:.4f}", f"{ratio:.2f}")


def exactly(report: Report, repeats: int) -> None:
    rng = np.random.default_rng(0)
    report.table(
        "Exact sums and RBFSampler float64 with ρ = 4000, d = 784",
        ["n", "exact s", "RBFSampler s", "structured ρ = 4000 s", "CDistance (POT) s"],
    )
    for n in (1000, 2500, 5000, 10_000):
        X, labels = image_like(rng, n, 784)
        X, other = X.astype(np.float64), rng.integers(K, size=n)
        h = lc.bandwidth(X)
        jobs: dict[str, Callable[[], object]] = {
            "exact": lambda X=X, y=labels, h=h: lc.represent(X, y, bandwidth=h, lift="exact"),
            "sampler": lambda X=X, y=labels, h=h: pipeline(X, y, 4000, 1 / (2 * h**2), np.float64),
            "ours": lambda X=X, y=labels, h=h: lc.represent(
                X, y, bandwidth=h, lift=lc.Structured(4000), rng=0
            ),
        }
        if n <= 1000:
            jobs["cdistance"] = lambda X=X, y=labels, z=other: lc.distance(
                y, z, X, measure="cdistance"
            )
        t = best_times(jobs, min(repeats, 2))
        transport = f"{t['cdistance']:.2f}" if "cdistance" in t else ""
        report.row(
            f"{n:,}", f"{t['exact']:.3f}", f"{t['sampler']:.3f}", f"{t['ours']:.4f}", transport
        )


def error_on_mnist(report: Report, seeds: int) -> None:
    folder = Path(os.environ.get("LIFTCLUSTER_DATA", ""))
    if not (folder / "mnist").exists():
        report.say("", "(no MNIST: set LIFTCLUSTER_DATA)")
        return
    X, digits = mnist(folder, "t10k")
    y = digits.astype(np.int32)
    rng = np.random.default_rng(0)
    partitions = [y, np.where(rng.random(len(y)) < 0.3, rng.integers(K, size=len(y)), y)]
    report.table(
        f"Error on MNIST test ({len(X):,} points, 20 clusters), ρ = 4000, {seeds} seeds",
        ["bandwidth", "features", "rms error of distances", "rms error of LiftEMD"],
    )
    for factor in (1.0, 0.3):
        h = factor * lc.bandwidth(X)
        exact = lc.represent(X, partitions, bandwidth=h, lift="exact")
        D, emd = exact.distances(), lc.distance(*partitions, X, bandwidth=h, lift="exact")
        for name, lift in {
            "iid": lc.Fourier(4000, sampling="iid"),
            "orthogonal": lc.Fourier(4000, sampling="orthogonal"),
            "structured": lc.Structured(4000),
        }.items():
            off, off_emd = [], []
            for seed in range(seeds):
                rep = lc.represent(X, partitions, bandwidth=h, lift=lift, rng=seed)
                off.append((rep.distances() - D)[np.triu_indices(2 * K, 1)])
                off_emd.append(lc.distance(*partitions, X, lift=rep.lift) - emd)
            rms = [f"{np.sqrt(np.mean(np.square(o))):.1e}" for o in (off, off_emd)]
            report.row(f"{factor} median", name, *rms)


def starting(report: Report) -> None:
    def seconds(code: str) -> float:
        job = lambda: subprocess.run([sys.executable, "-c", code], check=True)  # noqa: E731
        return best_times({"": job}, 3)[""]

    nothing = seconds("pass")
    sklearn = seconds("import sklearn.kernel_approximation")
    ours = seconds("import liftcluster")
    first = seconds(
        "import liftcluster as l, numpy as n; X = n.ones((100, 2)); X[0] = 0;"
        "l.distance(n.arange(100) % 2, n.arange(100) % 3, X)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, liftcluster; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    heavy = sorted({"matplotlib", "plotly", "dask", "torch", "pandas", "finufft"} & set(loaded))
    size = sum(
        path.stat().st_size
        for path in Path(lc.__file__).parent.rglob("*")
        if path.is_file() and path.suffix in (".py", ".so", ".typed", ".pyi")
    )
    report.table("Start-up", ["", ""])
    report.row("import sklearn.kernel_approximation", f"{sklearn - nothing:.2f} s")
    report.row("import liftcluster", f"{ours - nothing:.2f} s")
    report.row("import and a first distance", f"{first - nothing:.2f} s")
    report.row("plotting, Dask or torch loaded by the import", ", ".join(heavy) or "none")
    report.row("installed", f"{size / 2**20:.1f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the points, one run")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    scale, repeats = (10, 1) if options.quick else (1, options.repeats)
    report = Report()
    report.say(machine())
    many_dimensions(report, 60_000 // scale, repeats)
    assigning(report, 10_000 // scale, repeats)
    many_partitions(report, 20_000 // scale, repeats)
    in_the_plane(report, 1_000_000 // scale, repeats)
    a_large_plane(report, 10_000_000 // scale)
    growing(report, repeats)
    crossing(report, repeats)
    exactly(report, repeats)
    error_on_mnist(report, 1 if options.quick else 5)
    starting(report)
    report.save()


if __name__ == "__main__":
    main()
