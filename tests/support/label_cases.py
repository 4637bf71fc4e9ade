"""Labels for the tests of label tuples and label-only consensus."""

import numpy as np
from hypothesis import strategies as st

from liftcluster import Partition
from liftcluster.combination.methods.tuples import LabelTuples


def tuples_of(labels, weights=None):
    """LabelTuples of the columns of an (n, m) array."""
    return LabelTuples.from_partitions(Partition.from_labels(p, weights) for p in labels.T)


def noisy_copies(rng, n, k, m, noise, missing=0.0):
    """Planted clusters of equal size, and m copies in which some labels are redrawn or missing."""
    truth = np.arange(n) % k
    labels = np.repeat(truth[:, None], m, axis=1)
    redrawn = rng.random((n, m)) < noise
    labels[redrawn] = rng.integers(k, size=redrawn.sum())
    labels[rng.random((n, m)) < missing] = -1
    labels[:k] = np.arange(k)[:, None]  # so that every partition has all k clusters
    return truth, labels


@st.composite
def label_arrays(draw, missing=True):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, k = draw(st.integers(4, 25)), draw(st.integers(1, 6)), draw(st.integers(2, 4))
    noise = draw(st.sampled_from([0.1, 0.4, 1.0]))
    lost = draw(st.sampled_from([0.0, 0.3])) if missing else 0.0
    return noisy_copies(rng, n, min(k, n), m, noise, lost)[1]
