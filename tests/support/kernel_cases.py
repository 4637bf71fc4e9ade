"""Points and memberships in every form that the compiled kernels accept."""

import numpy as np
import pytest
import scipy.sparse as sp

import liftcluster as lc
from liftcluster.lifts import _native

kernels = _native.kernels()
needs_kernels = pytest.mark.skipif(kernels is None, reason="the extension was not built")
SETS = [] if kernels is None else kernels.instruction_sets()


def memberships(rng, n, kind):
    labels = rng.integers(-1, 4, n)
    labels[0] = 0
    if kind == "hard":
        return lc.as_partition(labels)
    if kind == "weighted":
        return lc.as_partition(labels, rng.uniform(0, 1e60, n))
    if kind == "soft":
        return lc.as_partition(rng.dirichlet(np.ones(3), n), rng.uniform(0.1, 2, n))
    return sp.csr_array(sp.random_array((n, 5), density=0.4, rng=rng)) * 1e40  # signed: any matrix


def points(rng, n, d, form):
    X = 3 * rng.standard_normal((n, d))
    if form == "bytes":
        return rng.integers(0, 20, (n, d)).astype(np.uint8)
    if form == "whole":
        return rng.integers(-20, 20, (n, d))
    if form == "fortran":
        return np.asfortranarray(X)
    if form == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if form == "backwards":
        return X[::-1, ::-1]
    if form == "unaligned":
        return np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(n, d)
    if form == "read-only":
        X.setflags(write=False)
    return X.astype(np.float32) if form == "single" else X


FORMS = ["single", "double", "bytes", "whole", "fortran", "strided", "backwards", "unaligned"]


def dense(R):
    if isinstance(R, lc.Partition):
        return R.memberships.toarray() * R.weights[:, None]
    return R.toarray()
