"""Digests of the results of the library: `python -m benchmarks fingerprint`.

Prints one line for each lift, measure and method: a digest of the bits of its result on a fixed
problem, and the result to nine digits. Threads, processes and hash seeds must not change the
digests. Other versions of NumPy, or other compiled kernels, may change the last bits, but not the
digits.
"""

from __future__ import annotations

import hashlib
import warnings

import numpy as np

import liftcluster as lc
from liftcluster.lifts.settings import LIFTS


def answers():
    """(name, array of numbers) for every lift, measure and method."""
    rng = np.random.default_rng(7)
    X = np.round(rng.standard_normal((2100, 3)), 6)
    parts = [rng.integers(4, size=2100), (X[:, 0] > 0) * 2 + (X[:, 1] > 0), (X[:, 2] > 0.3) * 1]
    kernel = lc.Gaussian(1.5)
    for lift in LIFTS:
        settings = lc.Nystroem(200) if lift == "nystroem" else lift  # fewer than there are points
        rep = lc.represent(X, parts, kernel=kernel, lift=settings, rng=3)
        yield f"represent {lift}", rep.sums
        yield f"distances {lift}", rep.distances()
    few, labels = X[:60], [p[:60] for p in parts]
    for name in lc.MEASURES:
        lifting = {"kernel": kernel} if lc.MEASURES[name].needs == "vectors" else {}
        yield (
            f"measure {name}",
            np.array([lc.distance(labels[0], b, few, measure=name, **lifting) for b in labels[1:]]),
        )
    for name, method in lc.METHODS.items():
        if method.extra is None:
            found = lc.consensus(labels, 3, few, method=name, rng=5)
            yield f"method {name}", np.sort(found.memberships, axis=0)
    yield "bandwidth", np.array([lc.bandwidth(X)])
    test = lc.significance(labels[0], labels[1], few, n_permutations=20, rng=1)
    yield "significance", test.null
    wide, labels = rng.standard_normal((1500, 100)), parts[0][:1500]
    rep = lc.represent(wide, labels, lift="exact")
    yield "scores exact", rep.lift.scores(wide, rep.vectors)


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    for name, values in answers():
        digest = hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()
        norm, total = float(np.abs(values).max()), float(np.abs(values).sum())
        print(f"{name}\t{digest[:16]}\t{norm:.9g}\t{total:.9g}")


if __name__ == "__main__":
    main()
