"""Clusters as vectors, and their storage."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from .._util.html import paragraph, table
from .._util.memory import check_pairs
from .._util.typing import FloatArray, IntArray
from ..lifts.base import Lift
from ..lifts.uncertainty import (
    GroupedRows,
    distance_deviations,
    inner_product_deviations,
    standard_error,
    unit_rows,
)
from .storage import (
    lift_from_state,
    lift_to_state,
    name_from_json,
    name_to_json,
    read_npz,
    write_npz,
)

FORMAT = "liftcluster representation 1"
_MOST_ROWS = 30  # of a table in a notebook
_BY_CLUSTER, _BY_PARTITION = ("sums", "cluster_weights"), ("total_weights",)
_ARRAY_FIELDS = (*_BY_CLUSTER, *_BY_PARTITION, "owner")


@dataclass(frozen=True, eq=False, repr=False)
class Representation:
    r"""s clusters of m partitions as vectors in :math:`\mathbb{R}^ρ`, and the lift that made them.

    Made by :func:`represent`; distances, transport and consensus need nothing else. Those of two
    blocks of points by one lift can be added, ``rep + other``; clusters are matched by names.

    Attributes
    ----------
    sums, vectors : (s, ρ) arrays
        Φ(C) = Σ w(x) p(C|x) φ(x), and Φ̄(C) = Φ(C)/‖Φ(C)‖.
    norms : (s,) array
        ‖Φ(C)‖.
    masses : (s,) array
        Share of its partition's weight that each cluster has; noise has the rest.
    owner : (s,) int array
        Position of the partition that each cluster belongs to.
    cluster_weights, total_weights : (s,) and (m,) arrays
        Weight of each cluster, and of each partition with its noise.
    cluster_names, partition_names : tuples
        Names of the s clusters and of the m partitions.
    lift : Lift or None
        The map that lifted them; None if it was saved without.

    See Also
    --------
    represent, represent_samples, load_representation, Tally

    Examples
    --------
    >>> import liftcluster as lc
    >>> rep = lc.represent([[0.0], [1.0]], {"mine": ["a", "b"]}, bandwidth=1.0)
    >>> rep.cluster_names, rep.masses.tolist(), rep.distances().round(3).tolist()
    (('a', 'b'), [0.5, 0.5], [[0.0, 0.887], [0.887, 0.0]])
    """

    sums: FloatArray
    cluster_weights: FloatArray  # (s,), Σ w p(C|x)
    total_weights: FloatArray  # (m,), Σ w, noise included
    owner: IntArray
    cluster_names: tuple[Hashable, ...]
    partition_names: tuple[Hashable, ...]
    lift: Lift | None

    def __post_init__(self) -> None:
        for array in (self.sums, self.cluster_weights, self.total_weights, self.owner):
            array.setflags(write=False)

    @property
    def s(self) -> int:
        """Number of clusters in all partitions together."""
        return len(self.sums)

    @property
    def m(self) -> int:
        """Number of partitions."""
        return len(self.partition_names)

    @property
    def n_components(self) -> int:
        """ρ, the length of a vector."""
        return int(self.sums.shape[1])

    @cached_property
    def norms(self) -> FloatArray:
        return np.asarray(np.linalg.norm(self.sums, axis=1))

    @cached_property
    def vectors(self) -> FloatArray:
        return unit_rows(self.sums, self.cluster_names)

    @cached_property
    def masses(self) -> FloatArray:
        return np.asarray(self.cluster_weights / self.total_weights[self.owner])

    @cached_property
    def shares(self) -> FloatArray:
        """(s,) masses of one partition without its noise, which sum to one."""
        return np.asarray(self.masses / self.masses.sum())

    @cached_property
    def grouped_vectors(self) -> GroupedRows | None:
        """The vectors by groups of features that were drawn together; None if none were."""
        groups = None if self.lift is None else self.lift.feature_groups()
        return None if groups is None else GroupedRows.of(self.vectors, groups)

    @property
    def noise_masses(self) -> FloatArray:
        """(m,) share of each partition's weight that is in no cluster."""
        return np.maximum(1 - np.bincount(self.owner, self.masses, self.m), 0)

    def inner_products(self, *, normalise: bool = True) -> FloatArray:
        """(s, s) matrix ⟨Φ̄(C), Φ̄(C′)⟩, or ⟨Φ(C), Φ(C′)⟩ if not normalised.

        Parameters
        ----------
        normalise : bool, default True
            Whether vectors have unit length, so that sizes of clusters play no part.
        """
        check_pairs(self.s, self.s)
        V = self.vectors if normalise else self.sums
        return np.asarray(V @ V.T)

    def distances(self, *, normalise: bool = True) -> FloatArray:
        """(s, s) matrix of d(C, C′) = ‖Φ̄(C) − Φ̄(C′)‖, or ‖Φ(C) − Φ(C′)‖ if not normalised.

        Parameters
        ----------
        normalise : bool, default True
            Whether vectors have unit length, so that sizes of clusters play no part.
        """
        check_pairs(self.s, self.s)
        V = self.vectors if normalise else self.sums
        return np.asarray(cdist(V, V))

    def inner_product_errors(self, *, normalise: bool = True) -> FloatArray | None:
        """(s, s) standard errors of ``inner_products``: zero if exact, None if not known.

        Parameters
        ----------
        normalise : bool, default True
            Whether vectors have unit length, so that sizes of clusters play no part.
        """
        return self._errors(inner_product_deviations, normalise)

    def distance_errors(self, *, normalise: bool = True) -> FloatArray | None:
        """(s, s) standard errors of ``distances``: zero if exact, None if not known.

        About 95 % of exact distances lie within two of them. A grid of frequencies is not random:
        its errors are deterministic bounds.

        Parameters
        ----------
        normalise : bool, default True
            Whether vectors have unit length, so that sizes of clusters play no part.
        """
        known = self.lift if normalise else None
        bound = None if known is None else known.distance_bound(self.sums, self.sums)
        return bound if bound is not None else self._errors(distance_deviations, normalise)

    def _errors(self, deviations: Any, normalise: bool) -> FloatArray | None:
        if self.lift is None:
            return None
        if self.lift.is_exact:
            return np.zeros((self.s, self.s))
        groups = self.lift.feature_groups()
        if groups is None:
            return None
        return standard_error(deviations(self.sums, self.sums, groups, normalise=normalise))

    @property
    def max_error(self) -> float | None:
        """The largest standard error among the normalised distances; None if not known."""
        errors = self.distance_errors()
        return None if errors is None else float(errors.max())

    def __len__(self) -> int:
        return self.m

    def __getitem__(self, index: int | str | slice | list[int]) -> Representation:
        """One partition by position or name, or several by position."""
        if isinstance(index, str):
            if index not in self.partition_names:
                raise KeyError(
                    f"no partition is called {index!r}; there are {self.partition_names}"
                )
            index = self.partition_names.index(index)
        chosen = np.arange(self.m)[index].reshape(-1)
        if not len(chosen):
            raise IndexError("no partition is left")
        clusters = np.concatenate(own := [(self.owner == i).nonzero()[0] for i in chosen])
        return Representation(
            sums=self.sums[clusters],
            cluster_weights=self.cluster_weights[clusters],
            total_weights=self.total_weights[chosen],
            owner=np.repeat(np.arange(len(chosen)), [len(rows) for rows in own]),
            cluster_names=tuple(self.cluster_names[i] for i in clusters.tolist()),
            partition_names=tuple(self.partition_names[i] for i in chosen.tolist()),
            lift=self.lift,
        )

    def __add__(self, other: Representation) -> Representation:
        if not isinstance(other, Representation):
            return NotImplemented
        _check_can_be_added(self, other)
        return replace(self, **add_fields((self, other), _BY_CLUSTER, _BY_PARTITION))

    def save(self, path: str | PathLike[str], *, with_lift: bool = True) -> None:
        """Write to an npz file, the lift included, without pickle; see :func:`load_representation`.

        An interrupted save leaves no partial file.

        Parameters
        ----------
        path : path
            The file to write.
        with_lift : bool, default True
            Without it vectors can be compared, but neither added to nor used to score points.
        """
        values: dict[str, Any] = {
            "format": FORMAT,
            "cluster_names": [name_to_json(name) for name in self.cluster_names],
            "partition_names": [name_to_json(name) for name in self.partition_names],
        }
        arrays = {field: getattr(self, field) for field in _ARRAY_FIELDS}
        if with_lift and self.lift is not None:
            values["lift"], lift_arrays = lift_to_state(self.lift)
            arrays |= {f"lift_{name}": array for name, array in lift_arrays.items()}
        write_npz(path, values, arrays)

    def __repr__(self) -> str:
        lift = "saved without its lift" if self.lift is None else self.lift.describe()
        return f"Representation({self.s} clusters of {self.m} partition(s), {lift})"

    def _repr_html_(self) -> str:
        shown = min(self.m, _MOST_ROWS)
        masses, noise = self.masses, self.noise_masses
        rows = []
        for i in range(shown):
            own = masses[self.owner == i]
            sizes = f"{own.min():.1%} … {own.max():.1%}"
            rows.append((self.partition_names[i], len(own), sizes, f"{noise[i]:.1%}"))
        more = paragraph(f"… and {self.m - shown} more") if shown < self.m else ""
        columns = ("partition", "clusters", "sizes", "noise")
        return paragraph(repr(self)) + table(columns, rows) + more


def load_representation(path: str | PathLike[str]) -> Representation:
    """Read what :meth:`Representation.save` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : path
        An npz file.

    Returns
    -------
    Representation
        As it was saved.

    See Also
    --------
    Representation : Has the method ``save``.

    Examples
    --------
    >>> import tempfile, os, liftcluster as lc
    >>> rep = lc.represent([[0.0], [1.0], [5.0]], [0, 0, 1], bandwidth=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rep.save(os.path.join(folder, "clusters.npz"))
    ...     again = lc.load_representation(os.path.join(folder, "clusters.npz"))
    >>> again
    Representation(2 clusters of 1 partition(s), exact)
    """
    values, arrays = read_npz(path)
    if values.get("format") != FORMAT:
        raise ValueError(f"{path} is not a saved representation (format {values.get('format')!r})")
    try:
        lift_arrays = {k.removeprefix("lift_"): v for k, v in arrays.items() if k[:5] == "lift_"}
        rep = Representation(
            **{field: arrays[field] for field in _ARRAY_FIELDS},
            cluster_names=tuple(name_from_json(name) for name in values["cluster_names"]),
            partition_names=tuple(name_from_json(name) for name in values["partition_names"]),
            lift=lift_from_state(values["lift"], lift_arrays) if "lift" in values else None,
        )
        _check_consistent(rep)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return rep


def _check_consistent(rep: Representation) -> None:
    s, m = len(rep.cluster_names), len(rep.partition_names)
    fits = (
        rep.sums.ndim == 2
        and rep.sums.shape[0] == s > 0
        and rep.cluster_weights.shape == rep.owner.shape == (s,)
        and rep.total_weights.shape == (m,)
        and rep.owner.dtype.kind in "iu"
        and 0 <= rep.owner.min() <= rep.owner.max() < m
        and (rep.lift is None or rep.lift.n_components == rep.n_components)
    )
    if not fits:
        raise ValueError("its parts have inconsistent shapes")
    if not all(np.isfinite(getattr(rep, field)).all() for field in _ARRAY_FIELDS):
        raise ValueError("it holds NaN or infinity")


def add_fields(
    parts: Sequence[Any], by_cluster: Sequence[str], by_partition: Sequence[str]
) -> dict[str, Any]:
    """Sums of fields of several tallies or representations, whose clusters are matched by name."""
    partitions = tuple(dict.fromkeys(name for part in parts for name in part.partition_names))
    place = {name: i for i, name in enumerate(partitions)}
    keys_of = [
        [
            (part.partition_names[i], name)
            for i, name in zip(part.owner, part.cluster_names, strict=True)
        ]
        for part in parts
    ]
    keys = sorted(
        dict.fromkeys(key for own in keys_of for key in own),
        key=lambda key: place[key[0]],  # stable: clusters in order of appearance
    )
    row = {key: i for i, key in enumerate(keys)}
    totals: dict[str, Any] = {
        "owner": np.array([place[name] for name, _ in keys], dtype=np.int64),
        "cluster_names": tuple(name for _, name in keys),
        "partition_names": partitions,
    }
    for field in (*by_cluster, *by_partition):
        like = getattr(parts[0], field)
        size = len(keys) if field in by_cluster else len(partitions)
        total = totals[field] = np.zeros((size, *like.shape[1:]), dtype=like.dtype)
        for part, own in zip(parts, keys_of, strict=True):
            names = part.partition_names
            at = [row[key] for key in own] if field in by_cluster else [place[n] for n in names]
            total[at] += getattr(part, field)
    return totals


def join(parts: Sequence[Representation]) -> Representation:
    """The partitions of several representations side by side, all made by one lift."""
    for part in parts[1:]:
        _check_same_lift(parts[0], part)
    firsts = np.cumsum([0] + [part.m for part in parts])
    return Representation(
        sums=np.concatenate([part.sums for part in parts]),
        cluster_weights=np.concatenate([part.cluster_weights for part in parts]),
        total_weights=np.concatenate([part.total_weights for part in parts]),
        owner=np.concatenate([part.owner + i for part, i in zip(parts, firsts, strict=False)]),
        cluster_names=tuple(name for part in parts for name in part.cluster_names),
        partition_names=tuple(name for part in parts for name in part.partition_names),
        lift=parts[0].lift,
    )


def _check_same_lift(a: Representation, b: Representation) -> None:
    same = a.lift is b.lift and a.n_components == b.n_components
    if a.lift is not None and b.lift is not None and not same:
        same = a.lift.fingerprint() == b.lift.fingerprint()
    if not same:
        raise ValueError(
            "the two representations were made by different lifts; make one lift with make_lift "
            "and give it to both calls of represent"
        )


def _check_can_be_added(a: Representation, b: Representation) -> None:
    for part in (a, b):
        if len(set(part.partition_names)) < part.m:
            raise ValueError(f"partitions to add need different names: {part.partition_names}")
    if a.lift is None or b.lift is None:
        raise ValueError("a representation saved without its lift cannot be added to another")
    if a.lift.is_exact:
        raise ValueError(
            "exact representations do not add up: each spans only its own clusters. Lift the "
            'blocks together with represent_samples, or by one map: make_lift(X, lift="fourier")'
        )
    _check_same_lift(a, b)
