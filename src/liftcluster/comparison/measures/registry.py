"""The registry of distances between partitions: what each needs and what it guarantees."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

from .elements import element_centric
from .information import ami, nmi, nvi, vi
from .lifted import (
    Between,
    lift_emd,
    lift_emd_error,
    lift_hausdorff,
    lift_hausdorff_error,
    lift_kd,
    lift_kd_error,
)
from .pairs import accuracy, adjusted_rand, fowlkes_mallows, jaccard, mirkin, rand
from .spatial import adco, adco_of, cdistance, cdistance_of, centroid, centroid_of
from .spatial_rand import spari, spari_of, spri, spri_of

Needs = Literal["vectors", "points", "table"]
_INTERNAL = {"X", "progress", "rep", "rng", "weights"}  # passed by the caller, not by the user


@dataclass(frozen=True)
class Measure:
    """A distance between two partitions, and the properties that the tests check.

    Attributes
    ----------
    name, title : str
        Its name in ``MEASURES``, and what it is in a few words.
    needs : "vectors", "points" or "table"
        What ``function`` is called with: two representations; the points and partition of each
        input, as (X, a, Y, b); or the contingency table.
    function : callable
        Computes the distance.
    error : callable or None
        The standard error, called as ``function`` is, where the lift may be random.
    is_metric : bool
        Zero for equal hard partitions and for no others, symmetric, triangle inequality.
    is_symmetric : bool
        Both orders of the partitions give the same distance.
    bounds : (float, float)
        Of all values it can take.
    same_points : bool
        Both partitions must be of the same points.
    soft : bool
        Soft memberships are accepted.
    any_weights : bool
        Weights need not be integers.
    invariances : frozenset
        Those of "relabelling", "translation", "rotation" and "scaling" (of points and bandwidth
        together) that it is invariant to.
    noise : str
        How points in no cluster are treated.
    reference : str
        Authors and year of the publication.
    slow : bool
        More than linear in the number of points: left out of ``compare`` on many points unless
        requested.
    slow_above_d : int or None
        Number of dimensions above which it is slow.
    shared, shared_error : callable or None
        The same as ``function`` and ``error``, called with one object that all measures of a pair
        share: cluster vectors with their distances, or partitions with their points.
    options : tuple of str
        Names of the keyword arguments that ``function`` accepts from users.

    See Also
    --------
    MEASURES : All of them by name.
    distance : Computes one of them.

    Examples
    --------
    >>> import liftcluster as lc
    >>> measure = lc.MEASURES["rand"]
    >>> measure.title, measure.is_metric, measure.needs
    ('share of pairs judged differently', True, 'table')
    """

    name: str
    title: str
    needs: Needs
    function: Callable[..., float]
    error: Callable[..., float | None] | None = None
    is_metric: bool = False
    is_symmetric: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    same_points: bool = False
    soft: bool = True
    any_weights: bool = True
    invariances: frozenset[str] = frozenset()
    noise: str = "left out; masses are shares of the weight in clusters"
    reference: str = ""
    slow: bool = False
    slow_above_d: int | None = None
    shared: Callable[..., float] | None = None
    shared_error: Callable[..., float | None] | None = None

    @property
    def pairs_clusters(self) -> bool:
        """Whether all pairs of clusters of two partitions are compared by their places."""
        return self.needs == "vectors" or (self.needs == "points" and not self.same_points)

    @cached_property
    def options(self) -> tuple[str, ...]:
        return option_names(self.function)


def option_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The keyword-only parameters of a function that are options for users.

    >>> option_names(adco)
    ('bins',)
    """
    parameters = inspect.signature(function).parameters.values()
    names = (p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    return tuple(name for name in names if name not in _INTERNAL)


_RIGID = frozenset({"relabelling", "translation", "rotation", "scaling"})
_UNBOUNDED = (0.0, float("inf"))
_NOISE_IN_EITHER = "points that are noise in either partition are left out"


def _measure(
    needs: Needs, function: Callable[..., float], title: str, reference: str, **traits: Any
) -> Measure:
    return Measure(function.__name__, title, needs, function, reference=reference, **traits)


_lifted = partial(
    _measure,
    "vectors",
    reference="Raman, Phillips, Venkatasubramanian (SDM 2011)",
    is_metric=True,
    bounds=(0.0, 2.0),
    invariances=_RIGID,
)
_spatial = partial(_measure, "points")
_spatial_rand = partial(
    _spatial,
    reference="Yan, Feng, Luo (2025)",
    is_symmetric=False,
    slow_above_d=3,
    same_points=True,
    soft=False,
    any_weights=False,
    invariances=_RIGID - {"rotation"},
    noise=_NOISE_IN_EITHER,
)
_table = partial(_measure, "table", same_points=True, invariances=_RIGID, noise=_NOISE_IN_EITHER)
_pairs = partial(_table, any_weights=False)

_ALL = [
    _lifted(
        lift_emd,
        "transport between lifted clusters",
        error=lift_emd_error,
        shared=Between.emd,
        shared_error=Between.emd_error,
    ),
    _lifted(
        lift_kd,
        "kernel distance of lifted clusters",
        error=lift_kd_error,
        bounds=(0.0, 2**0.5),
        shared=Between.kernel_distance,
        shared_error=Between.kernel_error,
    ),
    _lifted(
        lift_hausdorff,
        "Hausdorff distance of lifted clusters",
        error=lift_hausdorff_error,
        shared=Between.hausdorff,
        shared_error=Between.hausdorff_error,
    ),
    _spatial(
        centroid,
        "transport between centroids (CC)",
        "Zhou, Li, Zha (2005)",
        bounds=_UNBOUNDED,
        invariances=_RIGID - {"scaling"},
        shared=centroid_of,
    ),
    _spatial(
        adco,
        "density profiles on a grid (ADCO)",
        "Bae, Bailey, Dong (2006)",
        is_metric=True,  # for the trivial reason that 2 ≤ 1 + 1
        bounds=(0.0, 2.0),
        invariances=_RIGID - {"rotation"},
        shared=adco_of,
    ),
    _spatial(
        cdistance,
        "transport between clusters' points (CDistance)",
        "Coen, Ansari, Fillmore (2010)",
        invariances=_RIGID,
        slow=True,
        shared=cdistance_of,
    ),
    _spatial_rand(spri, "Rand index with spatial weights (1 − spRI)", shared=spri_of),
    _spatial_rand(
        spari, "the same, adjusted for chance (1 − spARI)", bounds=_UNBOUNDED, shared=spari_of
    ),
    _pairs(rand, "share of pairs judged differently", "Rand (1971)", is_metric=True),
    _pairs(
        jaccard,
        "share of joined pairs that are not joined in both",
        "Jaccard (1912)",
        is_metric=True,
    ),
    _pairs(
        mirkin,
        "number of ordered pairs judged differently",
        "Mirkin (1996)",
        is_metric=True,
        bounds=_UNBOUNDED,
    ),
    _pairs(
        fowlkes_mallows,
        "1 − geometric mean of pair precision and recall",
        "Fowlkes, Mallows (1983)",
    ),
    _pairs(
        adjusted_rand,
        "1 − Rand index adjusted for chance",
        "Hubert, Arabie (1985)",
        bounds=(0.0, 1.5),
    ),
    _table(
        accuracy, "share of points outside the best matching", "Ding, Li (2007)", is_metric=True
    ),
    _table(
        element_centric,
        "1 − mean similarity of the surroundings of points",
        "Gates, Wood, Hetrick, Ahn (2019)",
        is_metric=True,
        soft=False,
    ),
    _table(nmi, "1 − normalised mutual information", "Strehl, Ghosh (2002)"),
    _pairs(
        ami,
        "1 − mutual information adjusted for chance",
        "Vinh, Epps, Bailey (2010)",
        soft=False,
        bounds=_UNBOUNDED,
    ),
    _table(
        vi, "variation of information, in nats", "Meilă (2007)", is_metric=True, bounds=_UNBOUNDED
    ),
    _table(
        nvi,
        "variation of information over joint entropy",
        "Vinh, Epps, Bailey (2010)",
        is_metric=True,
    ),
]

MEASURES: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _ALL})
