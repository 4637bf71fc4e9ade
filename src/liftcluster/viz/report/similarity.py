"""Groups of like clusterings."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from ..._util.typing import FloatArray, IntArray


def similar_groups(D: FloatArray) -> list[IntArray]:
    """Groups of like clusterings, the largest first: average linkage, cut at half of its height.

    Examples
    --------
    >>> x = [0.0, 9.0, 1.0, 8.0, 0.0]
    >>> [group.tolist() for group in similar_groups(np.abs(np.subtract.outer(x, x)))]
    [[0, 2, 4], [1, 3]]
    """
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)  # rounding errors
    tree = linkage(squareform(D, checks=False), "average")
    found = fcluster(tree, tree[-1, 2] / 2, "distance")
    groups = [np.flatnonzero(found == group) for group in np.unique(found)]
    return sorted(groups, key=lambda group: (-len(group), group[0]))
