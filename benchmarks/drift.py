"""How often `drift` finds two samples of one population to differ, and samples that do differ.

    python -m benchmarks drift [--pairs 300] [--splits 19] [--jobs 2]

The first table holds shares of pairs of samples of *one* population with p ≤ 0.05: the rate of
false positives, which should be 0.05. Its last two columns are what not to do: clusterings made
separately, clusters matched by place, and points exchanged with their labels; and `significance`,
which asks whether clusterings are related. The second table holds the same shares for samples that
differ, of a third as many pairs.
"""

import argparse
import warnings
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans

import liftcluster as lc

LEVEL = 0.05
CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])


def blobs(n, rng, *, spread=1.0, shares=(0.25, 0.25, 0.25, 0.25), moved=0.0):
    """Four Gaussian clusters of given shares, of which the first may have moved."""
    which = rng.choice(4, n, p=shares)
    points = CENTRES[which] + spread * rng.standard_normal((n, 2))
    points[which == 0] += [moved, 0]
    return points


def one_gaussian(n, rng):
    return rng.standard_normal((n, 2))


# Name, how to draw n points, the sizes of both samples, and the number of clusters to look for.
POPULATIONS = [
    ("four separate clusters", blobs, (100, 100), 4),
    ("four overlapping clusters", partial(blobs, spread=2.5), (100, 100), 4),
    ("four clusters, three looked for", blobs, (100, 100), 3),
    ("four clusters, samples of 50 and 200", blobs, (50, 200), 4),
    ("one Gaussian, three looked for", one_gaussian, (100, 100), 3),
]
CHANGES = [
    ("one cluster moves by 1 deviation", {"moved": 1.0}),
    ("one cluster moves by 2 deviations", {"moved": 2.0}),
    ("one cluster disappears", {"shares": (0.0, 1 / 3, 1 / 3, 1 / 3)}),
    ("shares change from 25 % to 40 and 20 %", {"shares": (0.4, 0.2, 0.2, 0.2)}),
]


def fixed_rule(points):
    """A classifier that has seen neither sample."""
    return cdist(points, CENTRES).argmin(axis=1)


def kmeans(k, rng=None):
    seed = None if rng is None else int(rng.integers(2**31))
    return KMeans(k, n_init=3, random_state=seed)


def by_refitting(X, Y, k, **options):
    return lc.drift(X, Y, kmeans(k), **options).p_value


def by_refitting_ward(X, Y, k, **options):
    return lc.drift(X, Y, AgglomerativeClustering(k), **options).p_value


def by_fixed_rule(X, Y, k, **options):
    return lc.drift(X, Y, (fixed_rule(X), fixed_rule(Y)), **options).p_value


def by_pooled_clustering(X, Y, k, *, n_splits, rng):
    labels = kmeans(k, rng).fit_predict(np.concatenate([X, Y]))
    pair = labels[: len(X)], labels[len(X) :]
    return lc.drift(X, Y, pair, n_splits=n_splits, rng=rng).p_value


def by_matched_labels(X, Y, k, *, n_splits, rng):
    a, b = (kmeans(k, rng).fit_predict(points) for points in (X, Y))
    warnings.filterwarnings("ignore", "clusters of the same name")  # it is right
    D = lc.represent_samples([(X, a), (Y, b)]).distances()[:k, k:]
    names = np.argsort(linear_sum_assignment(D)[1])
    return lc.drift(X, Y, (a, names[b]), n_splits=n_splits, rng=rng).p_value


def by_significance(X, Y, k, *, n_splits, rng):
    a, b = (kmeans(k, rng).fit_predict(points) for points in (X, Y))
    return lc.significance(a, b, X, Y=Y, n_permutations=n_splits, rng=rng).p_value


VALID = [
    ("k-means refitted", by_refitting),
    ("Ward refitted", by_refitting_ward),
    ("labels by one rule", by_fixed_rule),
    ("pooled clustering", by_pooled_clustering),
]
INVALID = [("matched labels", by_matched_labels), ("significance", by_significance)]


def rejected(test, draw_X, draw_Y, sizes, k, n_splits, seed):
    rng = np.random.default_rng(seed)
    X, Y = draw_X(sizes[0], rng), draw_Y(sizes[1], rng)
    return test(X, Y, k, n_splits=n_splits, rng=rng) <= LEVEL


def table(title, tests, rows, n_pairs, args):
    """Print the share of pairs with p ≤ 0.05 for each row (name, draw_X, draw_Y, sizes, k)."""
    print(f"\n| {title} | " + " | ".join(name for name, _ in tests) + " |")
    print("|---" * (len(tests) + 1) + "|")
    for name, *case in rows:
        shares = []
        for _, test in tests:
            pairs = (delayed(rejected)(test, *case, args.splits, i) for i in range(n_pairs))
            shares.append(np.mean(Parallel(n_jobs=args.jobs)(pairs)))
        print(f"| {name} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pairs", type=int, default=300, help="pairs of samples of one population in each cell"
    )
    parser.add_argument("--splits", type=int, default=19, help="splits for each pair")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    args = parser.parse_args()
    error = np.sqrt(LEVEL * (1 - LEVEL) / args.pairs)
    print(f"{args.pairs} pairs, {args.splits} splits, p ≤ {LEVEL}; standard error {error:.3f}")
    same = [(name, draw, draw, sizes, k) for name, draw, sizes, k in POPULATIONS]
    table("one population", VALID + INVALID, same, args.pairs, args)
    others = [(name, blobs, partial(blobs, **change), (100, 100), 4) for name, change in CHANGES]
    table("what changes", VALID, others, max(1, args.pairs // 3), args)


if __name__ == "__main__":
    main()
