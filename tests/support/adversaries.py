"""A table of invalid, unusual and extreme inputs, each with the expected result if it is known.

Every adversary has one role: points, labels, memberships, weights, and so on. `tests/
test_adversaries.py` passes each of them to every public function that has such an argument.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from liftcluster import Partition

# Twelve points with integer coordinates, exact in every dtype, in three groups.
X = np.array(
    [[0, 0], [1, 0], [0, 2], [2, 1], [12, 1], [13, 0], [12, 3], [14, 2], [5, 14], [6, 12], [7, 14], [6, 15]],
    dtype=np.float64,
)  # fmt: skip
N = len(X)
A = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
B = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0])
W = np.array([1.0, 2, 1, 3, 1, 1, 2, 1, 1, 4, 1, 1])
R = np.eye(3)[A] * 0.8 + 0.2 / 3  # soft
ALL = object()  # in place of a twin: the call must raise a clear error


@dataclass(frozen=True)
class Adversary:
    """A named input, its role, and, if there is one, its twin: an equivalent plain input.

    ``twin=ALL`` means that every function must refuse it; without a twin, either a finite result or
    a clear error is accepted. ``rescaled`` means that the twin differs by a scale or a shift, so
    that results in units of length differ.
    """

    name: str
    role: str
    make: Callable[[], Any]
    twin: Any = None
    tolerance: float = 1e-7  # the root of a rounding error, as in distances near zero
    rescaled: bool = False

    def __str__(self) -> str:
        return f"{self.role}: {self.name}"


def _needs(module: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """An input made with an optional package."""

    def made() -> Any:
        import pytest

        return make(pytest.importorskip(module))

    return made


class _Arrayish:
    """An object with ``__array__`` that is not an array."""

    def __init__(self, values: Any) -> None:
        self.values_ = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values_, dtype=dtype)


class _Subclass(np.ndarray):
    pass


class _Unfriendly:
    """An unhashable object without truth value or equality."""

    def __bool__(self) -> bool:
        raise TypeError("no truth in me")

    def __eq__(self, other: object) -> Any:
        raise TypeError("nothing is like me")

    __hash__ = None  # type: ignore[assignment]


def _with(array: Any, where: Any, value: Any) -> Any:
    changed = np.array(array)
    changed[where] = value
    return changed


def _read_only(array: Any) -> Any:
    changed = np.array(array)
    changed.setflags(write=False)
    return changed


def _objects(values: Any, dtype: Any = object) -> Any:
    """An object array of one dimension with any values."""
    array = np.empty(len(values), dtype=dtype)
    array[:] = values
    return array


def _strided(array: Any) -> Any:
    """A view with gaps in both directions."""
    wide = np.zeros([2 * size for size in array.shape], dtype=array.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


def _same(role: str, twin: Any, **cases: Callable[[], Any]) -> list[Adversary]:
    return [Adversary(name.replace("_", " "), role, make, twin) for name, make in cases.items()]


def _refused(role: str, **cases: Callable[[], Any]) -> list[Adversary]:
    return _same(role, ALL, **cases)


def _either(role: str, **cases: Callable[[], Any]) -> list[Adversary]:
    return _same(role, None, **cases)


POINTS = [
    *_same(
        "points",
        X,
        fortran_order=lambda: np.asfortranarray(X),
        big_endian=lambda: X.astype(">f8"),
        big_endian_integers=lambda: X.astype(">i4"),
        read_only=lambda: _read_only(X),
        strided_view=lambda: _strided(X),
        reversed_twice=lambda: X[::-1][::-1],
        list_of_lists=lambda: X.tolist(),
        tuple_of_tuples=lambda: tuple(map(tuple, X.tolist())),
        list_of_arrays=lambda: list(X),
        int8=lambda: X.astype(np.int8),
        uint8=lambda: X.astype(np.uint8),
        uint64=lambda: X.astype(np.uint64),
        int64=lambda: X.astype(np.int64),
        longdouble=lambda: X.astype(np.longdouble),
        float16=lambda: X.astype(np.float16),
        objects=lambda: X.astype(object),
        fractions=lambda: np.array([[fractions.Fraction(int(v)) for v in row] for row in X]),
        decimals=lambda: np.array([[decimal.Decimal(int(v)) for v in row] for row in X]),
        frame=lambda: pd.DataFrame(X, columns=["u", "v"]),
        frame_of_mixed_types=lambda: pd.DataFrame({"u": X[:, 0].astype(int), "v": X[:, 1]}),
        frame_of_nullable_numbers=lambda: pd.DataFrame(X, columns=["u", "v"]).astype("Float64"),
        frame_of_objects=lambda: pd.DataFrame(X, columns=["u", "v"]).astype(object),
        frame_with_an_odd_index=lambda: pd.DataFrame(X, columns=["u", "v"], index=list("kjhgfdsaqwer")),
        polars_frame=_needs("polars", lambda pl: pl.DataFrame(X, schema=["u", "v"])),
        polars_integers=_needs("polars", lambda pl: pl.DataFrame(X.astype(int), schema=["u", "v"])),
        torch_tensor=_needs("torch", lambda torch: torch.tensor(X)),
        torch_integers=_needs("torch", lambda torch: torch.tensor(X.astype(int))),
        strict_array=_needs("array_api_strict", lambda xp: xp.asarray(X)),
        nothing_masked=lambda: np.ma.array(X, mask=np.zeros(X.shape, dtype=bool)),
        subclass=lambda: X.view(_Subclass),
        something_with_array=lambda: _Arrayish(X),
        negative_zeros=lambda: np.where(X == 0, -0.0, X),
    ),
    *(
        Adversary(f"{dtype.__name__} points", "points", lambda dtype=dtype: X.astype(dtype), X, 1e-4)
        for dtype in (np.float32,)
    ),
    *(
        Adversary(f"scaled by {scale:g}", "points", lambda s=scale: X * s, X, rescaled=True)
        for scale in (1e-310, 1e-300, 1e-160, 1e-30, 1e30, 1e150, 1e200, 1e300)
    ),
    *(
        Adversary(f"moved by {move:g}", "points", lambda m=move: X + m, X, rescaled=True)
        for move in (1e6, -1e9, 2.0**45)
    ),
    *_refused(
        "points",
        nothing=lambda: None,
        not_a_number=lambda: _with(X, (3, 1), np.nan),
        infinite=lambda: _with(X, (3, 1), np.inf),
        minus_infinite=lambda: _with(X, (3, 1), -np.inf),
        all_nan=lambda: np.full_like(X, np.nan),
        nan_in_float32=lambda: _with(X, (3, 1), np.nan).astype(np.float32),
        none_inside=lambda: _with(X.astype(object), (3, 1), None),
        text_inside=lambda: _with(X.astype(object), (3, 1), "seven"),
        texts=lambda: X.astype(str),
        bytes_=lambda: X.astype("S"),
        complex_=lambda: X + 1j,
        complex_without_an_imaginary_part=lambda: X + 0j,
        dates=lambda: X.astype("datetime64[D]"),
        durations=lambda: X.astype("timedelta64[s]"),
        records=lambda: np.zeros(N, dtype=[("u", float), ("v", float)]),
        one_dimension=lambda: X[:, 0],
        three_dimensions=lambda: X[:, :, None],
        a_number=lambda: 3.0,
        a_word=lambda: "points",
        a_mapping=lambda: {"u": X[:, 0], "v": X[:, 1]},
        a_set=lambda: {1.0, 2.0},
        no_points=lambda: X[:0],
        no_features=lambda: X[:, :0],
        ragged=lambda: [row[: 1 + i % 2] for i, row in enumerate(X.tolist())],
        masked=lambda: np.ma.array(X, mask=X == 12),
        sparse=lambda: sp.csr_array(X),
        sparse_with_explicit_zeros=lambda: sp.csr_array((X.ravel(), np.tile([0, 1], N), np.arange(0, 2 * N + 1, 2)), shape=X.shape),
        huge_integers=lambda: _with(X.astype(object), (3, 1), 10**400),
        frame_with_text=lambda: pd.DataFrame({"u": X[:, 0], "v": list("abcdefghijkl")}),
        frame_with_missing=lambda: pd.DataFrame({"u": X[:, 0], "v": pd.array([None, *X[1:, 1]], dtype="Float64")}),
        frame_with_dates=lambda: pd.DataFrame({"u": X[:, 0], "v": pd.date_range("2020-01-01", periods=N)}),
        polars_with_text=_needs("polars", lambda pl: pl.DataFrame({"u": X[:, 0], "v": list("abcdefghijkl")})),
        polars_with_missing=_needs("polars", lambda pl: pl.DataFrame({"u": [None, *X[1:, 0]], "v": X[:, 1]})),
        an_unfriendly_object=_Unfriendly,
    ),
    *_either(
        "points",
        one_point_less=lambda: X[:-1],
        one_point_more=lambda: np.vstack([X, X[:1]]),
        one_point=lambda: X[:1],
        booleans=lambda: X > 6,
        constant_column=lambda: X * [1, 0],
        constant_column_far_away=lambda: X * [1, 0] + [0, 1e200],
        all_points_equal=lambda: np.ones_like(X),
        all_points_equal_and_far=lambda: np.full_like(X, 1e300),
        broadcast_view=lambda: np.broadcast_to(np.float64(3), X.shape),
        every_point_twice=lambda: np.repeat(X[::2], 2, axis=0),
        one_feature=lambda: X[:, :1],
        many_features=lambda: np.tile(X, (1, 300)),
        one_outlier=lambda: _with(X, (0, 0), 1e10),
        one_extreme_outlier=lambda: _with(X, (0, 0), 1e300),
        largest_floats=lambda: np.where(X > 6, 1.7e308, -1.7e308),
        least_floats=lambda: X * 5e-324,
        denormals_beside_ones=lambda: X * [1, 5e-324],
        columns_of_different_size=lambda: X * [1e-200, 1e200],
        widest_integers=lambda: np.where(X > 6, 2**63 - 1, -(2**63)).astype(np.int64),
        largest_unsigned=lambda: np.where(X > 6, 2**64 - 1, 0).astype(np.uint64),
        python_integers_beyond_64_bits=lambda: [[int(v) * 10**30 for v in row] for row in X],
        largest_float32=lambda: np.where(X > 6, 3e38, -3e38).astype(np.float32),
        largest_float16=lambda: np.where(X > 6, 60000, -60000).astype(np.float16),
        torch_with_gradient=_needs("torch", lambda torch: torch.tensor(X, requires_grad=True)),
        torch_half=_needs("torch", lambda torch: torch.tensor(X).half()),
        torch_bfloat=_needs("torch", lambda torch: torch.tensor(X).bfloat16()),
        torch_transposed=_needs("torch", lambda torch: torch.tensor(X.T.copy()).T),
        dask_array=_needs("dask.array", lambda da: da.from_array(X, chunks=(5, 2))),
        a_generator=lambda: (row for row in X.tolist()),
        a_range=lambda: range(N),
        the_type=lambda: np.ndarray,
    ),
]  # fmt: skip

_DAYS = np.array(["2020-01-01", "2020-06-01", "2021-01-01"], dtype="datetime64[D]")
NOISY = np.where(np.arange(N) == 3, -1, A)

LABELS = [
    *_same(
        "labels",
        A,
        list_=A.tolist,
        tuple_=lambda: tuple(A.tolist()),
        a_range_of_values=lambda: list(itertools.chain.from_iterable([i] * 4 for i in range(3))),
        strings=lambda: np.array(["a", "b", "c"])[A],
        list_of_strings=lambda: [["a", "b", "c"][i] for i in A],
        bytes_=lambda: np.array([b"a", b"b", b"c"])[A],
        list_of_bytes=lambda: [[b"a", b"b", b"c"][i] for i in A],
        empty_string_among_them=lambda: np.array(["", "b", "c"])[A],
        unicode=lambda: np.array(["α", "β", "γ"])[A],
        strings_of_different_length=lambda: [["a", "a ", "a  "][i] for i in A],
        variable_width_strings=lambda: np.array(["a", "b", "c"], dtype=np.dtypes.StringDType())[A],
        dates=lambda: _DAYS[A],
        dates_as_objects=lambda: [datetime.date(2020 + i, 1, 1) for i in A],
        timestamps=lambda: pd.Series(_DAYS[A]),
        durations=lambda: np.array([1, 2, 3], "timedelta64[h]")[A],
        booleans_and_more=lambda: A.astype(object),
        int8=lambda: A.astype(np.int8),
        uint8=lambda: A.astype(np.uint8),
        uint64=lambda: A.astype(np.uint64),
        float64=lambda: A.astype(float),
        float16=lambda: A.astype(np.float16),
        fractions_of_one=lambda: A / 7,
        big_endian=lambda: A.astype(">i8"),
        big_endian_strings=lambda: np.array(["a", "b", "c"]).astype(">U1")[A],
        read_only=lambda: _read_only(A),
        strided_view=lambda: _strided(A),
        far_apart_integers=lambda: np.array([0, 2**40, 2**62])[A],
        integers_at_the_edge=lambda: np.array([-(2**63), 0, 2**63 - 1])[A],
        integers_beyond_64_bits=lambda: [[0, 2**64, 2**70][i] for i in A],
        negative_integers=lambda: A - 9,
        infinities=lambda: np.array([-np.inf, 0.0, np.inf])[A],
        tiny_floats=lambda: A * 5e-324,
        tuples=lambda: [("a", "bcd"[i]) for i in A],
        frozen_sets=lambda: _objects([(("x",) * (int(i) + 1)) for i in A]),
        series=lambda: pd.Series(A, index=range(100, 100 + N)),
        series_of_strings=lambda: pd.Series(["a", "b", "c"])[A].reset_index(drop=True),
        nullable_integers=lambda: pd.Series(A, dtype="Int64"),
        categorical=lambda: pd.Categorical.from_codes(A, ["x", "y", "z"]),
        categorical_out_of_order=lambda: pd.Categorical.from_codes(A, ["z", "y", "x"], ordered=True),
        categorical_with_unused_levels=lambda: pd.Categorical.from_codes(A * 2, ["a", "unused", "b", "never", "c"]),
        series_of_categories=lambda: pd.Series(pd.Categorical.from_codes(A, ["x", "y", "z"])),
        index_=lambda: pd.Index(A),
        polars_series=_needs("polars", lambda pl: pl.Series(A)),
        polars_strings=_needs("polars", lambda pl: pl.Series([["a", "b", "c"][i] for i in A])),
        polars_categories=_needs("polars", lambda pl: pl.Series([["a", "b", "c"][i] for i in A], dtype=pl.Categorical)),
        torch_tensor=_needs("torch", lambda torch: torch.tensor(A)),
        strict_array=_needs("array_api_strict", lambda xp: xp.asarray(A)),
        nothing_masked=lambda: np.ma.array(A, mask=np.zeros(N, dtype=bool)),
        something_with_array=lambda: list(_Arrayish(A).__array__()),
        numpy_scalars=lambda: [np.int16(i) for i in A],
        mixed_numeric_scalars=lambda: [np.int16(i) if j % 2 else float(i) for j, i in enumerate(A)],
        enumerated=lambda: list(map(int, A)),
    ),
    *_same(
        "labels",
        NOISY,
        nan_is_noise=lambda: np.where(NOISY < 0, np.nan, A),
        none_is_noise=lambda: [None if i < 0 else int(i) for i in NOISY],
        nan_among_strings=lambda: [float("nan") if i < 0 else "abc"[i] for i in NOISY],
        masked_is_noise=lambda: np.ma.array(A, mask=NOISY < 0),
        missing_category=lambda: pd.Categorical.from_codes(NOISY, ["x", "y", "z"]),
        missing_in_a_nullable_series=lambda: pd.Series([None if i < 0 else int(i) for i in NOISY], dtype="Int64"),
        missing_string=lambda: pd.Series([None if i < 0 else "abc"[i] for i in NOISY], dtype="string"),
        not_a_time=lambda: _with(_DAYS[A], 3, np.datetime64("NaT")),
        missing_in_polars=_needs("polars", lambda pl: pl.Series([None if i < 0 else int(i) for i in NOISY])),
        decimal_nan=lambda: [decimal.Decimal("NaN") if i < 0 else int(i) for i in NOISY],
    ),
    *_refused(
        "labels",
        nothing=lambda: None,
        all_noise=lambda: np.full(N, -1),
        all_nan=lambda: np.full(N, np.nan),
        all_none=lambda: [None] * N,
        all_masked=lambda: np.ma.array(A, mask=True),
        empty=list,
        empty_array=lambda: A[:0],
        complex_=lambda: A + 1j,
        three_dimensions=lambda: A.reshape(2, 2, 3),
        a_column=lambda: A[:, None],
        a_row=lambda: A[None, :],
        a_word=lambda: "aaaabbbbcccc",
        a_number=lambda: 3,
        a_set=lambda: set(A.tolist()),
        lists_of_different_length=lambda: [[0] * (1 + i % 2) for i in range(N)],
        unhashable=lambda: _objects([[int(i)] for i in A]),
        mappings=lambda: [{"a": int(i)} for i in A],
        an_unfriendly_object=_Unfriendly,
        unfriendly_objects=lambda: _objects([_Unfriendly() for _ in A]),
        a_frame=lambda: pd.DataFrame({"a": A, "b": B}),
        records=lambda: np.array([(i, i) for i in A], dtype=[("u", int), ("v", int)]).reshape(3, 4),
    ),
    *_either(
        "labels",
        tuples_of_numbers=lambda: [(0, int(i)) for i in A],
        a_partition=lambda: Partition.from_labels(A),
        one_less=lambda: A[:-1],
        one_more=lambda: np.append(A, 0),
        one_cluster=lambda: np.zeros(N, dtype=int),
        every_point_alone=lambda: np.arange(N),
        all_but_one_noise=lambda: np.where(np.arange(N) == 5, 0, -1),
        mixed=lambda: [0, 0, 0, 0, "a", "a", "a", "a", None, (1, 2), (1, 2), 2.5],
        true_and_one=lambda: [True, 1] * 6,
        zeros_of_both_signs=lambda: [0.0, -0.0, 1.0] * 4,
        booleans=lambda: A > 0,
        dask_array=_needs("dask.array", lambda da: da.from_array(A, chunks=5)),
        a_generator=lambda: (int(i) for i in A),
        long_strings=lambda: ["a" * 10_000 + "bcd"[i] for i in A],
        null_characters=lambda: ["a\0", "a\0\0", "b"] * 4,
        periods=lambda: pd.Series(pd.period_range("2020-01", periods=3, freq="M"))[A],
        intervals=lambda: pd.cut(A, 3),
        records_in_one_dimension=lambda: np.array([(i, i) for i in A], dtype=[("u", int), ("v", int)]),
        objects_that_are_arrays=lambda: _objects([np.array(int(i)) for i in A]),
    ),
]  # fmt: skip

MEMBERSHIPS = [
    *_same(
        "memberships",
        R,
        fortran_order=lambda: np.asfortranarray(R),
        big_endian=lambda: R.astype(">f8"),
        read_only=lambda: _read_only(R),
        strided_view=lambda: _strided(R),
        list_of_lists=lambda: R.tolist(),
        objects=lambda: R.astype(object),
        longdouble=lambda: R.astype(np.longdouble),
        csr=lambda: sp.csr_array(R),
        csc=lambda: sp.csc_array(R),
        coo=lambda: sp.coo_array(R),
        matrix_kind=lambda: sp.csr_matrix(R),
        dok=lambda: sp.dok_array(R),
        doubled_entries=lambda: sp.coo_array((np.r_[R.ravel(), R.ravel()] / 2, (np.tile(np.repeat(np.arange(N), 3), 2), np.tile(np.tile(np.arange(3), N), 2))), shape=R.shape),
        frame=lambda: pd.DataFrame(R, columns=["a", "b", "c"]),
        polars_frame=_needs("polars", lambda pl: pl.DataFrame(R, schema=["a", "b", "c"])),
        torch_tensor=_needs("torch", lambda torch: torch.tensor(R)),
        strict_array=_needs("array_api_strict", lambda xp: xp.asarray(R)),
        nothing_masked=lambda: np.ma.array(R),
        negative_zeros=lambda: np.where(R == 0, -0.0, R),
        slightly_off=lambda: R * (1 + 1e-9),
    ),
    Adversary("float32 memberships", "memberships", lambda: R.astype(np.float32), R, 1e-4),
    *_same(
        "memberships",
        np.eye(3)[A],
        booleans=lambda: np.eye(3, dtype=bool)[A],
        integers=lambda: np.eye(3, dtype=np.int8)[A],
        sparse_integers=lambda: sp.csr_array(np.eye(3, dtype=np.int64)[A]),
        sparse_booleans=lambda: sp.csr_array(np.eye(3, dtype=bool)[A]),
        explicit_zeros=lambda: sp.csr_array((np.eye(3)[A].ravel(), np.tile(np.arange(3), N), np.arange(0, 3 * N + 1, 3)), shape=(N, 3)),
    ),
    *_refused(
        "memberships",
        not_a_number=lambda: _with(R, (2, 1), np.nan),
        infinite=lambda: _with(R, (2, 1), np.inf),
        negative=lambda: _with(R, 2, [1.5, -0.5, 0]),
        sums_of_two=lambda: R * 2,
        all_zero=lambda: R * 0,
        texts=lambda: R.astype(str),
        complex_=lambda: R + 1j,
        masked=lambda: np.ma.array(R, mask=R > 0.5),
        three_dimensions=lambda: R[:, :, None],
        no_clusters=lambda: R[:, :0],
        no_points=lambda: R[:0],
        ragged=lambda: [row[: 1 + i % 3] for i, row in enumerate(R.tolist())],
        sparse_nan=lambda: sp.csr_array(_with(R, (2, 1), np.nan)),
        sparse_complex=lambda: sp.csr_array(R + 1j),
        sparse_negative=lambda: sp.csr_array(_with(R, 2, [1.5, -0.5, 0])),
        frame_with_text=lambda: pd.DataFrame({"a": R[:, 0], "b": list("abcdefghijkl")}),
        largest_floats=lambda: np.full((N, 2), 1.7e308),
        one_column_of_labels=lambda: A[:, None],
    ),
    *_either(
        "memberships",
        one_column_of_ones=lambda: np.ones((N, 1)),
        an_empty_cluster=lambda: np.hstack([R, np.zeros((N, 1))]),
        a_cluster_of_nearly_nothing=lambda: np.hstack([R * (1 - 1e-300), np.full((N, 1), 1e-300)]),
        denormal_memberships=lambda: np.hstack([R, np.full((N, 1), 5e-324)]),
        more_clusters_than_points=lambda: np.full((N, 40), 1 / 40),
        noise_rows=lambda: _with(R, slice(0, 5), 0.0),
        all_noise_but_one=lambda: _with(R, slice(0, N - 1), 0.0),
        dask_array=_needs("dask.array", lambda da: da.from_array(R, chunks=5)),
        doubled_names=lambda: pd.DataFrame(R, columns=["a", "a", "b"]),
        wrong_length=lambda: R[:-1],
    ),
]  # fmt: skip

WEIGHTS = [
    *_same(
        "weights",
        W,
        list_=W.tolist,
        integers=lambda: W.astype(int),
        float32=lambda: W.astype(np.float32),
        big_endian=lambda: W.astype(">f8"),
        read_only=lambda: _read_only(W),
        strided_view=lambda: _strided(W),
        objects=lambda: W.astype(object),
        fractions=lambda: [fractions.Fraction(int(w)) for w in W],
        series=lambda: pd.Series(W, index=range(5, 5 + N)),
        nullable_series=lambda: pd.Series(W, dtype="Float64"),
        polars_series=_needs("polars", lambda pl: pl.Series(W)),
        torch_tensor=_needs("torch", lambda torch: torch.tensor(W)),
        nothing_masked=lambda: np.ma.array(W),
    ),
    *_same(
        "weights",
        np.ones(N),
        none=lambda: None,
        booleans=lambda: np.ones(N, dtype=bool),
        broadcast_ones=lambda: np.broadcast_to(1.0, (N,)),
    ),
    *_refused(
        "weights",
        negative=lambda: _with(W, 2, -1),
        negative_and_tiny=lambda: _with(W, 2, -1e-300),
        not_a_number=lambda: _with(W, 2, np.nan),
        infinite=lambda: _with(W, 2, np.inf),
        all_zero=lambda: W * 0,
        too_few=lambda: W[:-1],
        too_many=lambda: np.append(W, 1),
        empty=list,
        a_column=lambda: W[:, None],
        a_word=lambda: "heavy",
        words=lambda: ["heavy"] * N,
        dates=lambda: W.astype("datetime64[D]"),
        complex_=lambda: W + 1j,
        masked=lambda: np.ma.array(W, mask=W == 2),
        missing=lambda: [None, *W[1:]],
        missing_in_a_nullable_series=lambda: pd.Series([None, *W[1:]], dtype="Float64"),
        a_mapping=lambda: dict(enumerate(W)),
        a_set=lambda: set(W),
        an_unfriendly_object=_Unfriendly,
        huge=lambda: W * 1e300,
        tiny=lambda: W * 1e-300,
    ),
    *_either(
        "weights",
        some_zero=lambda: W * (np.arange(N) % 3 > 0),
        all_but_one_zero=lambda: np.arange(N) == 5,
        a_cluster_without_weight=lambda: W * (A != 1),
        from_tiny_to_huge=lambda: np.geomspace(1e-90, 1e90, N),
        fractions_of_one=lambda: W / 7,
        as_large_as_can_be=lambda: np.full(N, 1e100),
        as_small_as_can_be=lambda: np.full(N, 1e-100),
        beyond_exact_integers=lambda: W * 2.0**53,
        a_single_number=lambda: 2.0,
        dask_array=_needs("dask.array", lambda da: da.from_array(W, chunks=5)),
    ),
]  # fmt: skip

COUNTS = [
    *_same("count", 3, numpy_integer=lambda: np.int64(3), small_integer=lambda: np.uint8(3)),
    *_refused(
        "count",
        zero=lambda: 0,
        negative=lambda: -1,
        a_float=lambda: 3.0,
        not_a_number=lambda: float("nan"),
        infinite=lambda: float("inf"),
        true=lambda: True,
        a_word=lambda: "three",
        digits=lambda: "3",
        a_list=lambda: [3],
        complex_=lambda: 3 + 0j,
        an_array=lambda: np.array([3, 4]),
        a_fraction=lambda: fractions.Fraction(7, 2),
        an_unfriendly_object=_Unfriendly,
    ),
    *_either("count", one=lambda: 1, as_many_as_points=lambda: N, a_few_more=lambda: N + 3),
]

NUMBERS = [
    *_same(
        "number",
        2.0,
        an_integer=lambda: 2,
        numpy_integer=lambda: np.int32(2),
        single_precision=lambda: np.float32(2),
        half_precision=lambda: np.float16(2),
        a_fraction=lambda: fractions.Fraction(2),
    ),
    *_refused(
        "number",
        zero=lambda: 0,
        minus_zero=lambda: -0.0,
        negative=lambda: -1.0,
        not_a_number=lambda: float("nan"),
        infinite=lambda: float("inf"),
        true=lambda: True,
        a_word=lambda: "wide",
        complex_=lambda: 2 + 0j,
        an_unfriendly_object=_Unfriendly,
        an_integer_beyond_floats=lambda: 10**400,
    ),
    *_either(
        "number",
        least=lambda: 5e-324,
        tiny=lambda: 1e-300,
        small=lambda: 1e-20,
        large=lambda: 1e20,
        huge=lambda: 1e300,
        greatest=lambda: 1.7e308,
        a_decimal=lambda: decimal.Decimal(2),
        zero_dimensional=lambda: np.array(2.0),
    ),
]

CHOICES = _refused(
    "choice",
    an_unknown_word=lambda: "bogus",
    an_empty_word=lambda: "",
    bytes_=lambda: b"lift_emd",
    a_number=lambda: 3,
    a_list=lambda: ["lift_emd"],
    an_array=lambda: np.array(["lift_emd", "rand"]),
    a_mapping=lambda: {"lift_emd": 1},
    upper_case=lambda: "LIFT_EMD",
    an_unfriendly_object=_Unfriendly,
)

SEEDS = [
    *_same("seed", 5, numpy_integer=lambda: np.int64(5)),
    *_refused(
        "seed",
        a_float=lambda: 1.5,
        a_word=lambda: "seed",
        true=lambda: True,
        negative=lambda: -1,
        random_state=lambda: np.random.RandomState(0),
        not_a_number=lambda: float("nan"),
        an_unfriendly_object=_Unfriendly,
        a_set=lambda: {1, 2},
        the_module=lambda: np.random,
        numpy_float=lambda: np.float32(2),
    ),
    *_either(
        "seed",
        none=lambda: None,
        a_generator=lambda: np.random.default_rng(1),
        a_seed_sequence=lambda: np.random.SeedSequence(1),
        a_bit_generator=lambda: np.random.PCG64(1),
        a_huge_integer=lambda: 2**200,
        several=lambda: [1, 2],
    ),
]

ENSEMBLES = [
    *_same(
        "partitions",
        {0: A, 1: B},
        a_list=lambda: [A, B],
        a_frame=lambda: pd.DataFrame({0: A, 1: B}),
        a_tuple=lambda: (A.tolist(), B.tolist()),
        an_array=lambda: [*np.array([A, B])],
        partitions=lambda: [Partition.from_labels(A), Partition.from_labels(B)],
        hard_memberships=lambda: [np.eye(3)[A], sp.csr_array(np.eye(3)[B])],
    ),
    *_refused(
        "partitions",
        nothing=lambda: None,
        empty_list=list,
        empty_mapping=dict,
        a_lazy_frame=_needs("polars", lambda pl: pl.DataFrame({"a": A, "b": B}).lazy()),
        a_word=lambda: "partitions",
        a_number=lambda: 7,
        a_set=lambda: {1, 2},
        different_lengths=lambda: [A, B[:-1]],
        one_of_them_none=lambda: [A, None],
        one_of_them_empty=lambda: [A, []],
        an_unfriendly_object=_Unfriendly,
        a_function=lambda: len,
    ),
    *_either(
        "partitions",
        one_alone=lambda: [A],
        one_labelling=lambda: A,
        a_matrix_of_labels=lambda: np.array([A, B]),
        twenty_times_the_same=lambda: [A] * 20,
        hard_and_soft=lambda: [A, R],
        single_points_and_one_cluster=lambda: [np.arange(N), np.zeros(N)],
        with_noise_everywhere=lambda: [np.where(np.arange(N) % 2, A, -1), np.where(np.arange(N) % 2, -1, B)],
        odd_names=lambda: {("a", 1): A, 2.5: B},
        a_generator=lambda: (p for p in (A, B)),
        polars_frame=_needs("polars", lambda pl: pl.DataFrame({"a": A, "b": B})),
    ),
]  # fmt: skip

_COSTS = np.array([[0.0, 1.0], [2.0, 0.0]])
MASSES = [
    *_same(
        "masses", [1.0, 3.0], array=lambda: np.array([1, 3]), series=lambda: pd.Series([1.0, 3])
    ),
    *_refused(
        "masses",
        nothing=lambda: None,
        empty=list,
        negative=lambda: [-1.0, 5.0],
        not_a_number=lambda: [np.nan, 4.0],
        infinite=lambda: [np.inf, 4.0],
        all_zero=lambda: [0.0, 0.0],
        another_sum=lambda: [1.0, 4.0],
        a_column=lambda: [[1.0], [3.0]],
        words=lambda: ["a", "b"],
        complex_=lambda: [1 + 1j, 3 - 1j],
        masked=lambda: np.ma.array([1.0, 3.0], mask=[0, 1]),
        dates=lambda: np.array([1, 3], "datetime64[D]"),
        a_number=lambda: 4.0,
        three_of_them=lambda: [1.0, 1.0, 2.0],
        overflowing=lambda: [1.7e308, 1.7e308],
        an_unfriendly_object=_Unfriendly,
    ),
    *_either("masses", denormals=lambda: [5e-324, 4.0], one_zero=lambda: [0.0, 4.0]),
]
COSTS = [
    *_same(
        "costs",
        _COSTS,
        fortran_order=lambda: np.asfortranarray(_COSTS),
        integers=lambda: _COSTS.astype(int),
        big_endian=lambda: _COSTS.astype(">f4"),
        read_only=lambda: _read_only(_COSTS),
        frame=lambda: pd.DataFrame(_COSTS),
    ),
    *_refused(
        "costs",
        nothing=lambda: None,
        not_a_number=lambda: _with(_COSTS, (0, 0), np.nan),
        infinite=lambda: _with(_COSTS, (0, 0), np.inf),
        another_shape=lambda: _COSTS[:1],
        one_dimension=lambda: _COSTS.ravel(),
        words=lambda: [["a", "b"], ["c", "d"]],
        complex_=lambda: _COSTS + 1j,
        ragged=lambda: [[0.0, 1.0], [2.0]],
        masked=lambda: np.ma.array(_COSTS, mask=_COSTS == 1),
        sparse=lambda: sp.csr_array(_COSTS),
        an_unfriendly_object=_Unfriendly,
    ),
    *_either(
        "costs",
        all_zero=lambda: _COSTS * 0,
        negative=lambda: -_COSTS,
        denormal=lambda: _COSTS * 5e-324,
        huge=lambda: _COSTS * 8e307,
        tiny_beside_huge=lambda: [[1e-300, 1e300], [1e300, 1e-300]],
    ),
]
MATRICES = [
    *_same(
        "matrix",
        np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(axis=2)),
        fortran_order=lambda: np.asfortranarray(np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(axis=2))),
        list_of_lists=lambda: np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(axis=2)).tolist(),
    ),
    *_refused(
        "matrix",
        nothing=lambda: None,
        not_square=lambda: X,
        not_symmetric=lambda: np.triu(np.ones((N, N))),
        not_a_number=lambda: np.full((N, N), np.nan),
        words=lambda: np.full((N, N), "a"),
        complex_=lambda: np.eye(N) + 0j,
        another_size=lambda: np.eye(N - 1),
        indefinite=lambda: 1 - 2 * np.eye(N),
        zero=lambda: np.zeros((N, N)),
        an_unfriendly_object=_Unfriendly,
    ),
    *_either(
        "matrix",
        identity=lambda: np.eye(N),
        all_ones=lambda: np.ones((N, N)),
        huge=lambda: np.eye(N) * 1e300,
        tiny=lambda: np.eye(N) * 1e-300,
        of_very_different_sizes=lambda: np.diag(np.geomspace(1e-200, 1e200, N)),
    ),
]  # fmt: skip
CLUSTERS = [
    *_same(
        "cluster",
        (A == 0).astype(float),
        booleans=lambda: A == 0,
        integers=lambda: (A == 0).astype(np.int8),
        list_=lambda: (A == 0).tolist(),
        series=lambda: pd.Series(A == 0),
        big_endian=lambda: (A == 0).astype(">f8"),
    ),
    *_refused(
        "cluster",
        nothing=lambda: None,
        empty=lambda: A == 9,
        labels=lambda: A + 1,
        not_a_number=lambda: _with((A == 0) * 1.0, 3, np.nan),
        negative=lambda: -(A == 0).astype(float),
        words=lambda: ["a"] * N,
        complex_=lambda: (A == 0) + 1j,
        a_matrix=lambda: np.eye(3)[A],
        too_short=lambda: (A == 0)[:-1],
        masked=lambda: np.ma.array(A == 0, mask=A == 1),
        a_word=lambda: "cluster",
        an_unfriendly_object=_Unfriendly,
    ),
    *_either(
        "cluster",
        everything=lambda: np.ones(N),
        a_little_of_everything=lambda: np.full(N, 1e-9),
        nearly_nothing=lambda: np.full(N, 1e-200),
        denormal=lambda: np.full(N, 5e-324),
    ),
]

ADVERSARIES = [
    *POINTS, *LABELS, *MEMBERSHIPS, *WEIGHTS, *COUNTS, *NUMBERS, *CHOICES, *SEEDS, *ENSEMBLES,
    *MASSES, *COSTS, *MATRICES, *CLUSTERS,
]  # fmt: skip
