"""Labels of any hashable kind as integer codes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np

from .._util.arrays import to_numpy
from .._util.typing import Array, IntArray

__all__ = ["DEFAULT_NOISE", "encode_labels", "looks_like_labels", "plain_name"]

DEFAULT_NOISE = (-1, None, math.nan)
_DENSE_RANGE = 2**16  # integer labels this close together are counted rather than sorted


def encode_labels(labels: Any, noise: Iterable[Any]) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Codes in 0 … k-1, -1 for noise, and the names of the codes.

    Names are sorted where they can be, in order of appearance where they cannot, and in the
    order of the categories where there are some.
    """
    noise = tuple(noise) if isinstance(noise, Iterable) and not isinstance(noise, str) else (noise,)
    if (categorical := _as_categorical(labels)) is not None:
        codes, names = categorical
    else:
        codes, names = _factorise(_one_dimension(labels))
    return _drop_unused(codes, [None if _is_noise(name, noise) else name for name in names])


def looks_like_labels(obj: Any) -> bool:
    """Whether an object has one dimension; nested numbers have two."""
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
    if isinstance(labels, str | bytes | Mapping | Set) or not hasattr(labels, "__iter__"):
        raise TypeError(
            f"labels must be a sequence with one label for each point, got {type(labels).__name__}"
        )
    if hasattr(labels, "columns"):  # whose elements would be the names of the columns
        raise ValueError(
            f"labels must be one-dimensional, got a data frame with {len(labels.columns)} columns; "
            "choose one of them"
        )
    if isinstance(labels, np.ma.MaskedArray):
        unmasked = np.array(labels.data, dtype=object)
        unmasked[np.ma.getmaskarray(labels)] = None
        return _checked_dimension(unmasked)
    if hasattr(labels, "to_list") and not isinstance(getattr(labels, "dtype", None), np.dtype):
        labels = labels.to_list()  # nullable columns would turn to floats, and large ints merge
    if not hasattr(labels, "dtype"):
        labels = list(labels)
        if any(isinstance(label, tuple) for label in labels):
            array = np.empty(len(labels), dtype=object)
            array[:] = labels
            return array
        kinds = {type(label) for label in labels}
        huge = kinds == {int} and not -(2**63) <= min(labels) <= max(labels) < 2**63
        if len(kinds) > 1 or huge:  # NumPy would turn [1, "a", None] into three strings
            array = np.empty(len(labels), dtype=object)
            array[:] = labels
            return array
    return _checked_dimension(to_numpy(labels, "labels"))


def _checked_dimension(labels: Array) -> Array:
    if labels.ndim != 1:
        hint = ".ravel()" if labels.ndim == 2 and 1 in labels.shape else ""
        raise ValueError(
            f"labels must be one-dimensional, got shape {labels.shape}; "
            + (
                f"use labels{hint}"
                if hint
                else "use Partition.from_memberships for a soft partition"
            )
        )
    return labels


def _factorise(labels: Array) -> tuple[IntArray, list[Any]]:
    if labels.dtype.kind in "OT":
        return _factorise_objects(labels)
    if labels.dtype.kind == "c":
        raise TypeError("labels must not be complex numbers")
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < _DENSE_RANGE:  # no sorting needed
            return (labels - labels.min()).astype(np.int32), list(range(low, high + 1))
    values, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int32), [plain_name(value) for value in values]


def _factorise_objects(labels: Array) -> tuple[IntArray, list[Any]]:
    index: dict[Any, int] = {}
    codes = np.empty(len(labels), dtype=np.int32)
    for i, label in enumerate(labels.tolist()):
        label = None if _is_missing(label) else plain_name(label)
        try:
            codes[i] = index.setdefault(label, len(index))
        except TypeError:
            raise TypeError(
                f"labels must be hashable, got {type(label).__name__} for point {i}"
            ) from None
    names = list(index)
    try:
        order = sorted(
            (i for i, name in enumerate(names) if name is not None), key=names.__getitem__
        )
    except TypeError:
        return codes, names  # mixed kinds have no order: keep that of appearance
    order += [i for i, name in enumerate(names) if name is None]
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank[codes], [names[i] for i in order]


def _as_categorical(labels: Any) -> tuple[IntArray, list[Any]] | None:
    """Codes and categories of a pandas Categorical or a Series of them."""
    values = getattr(labels, "values", labels)
    if not (hasattr(values, "codes") and hasattr(values, "categories")):
        return None
    codes = np.asarray(values.codes)
    names = [plain_name(category) for category in values.categories]
    missing = len(names)
    return np.where(codes < 0, missing, codes).astype(np.int32), [*names, None]


def _drop_unused(codes: IntArray, names: list[Any]) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Renumber so that only names that occur remain; None is noise."""
    used = np.bincount(codes, minlength=len(names)) > 0
    keep = [i for i, name in enumerate(names) if used[i] and name is not None]
    new_code = np.full(max(len(names), 1), -1, dtype=np.int32)
    new_code[keep] = np.arange(len(keep), dtype=np.int32)
    return new_code[codes], tuple(names[i] for i in keep)


def plain_name(value: Any) -> Any:
    """A Python scalar; whole floats become ints (a column with a NaN turns its ints to floats)."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_noise(name: Any, noise: tuple[Any, ...]) -> bool:
    # True == 1 in Python, but a label True is not the noise label 1.
    return _is_missing(name) or any(
        isinstance(name, bool) == isinstance(value, bool) and name == plain_name(value)
        for value in noise
        if not _is_missing(value)
    )


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None:
        return True
    if isinstance(value, str | bytes | int | tuple):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to be a bool
        return True
