"""Lifting on a GPU, compared with the same by hand in torch on the same GPU.

    python -m benchmarks device [--repeats 50]

Needs torch and a CUDA device; CuPy is checked if it is installed. Points and labels are torch
arrays on the device. Times are medians of whole calls, until their result is there, after a second
of warm-up. By hand in torch is one matrix product, cosines and sines, and one product, in blocks
where they would not fit; frequencies and memberships, as float32 one-hot columns, are on the device
before. Errors are those of cluster vectors relative to double precision with the same frequencies,
the largest over clusters; the error of the random features themselves is the mean difference
between the distances of clusters by them and by the exact kernel, for 5,000 points.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import liftcluster as lc
from liftcluster._util.arrays import to_numpy
from liftcluster.partitions.partition import as_partitions
from liftcluster.partitions.stack import Stack

# n, d, ρ, partitions, clusters of each
SHAPES = {
    "60,000 × 784, ρ = 4000, 5 × 10": (60_000, 784, 4000, 5, 10),
    "10⁷ × 10, ρ = 1000, 5 × 20": (10_000_000, 10, 1000, 5, 20),
    "10⁶ × 50, ρ = 2000, 10 × 20": (1_000_000, 50, 2000, 10, 20),
}
_HELD = 2**32  # numbers of a block by hand
_WARM_UP = 1.0  # seconds


def median_ms(job: Callable[[], object], repeats: int) -> float:
    import torch

    start, calls = time.perf_counter(), 0
    while calls < 3 or time.perf_counter() - start < _WARM_UP:
        job()
        calls += 1
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        if not isinstance(job(), np.ndarray | lc.Representation):  # which are in main memory
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


class ByHand:
    """The same sums and assignments in plain torch."""

    def __init__(self, lift: Any, X: Any, labels: list[Any], k: int, dtype: str) -> None:
        import torch

        self.X, self.dtype = X, getattr(torch, dtype)
        W = torch.asarray(lift.frequencies.T / lift.kernel.scale, device="cuda")
        self.W, self.centre = W.to(self.dtype), torch.asarray(lift.centre, device="cuda")
        self.labels, self.k, self.factor = labels, k, float(np.sqrt(2 / lift.n_components))
        self.step = _HELD // (4 * W.shape[1])
        self.members = None if dtype == "float64" else self.one_hot(slice(None))

    def one_hot(self, rows: slice) -> Any:
        import torch

        hot = [torch.nn.functional.one_hot(codes[rows], self.k) for codes in self.labels]
        return torch.cat(hot, dim=1).to(self.dtype)

    def features(self, rows: slice) -> Any:
        import torch

        T = (self.X[rows].to(self.dtype) - self.centre.to(self.dtype)) @ self.W
        return torch.cat([T.cos(), T.sin()], dim=1)

    def blocks(self) -> list[slice]:
        n = len(self.X)
        return [slice(i, min(i + self.step, n)) for i in range(0, n, self.step)]

    def sums(self) -> Any:
        total = 0
        for rows in self.blocks():
            R = self.one_hot(rows) if self.members is None else self.members[rows]
            total = total + (R.T @ self.features(rows)).double()
        return total * self.factor

    def assign(self, V: Any) -> Any:
        import torch

        V = V.to(self.dtype).T
        return torch.cat([(self.features(rows) @ V).argmax(dim=1) for rows in self.blocks()])


def measure(n: int, d: int, rho: int, m: int, k: int, repeats: int) -> list[str]:
    """A row of the table of each kind."""
    import torch

    g = torch.Generator("cuda").manual_seed(0)

    def classes() -> Any:
        return torch.randint(0, k, (n,), device="cuda", generator=g)

    truth = classes()
    X = 3 * torch.randn(k, d, device="cuda", generator=g)[truth]
    X += torch.randn(n, d, device="cuda", generator=g)
    right = [torch.rand(n, device="cuda", generator=g) < 0.8 for _ in range(m)]
    labels = [torch.where(same, truth, classes()) for same in right]
    settings = lc.Structured(rho) if d >= 48 else lc.Fourier(rho)
    lift = lc.make_lift(X, lift=settings, rng=0)
    stack = Stack(as_partitions(labels))
    exact = to_numpy(ByHand(lift, X, labels, k, "float64").sums())

    def error(sums: Any) -> float:
        apart = np.linalg.norm(to_numpy(sums) - exact, axis=1)
        return float((apart / np.linalg.norm(exact, axis=1)).max())

    V = exact[:k] / np.linalg.norm(exact[:k], axis=1)[:, None]
    by_hand, V_there = ByHand(lift, X, labels, k, "float32"), torch.asarray(V, device="cuda")
    found = [
        median_ms(lambda: lift.sums(X, stack), repeats),
        error(lift.sums(X, stack)),
        median_ms(lambda: lc.represent(X, labels, lift=lift), repeats),
        median_ms(lambda: lift.assign(X, V), repeats),
        median_ms(by_hand.sums, repeats),
        error(by_hand.sums()),
        median_ms(lambda: by_hand.assign(V_there), repeats),
    ]
    torch.set_float32_matmul_precision("high")
    found += [median_ms(by_hand.sums, repeats), error(by_hand.sums())]
    torch.set_float32_matmul_precision("highest")
    for method, by in (("lift_km", lift), ("lift_km", "auto"), ("auto", "auto")):
        job = partial(lc.consensus, labels, k, X, method=method, lift=by)
        found.append(median_ms(job, min(repeats, 5)))
    found.append(feature_error(lift, X[:5000], [codes[:5000] for codes in labels]))
    return [f"{value:.2f}" if value > 0.1 else f"{value:.0e}" for value in found]


def feature_error(lift: Any, X: Any, labels: list[Any]) -> float:
    """Mean difference of the distances between clusters from those by the exact kernel."""
    points, codes = to_numpy(X), [to_numpy(p) for p in labels]
    exact = lc.represent(points, codes, kernel=lift.kernel, lift="exact").distances()
    return float(np.abs(lc.represent(points, codes, lift=lift).distances() - exact).mean())


def every_lift_agrees() -> list[str]:
    """Largest difference of inner products of unit vectors from the CPU, by library and lift."""
    import torch

    libraries = {"torch": lambda X: torch.asarray(X, device="cuda")}
    try:
        import cupy

        libraries["cupy"] = cupy.asarray
    except ImportError:
        pass
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 5, 4000), rng.integers(-1, 4, 4000)]
    options: list[dict[str, Any]] = [
        {"lift": "exact"},
        {"lift": "exact", "kernel": "laplace"},
        {"lift": lc.Fourier(501)},
        {"lift": lc.Fourier(4000)},
        {"lift": lc.Structured(4000)},
        {"lift": lc.Nystroem(100)},
        {"lift": "grid", "bandwidth": 1.0},
    ]
    rows = []
    for (library, send), option, dtype in itertools.product(
        libraries.items(), options, (np.float32, np.float64)
    ):
        d = 2 if option["lift"] == "grid" else 20
        X = rng.normal(size=(4000, d)).astype(dtype)
        expected = lc.represent(X, labels, rng=0, **option)
        got = lc.represent(send(X), [send(p) for p in labels], rng=0, **option)
        apart = np.abs(expected.inner_products() - got.inner_products()).max()
        assigned = to_numpy(got.lift.assign(send(X), got.vectors))
        same = np.mean(assigned == expected.lift.assign(X, expected.vectors))
        words = " ".join(str(v) for v in option.values())
        rows.append(f"| {library} | {words} | {np.dtype(dtype).name} | {apart:.0e} | {same:.2%} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=50)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        raise SystemExit("this benchmark needs torch, which is not installed") from None
    if not torch.cuda.is_available():
        raise SystemExit("no CUDA device found")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; times in milliseconds\n")
    columns = ["points, features, clusters", "`sums`", "error", "`represent`", "`assign`"]
    columns += ["torch: sums", "error", "torch: assign", "torch, TF32: sums", "error"]
    columns += ["`consensus`, lift_km", "by landmarks", "by auto", "error of the features"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, shape in SHAPES.items():
        print(f"| {name} | {' | '.join(measure(*shape, arguments.repeats))} |", flush=True)
        torch.cuda.empty_cache()
    print("\n| library | lift | points | largest difference from the CPU | equal labels |")
    print("|---|---|---|---|---|")
    print("\n".join(every_lift_agrees()))


if __name__ == "__main__":
    main()
