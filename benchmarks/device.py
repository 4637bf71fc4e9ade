"""Sums on a GPU, compared with plain torch on the same GPU and with the CPU.

    python -m benchmarks device [--repeats 20] [--tune]

Needs torch and a CUDA device; CuPy is checked if it is installed. Times are medians of CUDA events
after a warm-up. Points, labels and frequencies are on the device before the measurement, also for
plain torch; `represent` is measured in addition, with labels in main memory.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import liftcluster as lc
from liftcluster._util.arrays import to_numpy
from liftcluster.lifts._gpu import triton_sums
from liftcluster.lifts._gpu.device import memberships_on
from liftcluster.partitions.partition import as_partitions
from liftcluster.partitions.stack import Stack

# n, d, ρ, partitions, clusters of each; target in milliseconds
SHAPES = {
    "60,000 x 784, rho 4000, 5 x 10": (60_000, 784, 4000, 5, 10, 7.0),
    "1,000,000 x 50, rho 2000, 10 x 20": (1_000_000, 50, 2000, 10, 20, None),
    "10,000,000 x 10, rho 1000, 5 x 20": (10_000_000, 10, 1000, 5, 20, 125.0),
}
# points, phases, clusters, warps, stages
TILES = [(16, 128, 128, 8, 1), (32, 128, 128, 8, 1), (64, 128, 128, 8, 1), (32, 64, 128, 8, 1)]
TILES += [(64, 64, 64, 4, 1), (64, 64, 64, 4, 3), (32, 64, 64, 4, 1), (64, 128, 64, 8, 1)]
TILES += [(64, 128, 64, 8, 3), (32, 128, 64, 8, 1), (32, 128, 64, 8, 3), (128, 128, 64, 8, 1)]
TILES += [(32, 64, 64, 4, 3), (16, 128, 128, 8, 3)]


def median_ms(job: Callable[[], object], repeats: int) -> float:
    import torch

    for _ in range(3):
        job()
    times = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        job()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return float(np.median(times))


def plain_torch(lift, X, labels, k):
    """Plain torch: one matrix product, cosines and sines, one product with one-hot labels."""
    import torch

    W = torch.asarray(lift.frequencies.T / lift.kernel.scale, dtype=torch.float32, device="cuda")
    hot = [torch.nn.functional.one_hot(labels_of, k) for labels_of in labels]
    R = torch.cat(hot, dim=1).to(torch.float32).T.contiguous()

    def job():
        T = X @ W
        return torch.cat([R @ torch.cos(T), R @ torch.sin(T)], dim=1)

    return job


def measure(name: str, repeats: int, tune: bool) -> dict[str, object]:
    import torch

    n, d, rho, m, k, target = SHAPES[name]
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(k, d))
    classes = rng.integers(0, k, n)
    X = (centres[classes] + rng.standard_normal((n, d), dtype=np.float32)).astype(np.float32)
    labels = [np.where(rng.random(n) < 0.8, classes, rng.integers(0, k, n)) for _ in range(m)]
    stack = Stack(as_partitions(labels))
    lift = lc.make_lift(X, lift=lc.Structured(rho) if d >= 48 else lc.Fourier(rho), rng=0)
    Xd = torch.asarray(X, device="cuda")
    members = memberships_on(Xd, stack)
    found: dict[str, object] = {"shape": name, "target ms": target, "lift": lift.describe()}
    found["sums ms"] = median_ms(lambda: lift.sums(Xd, members), repeats)
    device_labels = [torch.asarray(codes, device="cuda") for codes in labels]
    job = plain_torch(lift, Xd, device_labels, k)
    found["plain torch ms"] = median_ms(job, repeats)
    del job
    found["represent ms"] = median_ms(lambda: lc.represent(Xd, stack.partitions, lift=lift), 3)
    found["assign ms"] = median_ms(lambda: lift.assign(Xd, lift.sums(Xd, members)), 3)
    found |= against_cpu(lift, X, Xd, stack, members)
    torch.set_float32_matmul_precision("high")
    found["sums ms, TF32 enabled in torch (we disable it)"] = median_ms(
        lambda: lift.sums(Xd, members), repeats
    )
    torch.set_float32_matmul_precision("highest")
    if tune:
        found["tiles"] = tiles(lift, Xd, members, repeats)
    torch.cuda.empty_cache()
    return found


def against_cpu(lift, X, Xd, stack, members) -> dict[str, float]:
    start = time.perf_counter()
    expected = lift.sums(X, stack)
    seconds = time.perf_counter() - start
    got = lift.sums(Xd, members)
    lengths = np.linalg.norm(expected, axis=1)
    unit, unit_got = expected / lengths[:, None], got / np.linalg.norm(got, axis=1)[:, None]
    return {
        "cpu ms": 1e3 * seconds,
        "relative error of sums": float((np.linalg.norm(got - expected, axis=1) / lengths).max()),
        "error of unit vectors": float(np.linalg.norm(unit - unit_got, axis=1).max()),
    }


def tiles(lift, Xd, members, repeats: int) -> dict[str, object]:
    """Run times of the fused kernel for several tile sizes, and without it for several blocks."""
    from liftcluster.lifts._gpu import device

    found: dict[str, object] = {}
    if triton_sums.can_use_triton(Xd, members):
        names = ("_POINTS", "_PHASES", "_CLUSTERS", "_WARPS", "_STAGES")
        shipped = [getattr(triton_sums, name) for name in names]
        for tile in [*TILES, shipped]:
            for name, value in zip(names, tile, strict=True):
                setattr(triton_sums, name, value)
            try:
                ms = median_ms(lambda: lift.sums(Xd, members), 5)
            except Exception as error:
                ms = repr(error)[:80]
            found["fused, " + str(dict(zip(names, tile, strict=True)))] = ms
    triton_sums._failed = True
    for megabytes in (64, 256, 1024, 4096):
        device._BLOCK_BYTES = megabytes * 2**20
        found[f"not fused, blocks of {megabytes} MiB"] = median_ms(
            lambda: lift.sums(Xd, members), 5
        )
    triton_sums._failed = False
    device._BLOCK_BYTES = 2**30
    return found


def every_lift_agrees() -> dict[str, float]:
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
    options = [
        {"lift": "exact"},
        {"lift": "exact", "kernel": "laplace"},
        {"lift": lc.Fourier(501)},
        {"lift": lc.Fourier(4000)},
        {"lift": lc.Structured(4000)},
        {"lift": lc.Nystroem(100)},
        {"lift": "grid", "bandwidth": 1.0},
    ]
    found = {}
    for (library, send), option, dtype in itertools.product(
        libraries.items(), options, (np.float32, np.float64)
    ):
        d = 2 if option["lift"] == "grid" else 20
        X = rng.normal(size=(4000, d)).astype(dtype)
        expected = lc.represent(X, labels, rng=0, **option)
        got = lc.represent(send(X), labels, rng=0, **option)
        words = " ".join(str(v) for v in option.values())
        key = f"{library} {words} {np.dtype(dtype).name}"
        apart = np.abs(expected.inner_products() - got.inner_products()).max()
        predicted = to_numpy(got.lift.assign(send(X), got.vectors))
        same = np.mean(predicted == expected.lift.assign(X, expected.vectors))
        found[key] = float(apart)
        found[key + ", equal labels"] = float(same)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--tune", action="store_true", help="also measure other tiles and blocks")
    parser.add_argument("--out", type=Path, default=None, help="folder for the results as JSON")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        raise SystemExit("this benchmark needs torch, which is not installed") from None
    if not torch.cuda.is_available():
        raise SystemExit("no CUDA device found")
    found: dict[str, object] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "agreement": every_lift_agrees(),
    }
    print(json.dumps(found, indent=1), flush=True)
    for name in SHAPES:
        found[name] = measure(name, arguments.repeats, arguments.tune)
        print(json.dumps(found[name], indent=1), flush=True)
    if arguments.out is not None:
        (arguments.out / "device.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
