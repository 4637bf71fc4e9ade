"""Which numeric columns are no coordinates by default: ids, labels, and results of this package."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

from .._util.typing import FloatArray

ROW_NUMBERS = "row numbers"
_MIN_ROWS = 20  # below this integers may be different, or consecutive, by chance

# Parts of names, in lower case and without digits.
_ID = {"id", "ids", "uid", "guid", "uuid", "idx", "rowid", "rownum", "rownumber", "unnamed"}
_MAYBE_ID = {"index", "number", "no", "nr", "num", "code", "key", "row", "serial", "record"}
_LABELS = {
    "label", "labels", "cluster", "clusters", "clustering", "class", "classes", "target",
    "kmeans", "kmedoids", "gmm", "ward", "agglomerative", "hierarchical", "spectral", "birch",
    "dbscan", "hdbscan", "optics", "leiden", "louvain", "phenograph", "consensus", "community",
    "communities",
}  # fmt: skip
_BESIDE_LABELS = {"id", "pred", "predicted", "true", "final", "res", "resolution", "k", "run"}
# Columns that are numbered for want of a name are no siblings of one that holds labels.
_GENERIC = {"col", "column", "var", "variable", "dim", "feature", "attr", "attribute", "field"}
_APPENDED = re.compile(
    r"(?P<consensus>consensus)_(confidence|margin|memberships_\d+)|(?P<run>.+)_stability"
)


def not_coordinates(integers: Mapping[str, FloatArray], labels: Collection[str]) -> dict[str, str]:
    """Columns that are no coordinates by default, and what each seems to be.

    Only integers are left out, and only by their names or where they count the rows:

    - an id: the name says so (``id``, ``customer_id``, ``PassengerId``, ``Unnamed: 0``); or it may
      be one (``index``, ``order_no``, ``userid``) and all values are different;
    - row numbers: each value is one more than that before it;
    - labels: the name is that of a kind or algorithm of clustering (``cluster``, ``class``,
      ``kmeans_5``, ``leiden_res0.5``), or that of a column in ``labels`` but for its number or
      ``_code``, and at most half of the values are different.

    Other integers (ages, counts, grades, ``n_clusters``, ``cluster_size``, ``passenger_class``) are
    coordinates.

    Parameters
    ----------
    integers : mapping from str to arrays
        The first values of the columns of integers, without those that are missing.
    labels : collection of str
        Names of the columns that are used as clusterings.

    Examples
    --------
    >>> import numpy as np
    >>> not_coordinates({"age": np.array([31, 7]), "user_id": np.array([5, 9])}, [])
    {'user_id': 'an id'}
    """
    siblings = {stem for name in labels if (stem := _stem(name))}
    found = {}
    for name, values in integers.items():
        if _is_id(name, values):
            found[name] = "an id"
        elif _are_labels(name, values, siblings):
            found[name] = "labels"
        elif _counts_rows(values):
            found[name] = ROW_NUMBERS
    return found


def appended_results(numeric: Collection[str], names: Collection[str]) -> dict[str, str]:
    """Columns that ``--append`` has written beside one of the table, such as its stability.

    >>> appended_results(["x", "consensus_margin", "a_stability"], ["x", "a", "a_stability"])
    {'a_stability': 'a result of liftcluster'}
    """
    found = {name: match for name in numeric if (match := _APPENDED.fullmatch(name))}
    return {
        name: "a result of liftcluster"
        for name, match in found.items()
        if (match["run"] or match["consensus"]) in names
    }


def _is_id(name: str, values: FloatArray) -> bool:
    words = _words(name)
    if not words:
        return False
    if words[-1] in _ID or (words[0] in _ID and len(words) > 1):
        return True
    return (words[-1] in _MAYBE_ID or words[-1].endswith("id")) and _all_different(values)


def _counts_rows(values: FloatArray) -> bool:
    return len(values) >= _MIN_ROWS and bool((np.diff(values) == 1).all())


def _all_different(values: FloatArray) -> bool:
    return len(values) >= _MIN_ROWS and len(np.unique(values)) == len(values)


def _are_labels(name: str, values: FloatArray, siblings: Collection[str]) -> bool:
    if 2 * len(np.unique(values)) > len(values):
        return False
    words = {*_words(name)}
    by_name = bool(words & _LABELS) and words <= _LABELS | _BESIDE_LABELS
    return by_name or _stem(name) in siblings


def _stem(name: str) -> str:
    """The name without numbers and words such as _code; empty if it says nothing."""
    words = [word for word in _words(name) if word not in {"code", "codes", "label", "labels"}]
    stem = "".join(words)
    return "" if len(stem) < 3 or stem in _GENERIC else stem


def _words(name: str) -> list[str]:
    """Words of a name in lower case, without digits.

    >>> _words("customerID"), _words("k-means_5"), _words("leiden_res0.5")
    (['customer', 'id'], ['kmeans'], ['leiden', 'res'])
    """
    name = re.sub(r"(?i)k[-_ ]?(means|medoids)", lambda m: f"k{m[1].lower()}", name)
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", name)
    return [part.lower() for part in parts]
