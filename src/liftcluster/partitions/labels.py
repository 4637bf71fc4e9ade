"""Labels and matrices of memberships: validation, and conversion into each other."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._util.arrays import check_is_array_like, to_numpy
from .._util.typing import Array, FloatArray, IntArray, Sparse
from .._util.validation import as_numbers
from .._util.warning import warn
from .counting import Encoding, encode_range, group_equal, translate

DEFAULT_NOISE = (-1, None, math.nan)
_DEFAULT_NAMES = [-1]  # the same without missing labels, which always mean noise
EMPTY_SHARE = 1e-30  # share of the weight up to which a cluster counts as empty
# Sums of memberships computed in float32 miss one by a few 1e-7; larger errors are mistakes.
_SUM_TOLERANCE = 1e-5
_DENSE_RANGE = 2**16  # integer labels in a range this small are not sorted


def encode_labels(labels: Any, noise: Iterable[Any] = DEFAULT_NOISE) -> Encoding:
    """Number the different labels that are not noise, and count them.

    Names are in the order of the categories if there are any; else sorted if possible; else in the
    order of appearance.
    """
    noise = _DEFAULT_NAMES if noise is DEFAULT_NOISE else _noise_names(noise)
    values, low, names = _as_categorical(labels) or _factorise(_one_dimension(labels))
    if not len(values):
        return Encoding(np.empty(0, np.int8), (), np.empty(0, np.int64))
    shift = int(_is_noise(names[0], noise))  # noise is often the least label, and then has code -1
    codes, counts = encode_range(values, low, len(names), shift)
    keep = [i for i in counts.nonzero()[0].tolist() if not _is_noise(names[i], noise)]
    if len(keep) < len(names) - shift:
        codes = renumber(codes, np.array(keep, dtype=np.intp) - shift, len(names) - shift)
    return Encoding(codes, tuple(names[i] for i in keep), counts[keep])


def looks_like_labels(obj: Any) -> bool:
    """Whether an object is one-dimensional; nested lists of numbers are not."""
    if hasattr(obj, "tocsr") or hasattr(obj, "columns"):
        return False
    if hasattr(obj, "ndim"):
        return bool(obj.ndim != 2)
    if isinstance(obj, list | tuple) and obj and isinstance(obj[0], list | tuple | np.ndarray):
        try:
            np.asarray(obj, dtype=np.float64)
        except (TypeError, ValueError):
            return True  # labels that are themselves tuples
        return False
    return True


def _one_dimension(labels: Any) -> Array:
    check_is_array_like(labels, "labels")
    if isinstance(labels, str | bytes | Mapping | Set) or not hasattr(labels, "__iter__"):
        raise TypeError(
            f"labels must be a sequence with one label for each point, got {type(labels).__name__}"
        )
    if hasattr(labels, "columns"):
        raise ValueError(
            f"labels must be one-dimensional, got a data frame with {len(labels.columns)} columns; "
            "choose one of them"
        )
    if isinstance(labels, np.ma.MaskedArray):
        labels, mask = np.array(labels.data, dtype=object), np.ma.getmaskarray(labels)
        labels[mask] = None
    if hasattr(labels, "to_list") and not isinstance(getattr(labels, "dtype", None), np.dtype):
        labels = labels.to_list()  # NumPy would make nullable integers floats, and round large ones
    if not hasattr(labels, "dtype"):
        labels = list(labels)
        if needs_objects(labels):
            return as_objects(labels)
    array = to_numpy(labels, "labels")
    if array.ndim != 1:
        one_column = array.ndim == 2 and 1 in array.shape
        hint = "labels.ravel()" if one_column else "Partition.from_memberships for a soft partition"
        raise ValueError(f"labels must be one-dimensional, got shape {array.shape}; use {hint}")
    return array


def needs_objects(values: list[Any]) -> bool:
    """Whether NumPy would change values: [1, "a", None] to strings, huge integers to floats."""
    kinds = set(map(type, values))
    huge = kinds == {int} and not -(2**63) <= min(values) <= max(values) < 2**63
    return len(kinds) > 1 or huge or tuple in kinds


def as_objects(values: list[Any]) -> Array:
    """A one-dimensional array of the values as they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# Labels as integers, the lowest of them, and the names of that and the following integers.
Factors = tuple[IntArray, int, Sequence[Any]]


def _factorise(labels: Array) -> Factors:
    kind = labels.dtype.kind
    if kind in "OT":
        return _factorise_objects(labels)
    if kind == "c":
        raise TypeError("labels must not be complex numbers")
    if kind == "b":
        return labels.view(np.uint8), 0, [False, True]
    if kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < _DENSE_RANGE:
            return labels, low, range(low, high + 1)
    codes, firsts = group_equal(labels) or (None, slice(None))
    values, order = np.unique(labels[firsts], return_inverse=True)
    names = [plain_name(value) for value in values]
    if codes is None:
        return order, 0, names
    return translate(codes, np.append(order, -1).astype(codes.dtype)), 0, names


def _factorise_objects(labels: Array) -> Factors:
    values = labels.tolist()
    try:
        different = dict.fromkeys(values)
        plain = [_plain_or_none(label) for label in different]
        index = {name: i for i, name in enumerate(dict.fromkeys(plain))}
        code_of = {label: index[name] for label, name in zip(different, plain, strict=True)}
        codes = np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
    except TypeError:
        index, codes = _number_one_by_one(values)
    names = list(index)
    try:
        order = sorted(name for name in names if name is not None)
    except TypeError:
        return codes, 0, names  # mixed types have no order: keep that of appearance
    order += [None] * (None in index)
    return renumber(codes, [index[name] for name in order], len(names)), 0, order


def _number_one_by_one(values: list[Any]) -> tuple[dict[Any, int], Array]:
    """Codes by appearance where some labels are not hashable; only missing ones may be so."""
    index: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for i, label in enumerate(map(_plain_or_none, values)):
        try:
            codes[i] = index.setdefault(label, len(index))
        except TypeError:
            raise TypeError(
                f"labels must be hashable, got {type(label).__name__} for point {i}"
            ) from None
    return index, codes


def _plain_or_none(label: Any) -> Any:
    return None if _is_missing(label) else plain_name(label)


def _as_categorical(labels: Any) -> Factors | None:
    """Codes and categories of a pandas Categorical, or of a Series of them."""
    values = getattr(labels, "values", labels)
    if not (hasattr(values, "codes") and hasattr(values, "categories")):
        return None
    return np.asarray(values.codes), -1, [None, *map(plain_name, values.categories)]


def renumber(codes: IntArray, order: Sequence[int] | IntArray, k: int) -> IntArray:
    """Codes in 0 … k-1 by their position in ``order``; -1 for those not in it, and for -1."""
    new_code: IntArray = np.full(k + 1, -1, dtype=codes.dtype)
    new_code[order] = np.arange(len(order))
    return translate(codes, new_code)


def plain_name(value: Any) -> Any:
    """A Python scalar; 1.0 becomes 1, because a missing value turns integers into floats."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _noise_names(noise: Any) -> list[Any]:
    """The labels that mean noise, without the missing ones, which always do."""
    several = isinstance(noise, Iterable) and not isinstance(noise, str)
    return [plain_name(v) for v in (noise if several else (noise,)) if not _is_missing(v)]


def _is_noise(name: Any, noise: list[Any]) -> bool:
    if _is_missing(name):
        return True
    for value in noise:  # faster than any() where labels are few
        # True == 1 in Python, but a label True is not the noise label 1.
        if name == value and isinstance(name, bool) == isinstance(value, bool):
            return True
    return False


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None:
        return True
    if isinstance(value, str | bytes | int | tuple):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def as_membership_matrix(memberships: Any) -> Sparse:
    """Valid memberships as a canonical csr matrix whose rows sum to one or zero."""
    if sp.issparse(memberships):
        if memberships.dtype.kind == "c":
            raise TypeError("memberships must be real numbers")
        R = sp.csr_array(memberships).astype(np.float64)
    else:
        R = sp.csr_array(_dense_memberships(memberships))
    if R.shape[0] == 0 or R.shape[1] == 0:
        raise ValueError(f"memberships have shape {R.shape}; a partition needs points and clusters")
    R.sum_duplicates()
    R.eliminate_zeros()
    bad = ~(np.isfinite(R.data) & (R.data >= 0))
    if bad.any():
        i = int(bad.argmax())
        row = int(np.searchsorted(R.indptr, i, side="right")) - 1
        raise ValueError(
            "memberships must be finite and must not be negative, "
            f"got {R.data[i]} for point {row}, cluster {R.indices[i]}{_labels_hint(R)}"
        )
    with np.errstate(over="ignore"):
        sums = np.asarray(R.sum(axis=1)).ravel()
    wrong = (np.abs(sums - 1) > _SUM_TOLERANCE) & (sums != 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        hint = _labels_hint(R) or "; divide each row by its sum"
        raise ValueError(
            f"memberships of a point must sum to one (or to zero for noise), "
            f"got {sums[row]:.6g} for point {row}{hint}"
        )
    R.data /= np.repeat(np.where(sums == 0, 1.0, sums), np.diff(R.indptr))
    return R


def _labels_hint(R: Sparse) -> str:
    """What to do with a matrix of integers, which are labels rather than memberships."""
    if not (np.isfinite(R.data).all() and (R.data == np.floor(R.data)).all()):
        return ""
    if R.shape[1] == 1:
        return "; labels belong in one dimension: use .ravel()"
    return (
        "; for labels of several clusterings pass list(labels.T) if each column is one, "
        "list(labels) if each row is one"
    )


def _dense_memberships(memberships: Any) -> FloatArray:
    try:
        R = as_numbers(memberships, "memberships")
    except TypeError as error:
        raise TypeError(
            f"{error}; they are an (n, k) matrix of numbers, and labels have one dimension: "
            "choose one column, or pass list(labels.T) for a clustering in each"
        ) from None
    if R.ndim != 2:
        raise ValueError(
            f"memberships must be two-dimensional (points × clusters), got shape {R.shape}; "
            "use Partition.from_labels for one label per point"
        )
    return R


def column_names(
    memberships: Any, k: int, names: Sequence[Hashable] | None = None
) -> tuple[Hashable, ...]:
    """Names of the k clusters: as given, as the columns, or by number."""
    if names is None and hasattr(memberships, "columns"):
        names = list(memberships.columns)
    names = tuple(range(k)) if names is None else tuple(plain_name(name) for name in names)
    if len(names) != k or len(set(names)) != k:
        raise ValueError(f"names must be {k} different names, got {list(names)!r}")
    return names


def hard_or_soft(R: Sparse) -> Any:
    """The assignment of a partition: codes if all memberships are one, else the matrix."""
    if not (R.data == 1).all():
        return read_only(R)
    codes = np.full(R.shape[0], -1, dtype=np.int32)  # rows are empty or have one entry
    codes[np.diff(R.indptr) > 0] = R.indices
    return read_only(codes)


def one_hot(codes: IntArray, k: int, weights: FloatArray | None = None) -> Sparse:
    """The memberships of a hard partition, times weights; a row of zeros for the code -1."""
    inside = codes >= 0
    indptr = np.concatenate([[0], np.cumsum(inside)])
    data = np.ones(int(indptr[-1])) if weights is None else weights[inside]
    return sp.csr_array((data, codes[inside], indptr), shape=(len(codes), k))


def largest_membership(R: Sparse) -> IntArray:
    """Column of the largest entry in each row (the first of several), -1 for empty rows."""
    labels = np.full(R.shape[0], -1, dtype=np.int32)
    filled = np.flatnonzero(np.diff(R.indptr) > 0)
    if len(filled):
        starts = R.indptr[filled]
        largest = np.maximum.reduceat(R.data, starts)
        row_of = np.repeat(np.arange(len(filled)), np.diff(R.indptr)[filled])
        is_largest = np.flatnonzero(R.data == largest[row_of])
        first = np.unique(row_of[is_largest], return_index=True)[1]
        labels[filled] = R.indices[is_largest[first]]
    return labels


def is_one_labelling(obj: Sequence[Any]) -> bool:
    """[0, 0, 1] is one labelling; [[0, 0, 1], [0, 1, 1]] and [Partition, ...] are several."""
    return bool(obj) and not any(
        hasattr(item, "__len__") and not isinstance(item, str | bytes) for item in obj
    )


def read_only(array: Any) -> Any:
    """The same dense or sparse array, no longer writeable."""
    parts = [array] if isinstance(array, np.ndarray) else [array.data, array.indices, array.indptr]
    for part in parts:
        part.setflags(write=False)
    return array


def warn_dropped_clusters(names: Sequence[Hashable]) -> None:
    """Warn that empty clusters were dropped."""
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    warn(f"dropped {len(names)} empty cluster(s): {shown}")
