"""Several partitions side by side: rows of all memberships."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftcluster import Partition
from liftcluster.partitions.stack import MatrixRows, Stack


def stack_and_matrix(rng, n, kinds, weighted):
    """A stack, and w(x) p(C|x) for all of its clusters as a dense matrix."""
    w = rng.uniform(0.5, 2, n) if weighted else None
    parts, columns = {}, []
    for i, kind in enumerate(kinds):
        k = int(rng.integers(1, 4))
        R = np.eye(k)[rng.integers(k, size=n)] if kind == "hard" else rng.dirichlet(np.ones(k), n)
        R[rng.random(n) < 0.3] = 0
        R[:k] = np.eye(k)[:n]
        parts[i] = Partition.from_memberships(R, w)
        columns.append(R[:, R.any(axis=0)] * (1 if w is None else w[:, None]))
    return Stack(parts), np.hstack(columns)


@pytest.mark.filterwarnings("ignore:dropped")
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.lists(st.sampled_from(["hard", "soft"]), min_size=1, max_size=4),
    st.booleans(),
)
def test_rows_hold_the_memberships_of_all_partitions(seed, n, kinds, weighted):
    rng = np.random.default_rng(seed)
    stack, expected = stack_and_matrix(rng, n, kinds, weighted)
    for rows in (slice(0, n), slice(n // 2, n), rng.integers(n, size=5)):
        found = stack.rows(rows)
        # Soft memberships are divided by their sum, which is one up to rounding.
        np.testing.assert_allclose(found.toarray(), expected[rows], rtol=1e-14)
        assert found.has_sorted_indices
        assert found.data.dtype == np.float64
        if isinstance(rows, slice):
            np.testing.assert_array_equal(stack.dense_rows(rows), found.toarray())
    assert not stack.has_no_noise or expected.any(axis=1).all()


def test_many_clusters_beside_each_other_do_not_overflow():
    """Codes of each partition have one byte, their columns need more."""
    labels = np.arange(120)
    stack = Stack({i: Partition.from_labels(labels) for i in range(3)})
    found = stack.rows(slice(100, 120))
    np.testing.assert_array_equal(stack.dense_rows(slice(100, 120)), found.toarray())
    np.testing.assert_array_equal(
        found.indices.reshape(20, 3), labels[100:, None] + 120 * np.arange(3)
    )


def test_a_matrix_gives_its_rows():
    R = Stack({0: Partition.from_labels([0, 1, 0])}).rows(slice(0, 3))
    assert MatrixRows(R).rows(slice(0, 3)) is R
    np.testing.assert_array_equal(MatrixRows(R).rows(slice(1, 3)).toarray(), R.toarray()[1:])
