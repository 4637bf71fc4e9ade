"""Features, further columns and ids of the points: validation, and packing for the page."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..._util.arrays import check_is_array_like, to_numpy
from ..._util.typing import Array, FloatArray, IntArray, Points
from ...partitions.labels import as_objects, encode_labels, renumber
from .levels import inner_range, pack_codes, pack_numbers

MAX_COLUMNS = 30  # further columns on the page; the others are left out
MAX_FEATURES = 50  # features that points can be coloured by; of more, the FEWER_FEATURES
FEWER_FEATURES = 20  # that separate the clusters most
MAX_PACKED = 2_000_000  # values of features on the page, and of columns: fewer of many points
MAX_PRECISE = 250_000  # values up to which they have two bytes
MAX_CATEGORIES = 40  # with a colour each; of more, the most frequent
MAX_TEXT = 2_000_000  # characters of ids, and of the texts of one column
_MAX_HOVER = 4  # features, and columns, whose values a tooltip shows
_MAX_LENGTH = 200  # of a text on the page
_MAX_INTEGER = 2**53  # beyond, floats do not hold every integer
_TAIL = 0.01  # share of the values at each end that gets the colour of the end
_WIDE = 1.5  # ... if that makes the range so much shorter


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one feature or column at all points."""

    name: str
    is_feature: bool
    kind: Literal["number", "category", "text"]
    values: Array  # numbers, NaN where missing; or codes, -1 where missing
    names: tuple[str, ...] = ()  # of the codes

    @property
    def numbers(self) -> FloatArray:
        return np.asarray(self.values, dtype=np.float64)

    @property
    def group(self) -> str:
        return "feature" if self.is_feature else "column"


@dataclass(frozen=True, eq=False)
class PointTable:
    """Everything that is known about the points beside their clusters."""

    features: list[Column]
    columns: list[Column]
    ids: list[str] | None
    notes: list[str]  # about columns that are not shown


def point_table(
    X: Points, columns: Any, n: int, *, names: Sequence[str] | None = None, ids: Any = None
) -> PointTable:
    """Features from X (a data frame, or any array of coordinates), and further columns.

    ``names`` are those of the features, by default the columns of a data frame; a column with the
    name of a feature takes its place. ``ids`` are by default the index of a data frame.
    """
    check_is_array_like(columns, "columns")
    frames = [frame for frame in (X, columns) if _is_frame(frame)]
    found, notes = _further_columns(columns, n)
    if ids is None:
        ids = _index_of(frames, n)
    if ids is not None:
        ids = [str(value) for value in ids]
        if sum(map(len, ids)) > MAX_TEXT:
            ids = None
            notes.append("The ids are left out: they are too long for a page.")
    given = {column.name: column for column in found}
    features = []
    for feature in _features(X, names):
        own = given.pop(feature.name, None)
        is_number = own is not None and own.kind == "number"
        features.append(
            Column(own.name, True, "number", own.values) if own and is_number else feature
        )
    return PointTable(features, list(given.values()), ids, notes)


def _is_frame(obj: Any) -> bool:
    return hasattr(obj, "columns") and len(getattr(obj, "shape", ())) == 2


def _features(X: Points, names: Sequence[str] | None) -> list[Column]:
    """The columns of X, if it has coordinates: views of the array."""
    if X is None:
        return []
    try:
        array = to_numpy(X, "X")
    except (TypeError, ValueError):  # objects that only a transformer understands
        return []
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        return []
    if names is None and _is_frame(X):
        names = [str(name) for name in X.columns]
    if names is None or len(names) != array.shape[1]:
        names = [f"feature {j}" for j in range(1, array.shape[1] + 1)]
    return [Column(_line(name), True, "number", array[:, j]) for j, name in enumerate(names)]


def _further_columns(columns: Any, n: int) -> tuple[list[Column], list[str]]:
    if columns is None:
        return [], []
    if _is_frame(columns):
        names = list(columns.columns)
    elif isinstance(columns, Mapping):
        names = list(columns)
    else:
        raise TypeError(
            "columns must be a data frame or a mapping from names to n values, such as "
            f'{{"age": ages, "region": regions}}, got {type(columns).__name__}'
        )
    shown = [_line(name) or f"column {i}" for i, name in enumerate(names, 1)]
    if twice := [name for i, name in enumerate(shown) if name in shown[:i]]:
        raise ValueError(f"two columns are called {twice[0]!r}; rename one of them")
    found, empty, long = [], [], []
    for name, key in zip(shown, names, strict=True):
        column = _as_column(name, columns[key], n)
        if column is None:
            empty.append(name)
        elif column.kind == "text" and sum(map(len, column.names)) > MAX_TEXT:
            long.append(name)
        else:
            found.append(column)
    notes = [
        f"Left out, because {why}: {', '.join(left_out)}."
        for left_out, why in ((empty, "every value is missing"), (long, "the texts are too long"))
        if left_out
    ]
    return found, notes


def _as_column(name: str, values: Any, n: int) -> Column | None:
    """Numbers, categories or texts; None if every value is missing."""
    length = _length(values)
    if length is None:
        raise TypeError(
            f"columns[{name!r}] must be a sequence of {n} values, one for each point, got "
            f"{type(values).__name__}"
        )
    if length != n:
        raise ValueError(f"columns[{name!r}] has {length} values for {n} points")
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    elif not hasattr(values, "dtype"):
        values = as_objects(list(values))
    found = _as_floats(values, name)
    if found is not None:
        return None if np.isnan(found).all() else Column(name, False, "number", found)
    try:
        codes, labels, counts = encode_labels(values, ())
    except (TypeError, ValueError):
        raise TypeError(
            f"columns[{name!r}] must hold numbers, text or categories; write others as text"
        ) from None
    if not labels:
        return None
    if len(labels) <= MAX_CATEGORIES:
        return Column(name, False, "category", codes, _texts(labels))
    order = np.argsort(-counts, kind="stable")
    codes = renumber(codes.astype(np.int32), order, len(labels))
    is_text = 2 * len(labels) > int(counts.sum())
    return Column(
        name, False, "text" if is_text else "category", codes, _texts(labels[i] for i in order)
    )


def _length(values: Any) -> int | None:
    """The number of values of a sequence; None for anything else."""
    if isinstance(values, str | bytes | Mapping | Set) or hasattr(type(values), "columns"):
        return None
    try:
        return len(values) if hasattr(values, "__iter__") else None
    except TypeError:  # sparse matrices, types, arrays without dimensions
        return None


def _texts(labels: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(label)[:_MAX_LENGTH] for label in labels)


def _as_floats(values: Any, name: str) -> FloatArray | None:
    """Numbers with NaN for what is missing or infinite; None if these are no numbers."""
    inner = getattr(values, "values", values)
    if hasattr(inner, "codes") and hasattr(inner, "categories"):
        return None
    array = to_numpy(values, f"columns[{name!r}]")
    if array.ndim != 1:
        raise ValueError(
            f"columns[{name!r}] must be one-dimensional, got shape {array.shape}; give each of "
            "its columns a name"
        )
    if array.dtype.kind == "O":
        if not all(_is_number_or_missing(value) for value in array):
            return None
        array = np.array([_float_or_nan(value) for value in array])
    elif array.dtype.kind not in "fiu":
        return None
    found = array.astype(np.float64)
    found[~np.isfinite(found)] = np.nan
    largest = np.nanmax(np.abs(found), initial=0.0) if len(found) else 0.0
    whole = array.dtype.kind in "iu"
    return None if whole and largest > _MAX_INTEGER else found


def _is_number_or_missing(value: Any) -> bool:
    if isinstance(value, bool | np.bool_ | str | bytes):
        return False
    return value is None or isinstance(value, numbers.Real) or type(value).__name__ == "NAType"


def _float_or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # None, pandas.NA, a huge integer
        return np.nan


def _index_of(frames: Sequence[Any], n: int) -> Any:
    """The index of the data frames, unless it only counts the rows."""
    found = [list(f.index) for f in frames if hasattr(f, "index") and len(f) == n]
    named = [index for index in found if index != list(range(n))]
    if len(named) == 2 and named[0] != named[1]:
        raise ValueError(
            "X and columns have different indexes: their rows may be in another order; use "
            "columns.loc[X.index]"
        )
    return named[0] if named else None


def _line(name: Any) -> str:
    return " ".join(str(name).split())


def pack_table(table: PointTable, shown: IntArray, separation: FloatArray) -> dict[str, Any]:
    """The table as plain values at the points ``shown``; ``separation`` ranks the features."""
    best = np.argsort(-np.round(separation, 9), kind="stable")
    count = len(table.features)
    count = FEWER_FEATURES if count > MAX_FEATURES else count
    most = max(5, MAX_PACKED // max(len(shown), 1))
    kept, further = np.sort(best[: min(count, most)]), table.columns[: min(MAX_COLUMNS, most)]
    columns, notes = [*(table.features[j] for j in kept), *further], list(table.notes)
    if len(further) < len(table.columns):
        notes.append(f"The first {len(further)} of {len(table.columns)} columns are shown.")
    few = len(shown) * len(columns) <= MAX_PRECISE
    place = {int(j): i for i, j in enumerate(kept)}
    hover = [place[int(j)] for j in best[:_MAX_HOVER] if int(j) in place]
    hover += range(len(kept), min(len(columns), len(kept) + _MAX_HOVER))
    return {
        "items": [_packed(column, shown, few) for column in columns],
        "features": kept.tolist(),
        "n_features": len(table.features),
        "hover": hover,
        "ids": None if table.ids is None else [table.ids[i] for i in shown],
        "notes": notes,
    }


def _packed(column: Column, shown: IntArray, precise: bool) -> dict[str, Any]:
    about = {"name": column.name, "group": column.group, "kind": column.kind}
    if column.kind != "number":
        codes = np.asarray(column.values, dtype=np.int64)[shown]
        names = list(column.names)
        if column.kind == "text":  # only the texts that are shown
            used = np.unique(codes[codes >= 0])
            codes = np.where(codes < 0, -1, np.searchsorted(used, codes))
            names = [names[i] for i in used]
        return {**about, "names": names, **pack_codes(codes, len(names))}
    values = column.numbers
    known = values[~np.isnan(values)]
    low, high = colour_range(known)
    here, span = values[shown], float(known.max()) / 2 - float(known.min()) / 2
    integers = bool((known == np.floor(known)).all())
    dtype: Any = np.uint16 if precise else np.uint8
    if integers and span * 2 < np.iinfo(dtype).max:
        exact = True
    else:  # every number of a customer or of an account counts
        exact = integers and not column.is_feature and span * 2 < np.iinfo(np.uint32).max - 1
        dtype = np.uint32 if exact else dtype
    return {**about, "from": low, "to": high, **pack_numbers(here, dtype, exact=exact)}


def colour_range(known: FloatArray) -> tuple[float, float]:
    """The range of a colour scale: that of the values, without long tails."""
    low, high = float(known.min()), float(known.max())
    inner = inner_range(known, _TAIL)
    if high / 2 - low / 2 > _WIDE * (inner[1] / 2 - inner[0] / 2):
        low, high = inner
    return (low, high) if low < high else (low - 0.5, high + 0.5)
