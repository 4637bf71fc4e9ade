"""Fixed costs: the time of each function for few points: `python -m benchmarks fixed`.

Each row is the least time of many calls in one process, measured alternately. The unit is the time
of scikit-learn's `adjusted_rand_score` of the same labels, so that ratios are comparable between
machines. Needs an idle machine.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

import liftcluster as lc

from .timing import least_times, machine

UNIT = "`adjusted_rand_score` of scikit-learn"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100, help="number of points")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    arguments = parser.parse_args()
    rng, n = np.random.default_rng(0), arguments.n
    truth = np.arange(n) % 3
    X = rng.standard_normal((n, 10)) + 4 * np.eye(10)[truth]
    many = [np.where(rng.random(n) < 0.2, rng.integers(3, size=n), truth) for _ in range(10)]
    a, b = many[:2]
    wine = load_wine().data
    found = [KMeans(k, n_init=2, random_state=0).fit(wine).labels_ for k in (3, 4)]
    rep, lift = lc.represent(X, [a, b]), lc.make_lift(X, lift="fourier")
    weights = np.eye(3)[truth]
    jobs = {
        UNIT: lambda: adjusted_rand_score(a, b),
        "`rbf_kernel` of scikit-learn": lambda: rbf_kernel(X),
        "`Partition.from_labels`": lambda: lc.Partition.from_labels(a),
        "`bandwidth`": lambda: lc.bandwidth(X),
        "`bandwidth` of points never seen": lambda: lc.bandwidth(X + rng.random()),
        "`make_lift`, Fourier": lambda: lc.make_lift(X, lift="fourier"),
        "`sums` of this lift, three clusters": lambda: lift.sums(X, weights),
        "`represent`": lambda: lc.represent(X, [a, b]),
        "`distance`": lambda: lc.distance(a, b, X),
        "`distance` of representations": lambda: lc.distance(rep[0], rep[1]),
        "`distance` by adjusted_rand": lambda: lc.distance(a, b, measure="adjusted_rand"),
        "`compare` of representations": lambda: lc.compare(rep[0], rep[1]),
        "`distance_matrix` of ten": lambda: lc.distance_matrix(many, X),
        "the same by adjusted_rand": lambda: lc.distance_matrix(many, measure="adjusted_rand"),
        "`compare`": lambda: lc.compare(a, b, X),
        "`compare` of points never seen": lambda: lc.compare(a, b, X + rng.random()),
        "`compare`, all of it read": lambda: lc.compare(a, b, X).to_dict(),
        "`compare`, wine (178 × 13)": lambda: lc.compare(*found, wine),
        "the same of points never seen": lambda: lc.compare(*found, wine + rng.random()),
        "the same, all of it read": lambda: lc.compare(*found, wine).to_dict(),
        "`bandwidth_profile`": lambda: lc.bandwidth_profile(a, b, X),
        "`significance`": lambda: lc.significance(a, b, X),
        "`stability` of ten runs": lambda: lc.stability(X, many),
        "`consensus` of ten by lift_km": lambda: lc.consensus(many, 3, X, method="lift_km"),
        "the same by lwgp": lambda: lc.consensus(many, 3, X, method="lwgp"),
        "the same by auto": lambda: lc.consensus(many, 3, X),
    }
    seconds = least_times(jobs, arguments.seconds, time.perf_counter_ns)
    print(machine())
    print(f"| {n} points | ms | times {UNIT} |")
    print("|---|--:|--:|")
    for name, least in seconds.items():
        print(f"| {name} | {1e3 * least:.3f} | {least / seconds[UNIT]:.1f} |")


if __name__ == "__main__":
    main()
