"""Run time of distances between clusterings: `python -m benchmarks compare`.

Tables with baselines measured alternately: LiftEMD and CDistance for growing n; set and information
measures and those of scikit-learn (and genieclust if installed), for labels of several types;
matrices of many clusterings and loops over their pairs; compare of a column of ids, and a page of
many clusterings; spARI in linear time and the formula over all pairs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import metrics as skl
from sklearn.cluster import KMeans

import liftcluster as lc
from benchmarks.timing import best_times, growth, least_times, machine, peak_memory


def lifted_against_cdistance(sizes: list[int], d: int) -> None:
    print(f"\n### LiftEMD and CDistance, 10 × 10 clusters, d = {d}\n")
    print("| n | CDistance s | exact s | ρ = 2000 s | CDistance / exact | CDistance / ρ = 2000 |")
    print("|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    columns: dict[str, list[float]] = {}
    for n in sizes:
        X = rng.standard_normal((n, d)) + 3 * rng.standard_normal((10, d))[rng.integers(10, size=n)]
        a, b = rng.integers(10, size=(2, n))
        jobs = {
            "cdistance": lambda X=X, a=a, b=b: lc.distance(a, b, X, measure="cdistance"),
            "exact": lambda X=X, a=a, b=b: lc.distance(a, b, X, lift="exact", rng=0),
            "fourier": lambda X=X, a=a, b=b: lc.distance(a, b, X, lift=lc.Fourier(2000), rng=0),
        }
        t = best_times(jobs, repeats=2)
        for name, seconds in t.items():
            columns.setdefault(name, []).append(seconds)
        print(
            f"| {n:,} | {t['cdistance']:.3f} | {t['exact']:.3f} | {t['fourier']:.3f} "
            f"| {t['cdistance'] / t['exact']:.1f} | {t['cdistance'] / t['fourier']:.1f} |",
            flush=True,
        )
    exponents = {name: growth(sizes, seconds) for name, seconds in columns.items()}
    print("| growth | " + " | ".join(f"n^{e:.2f}" for e in exponents.values()) + " | | |")


def tables_against_scikit_learn(n: int, k: int) -> None:
    print(f"\n### Set and information measures, n = {n:,}, k = {k}, labels to distance\n")
    rng = np.random.default_rng(0)
    a = rng.integers(k, size=n)
    b = np.where(rng.random(n) < 0.3, rng.integers(k, size=n), a)
    theirs = {
        "rand": skl.rand_score,
        "adjusted_rand": skl.adjusted_rand_score,
        "fowlkes_mallows": skl.fowlkes_mallows_score,
        "nmi": skl.normalized_mutual_info_score,
        "ami": skl.adjusted_mutual_info_score,
    }
    others = _genieclust()
    print(
        "| measure | ours ms | scikit-learn ms | scikit-learn / ours | genieclust ms "
        "| genieclust / ours | difference |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in (
        "rand",
        "jaccard",
        "fowlkes_mallows",
        "adjusted_rand",
        "accuracy",
        "nmi",
        "ami",
        "vi",
    ):
        jobs = {"ours": lambda name=name: lc.distance(a, b, measure=name)}
        if name in theirs:
            jobs["skl"] = lambda name=name: theirs[name](a, b)
        if name in others:
            jobs["genie"] = lambda name=name: others[name](a, b)
        t = best_times(jobs, repeats=5)
        difference = f"{abs(1 - jobs['ours']() - jobs['skl']()):.1e}" if "skl" in jobs else ""
        print(
            f"| {name} | {1e3 * t['ours']:.1f} | {_ms(t, 'skl')} | {_ratio(t, 'skl')} "
            f"| {_ms(t, 'genie')} | {_ratio(t, 'genie')} | {difference} |",
            flush=True,
        )


def labels_of_other_types(n: int, k: int) -> None:
    print(f"\n### adjusted_rand by type of labels, n = {n:,}, k = {k}, processor time\n")
    rng = np.random.default_rng(0)
    a = rng.integers(k, size=n)
    b = np.where(rng.random(n) < 0.3, rng.integers(k, size=n), a)
    types: dict[str, Callable[[np.ndarray], Any]] = {
        name: lambda labels, name=name: labels.astype(name)
        for name in ("int64", "int32", "uint8", "float64", "U8")
    }
    types["objects"] = lambda labels: labels.astype("U8").astype(object)
    others = _genieclust()
    print("| labels | ours ms | scikit-learn / ours | genieclust / ours |")
    print("|---|---|---|---|")
    for name, convert in types.items():
        x, y = convert(a), convert(b)
        jobs = {
            "ours": lambda x=x, y=y: lc.distance(x, y, measure="adjusted_rand"),
            "skl": lambda x=x, y=y: skl.adjusted_rand_score(x, y),
        }
        if others and x.dtype.kind in "iu":
            jobs["genie"] = lambda x=x, y=y: others["adjusted_rand"](x, y)
        t = least_times(jobs, seconds=1)
        print(f"| {name} | {_ms(t, 'ours')} | {_ratio(t, 'skl')} | {_ratio(t, 'genie')} |")


def matrices_against_loops(n: int, m: int, k: int) -> None:
    pairs, few = m * (m + 1) // 2, range(1, 6)
    print(f"\n### distance_matrix of {m} clusterings of {n:,} points in 10 dimensions, k = {k}\n")
    print(
        f"Per pair of {pairs:,}; the loop is over {len(few)} of them: scikit-learn's function, or"
    )
    print("`distance`, which lifts both clusterings.\n")
    print("| measure | matrix s | matrix µs / pair | loop µs / pair | loop / matrix |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    labels = rng.integers(k, size=n)
    X = rng.standard_normal((n, 10)) + 3 * rng.standard_normal((k, 10))[labels]
    parts = [np.where(rng.random(n) < 0.3, rng.integers(k, size=n), labels) for _ in range(m)]
    loops = {
        "lift_emd": lambda a, b: lc.distance(a, b, X, rng=0),
        "rand": skl.rand_score,
        "adjusted_rand": skl.adjusted_rand_score,
        "nmi": skl.normalized_mutual_info_score,
        "ami": skl.adjusted_mutual_info_score,
    }
    for name, one in loops.items():
        lifts = {"X": X, "rng": 0} if name == "lift_emd" else {}
        jobs = {
            "matrix": lambda name=name, lifts=lifts: lc.distance_matrix(
                parts, measure=name, **lifts
            ),
            "loop": lambda one=one: [one(parts[0], parts[j]) for j in few],
        }
        t = best_times(jobs, repeats=2)
        matrix, loop = 1e6 * t["matrix"] / pairs, 1e6 * t["loop"] / len(few)
        print(
            f"| {name} | {t['matrix']:.2f} | {matrix:.0f} | {loop:.0f} | {loop / matrix:.1f} |",
            flush=True,
        )


def whole_calls(n: int, m: int, n_ids: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=n)
    X = rng.standard_normal((n, 20)) + 1.5 * rng.standard_normal((10, 20))[y]
    parts = {
        f"k-means {i}": KMeans(5 + i % 10, n_init=1, max_iter=10, random_state=i).fit_predict(X)
        for i in range(m)
    }
    pairs, few = m * (m - 1) // 2, [parts[f"k-means {i}"] for i in range(1, 6)]
    start = time.process_time()
    for other in few:
        dict(lc.compare(parts["k-means 0"], other, X).values)
    loop = (time.process_time() - start) * pairs / len(few)
    start = time.process_time()
    lc.make_report(parts, X)
    page = time.process_time() - start
    start = time.process_time()
    dict(lc.compare(np.arange(n_ids), y[:n_ids], X[:n_ids]).values)
    ids = time.process_time() - start
    print(f"\n### A page of {m} clusterings of {n:,} points in 20 dimensions, processor time\n")
    print("| | s | loop / this |")
    print("|---|---|---|")
    print(f"| loop of compare over {pairs} pairs (from {len(few)} of them) | {loop:.1f} | 1 |")
    print(f"| make_report, with stability and witnesses | {page:.1f} | {loop / page:.1f} |")
    print(
        f"| compare of {n_ids:,} ids and 10 clusters | {ids:.1f} | {loop / ids:.1f} |", flush=True
    )


def spari_against_all_pairs(quadratic: list[int], linear: list[int]) -> None:
    print("\n### spARI in the plane, 10 × 10 clusters\n")
    print("| n | all pairs s | ours s | ratio | difference | memory beyond input MiB |")
    print("|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    sizes, seconds = [], []
    for n in sorted({*quadratic, *linear}):
        X = rng.random((n, 2))
        a = (X[:, 0] * 10).astype(int)
        b = np.where(rng.random(n) < 0.2, rng.integers(10, size=n), a)
        jobs = {"ours": lambda X=X, a=a, b=b: lc.distance(a, b, X, measure="spari")}
        if n in quadratic:
            jobs["pairs"] = lambda X=X, a=a, b=b: _spari_over_pairs(X, a, b)
        t = best_times(jobs, repeats=2 if n < 10**6 else 1)
        memory = peak_memory(jobs["ours"])
        ratio = f"{t['pairs'] / t['ours']:.1f}" if "pairs" in t else ""
        difference = f"{abs(jobs['ours']() - jobs['pairs']()):.1e}" if "pairs" in t else ""
        shown = f"{t['pairs']:.2f}" if "pairs" in t else ""
        print(
            f"| {n:,} | {shown} | {t['ours']:.3f} | {ratio} | {difference} | {memory:.0f} |",
            flush=True,
        )
        if n in linear:
            sizes.append(n)
            seconds.append(t["ours"])
    print(f"| growth from {sizes[0]:,} | | n^{growth(sizes, seconds):.2f} | | | |")


def _spari_over_pairs(X: np.ndarray, a: np.ndarray, b: np.ndarray, alpha: float = 0.8) -> float:
    """One minus spARI by its definition, in blocks of all pairs."""
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    n = len(X)
    pairs = n * (n - 1) / 2
    agree = near_f = near_h = together_a = together_b = total = 0.0
    for start in range(0, n, 1000):
        rows = slice(start, start + 1000)
        w = np.exp(-((X[rows, None] - X[None]) ** 2).sum(axis=2))
        in_a, in_b = a[rows, None] == a, b[rows, None] == b
        agree += (in_a == in_b).sum()
        near_f += alpha * w[in_b & ~in_a].sum()
        near_h += alpha * (1 - w[in_a & ~in_b]).sum()
        together_a += in_a.sum()
        together_b += in_b.sum()
        total += w.sum()
    agree, together_a, together_b, total = (
        (x - n) / 2 for x in (agree, together_a, together_b, total)
    )
    index = (agree + (near_f + near_h) / 2) / pairs
    p, q = together_a / pairs, together_b / pairs
    F, H = alpha * total, alpha * (pairs - total)
    expected = p * q + (1 - p) * (1 - q) + (1 - p) * q * F / pairs + p * (1 - q) * H / pairs
    return 1 - (index - expected) / (1 - expected)


def _genieclust() -> dict:
    try:
        from genieclust import compare_partitions as g
    except ImportError:
        return {}
    return {
        "rand": g.rand_score,
        "adjusted_rand": g.adjusted_rand_score,
        "nmi": g.normalized_mi_score,
    }


def _ms(times: dict[str, float], name: str) -> str:
    return f"{1e3 * times[name]:.1f}" if name in times else ""


def _ratio(times: dict[str, float], name: str) -> str:
    return f"{times[name] / times['ours']:.1f}" if name in times else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the benchmark")
    quick = parser.parse_args().quick
    print(machine())
    lifted_against_cdistance([500, 1000] if quick else [500, 1000, 2000, 4000], d=50)
    tables_against_scikit_learn(100_000 if quick else 1_000_000, k=20)
    labels_of_other_types(100_000 if quick else 1_000_000, k=20)
    matrices_against_loops(*((10_000, 10) if quick else (100_000, 100)), k=10)
    whole_calls(*((1000, 5, 800) if quick else (6000, 30, 4506)))
    spari_against_all_pairs(
        [2000] if quick else [5000, 10_000, 20_000],
        [10_000, 100_000] if quick else [100_000, 1_000_000, 10_000_000],
    )


if __name__ == "__main__":
    main()
