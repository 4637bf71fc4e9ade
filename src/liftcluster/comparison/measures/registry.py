"""Every distance between partitions by name: what it needs and what it promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from .information import ami, nmi, nvi, vi
from .lifted import (
    lift_emd,
    lift_emd_error,
    lift_hausdorff,
    lift_hausdorff_error,
    lift_kd,
    lift_kd_error,
)
from .pairs import accuracy, adjusted_rand, fowlkes_mallows, jaccard, mirkin, rand
from .spatial import adco, cdistance, centroid
from .spatial_agreement import spari, spri

__all__ = ["MEASURES", "Measure"]

Needs = Literal["vectors", "points", "table"]


@dataclass(frozen=True)
class Measure:
    """A distance between two partitions, and the traits that the tests hold it to.

    Attributes
    ----------
    name, title : str
    needs : "vectors", "points" or "table"
        What ``function`` is called with: two representations; the points and partitions of both
        sides; or the contingency table.
    function : callable
    error : callable or None
        The standard error, called as ``function`` is, where the lift may be random.
    is_metric : bool
        Zero for equal hard partitions and for no others, symmetric, triangle inequality.
    is_symmetric : bool
    bounds : (float, float)
        Of all values it can take.
    same_points : bool
        Both partitions must be of the same points.
    soft : bool
        Soft memberships are accepted.
    any_weights : bool
        Weights need not be whole numbers.
    invariances : frozenset
        Of "relabelling", "translation", "rotation" and "scaling" (of points and bandwidth
        together), those that change nothing.
    noise : str
        What becomes of points in no cluster.
    reference : str
    slow : bool
        More than linear in the number of points: left out of ``compare`` on many points unless
        asked for.
    slow_above_d : int or None
        Dimensions of the points above which it is slow.
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


_RIGID = frozenset({"relabelling", "translation", "rotation", "scaling"})
_PAPER = "Raman, Phillips, Venkatasubramanian (SDM 2011)"
_INF = float("inf")
_METRIC_OF_PAIRS: dict[str, Any] = {"is_metric": True, "any_weights": False}


def _lifted(name: str, title: str, function: Any, error: Any, top: float) -> Measure:
    return Measure(
        name,
        title,
        "vectors",
        function,
        error,
        is_metric=True,
        bounds=(0.0, top),
        invariances=_RIGID,
        reference=_PAPER,
    )


def _spatial(name: str, title: str, function: Any, reference: str, **traits: Any) -> Measure:
    return Measure(name, title, "points", function, reference=reference, **traits)


def _table(name: str, title: str, function: Any, reference: str, **traits: Any) -> Measure:
    return Measure(
        name,
        title,
        "table",
        function,
        same_points=True,
        invariances=_RIGID,
        noise="points that are noise in either partition are left out",
        reference=reference,
        **traits,
    )


_ALL = [
    _lifted("lift_emd", "transport between lifted clusters", lift_emd, lift_emd_error, 2.0),
    _lifted("lift_kd", "kernel distance of lifted clusters", lift_kd, lift_kd_error, 2**0.5),
    _lifted(
        "lift_hausdorff",
        "Hausdorff distance of lifted clusters",
        lift_hausdorff,
        lift_hausdorff_error,
        2.0,
    ),
    _spatial(
        "centroid",
        "transport between centroids (CC)",
        centroid,
        "Zhou, Li, Zha (2005)",
        bounds=(0.0, _INF),
        invariances=_RIGID - {"scaling"},
    ),
    _spatial(
        "adco",
        "density profiles on a grid (ADCO)",
        adco,
        "Bae, Bailey, Dong (2006)",
        is_metric=True,  # for the trivial reason that 2 ≤ 1 + 1
        bounds=(0.0, 2.0),
        invariances=_RIGID - {"rotation"},
    ),
    _spatial(
        "cdistance",
        "transport between clusters' points (CDistance)",
        cdistance,
        "Coen, Ansari, Fillmore (2010)",
        invariances=_RIGID,
        slow=True,
    ),
    _spatial(
        "spri",
        "Rand index with spatial weights (1 − spRI)",
        spri,
        "Yan, Feng, Luo (2025)",
        is_symmetric=False,
        slow_above_d=3,
        same_points=True,
        soft=False,
        any_weights=False,
        invariances=_RIGID - {"rotation"},
        noise="points that are noise in either partition are left out",
    ),
    _spatial(
        "spari",
        "the same, adjusted for chance (1 − spARI)",
        spari,
        "Yan, Feng, Luo (2025)",
        is_symmetric=False,
        slow_above_d=3,
        bounds=(0.0, _INF),
        same_points=True,
        soft=False,
        any_weights=False,
        invariances=_RIGID - {"rotation"},
        noise="points that are noise in either partition are left out",
    ),
    _table("rand", "share of pairs judged differently", rand, "Rand (1971)", **_METRIC_OF_PAIRS),
    _table(
        "jaccard",
        "share of joined pairs that are not joined in both",
        jaccard,
        "Jaccard (1912)",
        **_METRIC_OF_PAIRS,
    ),
    _table(
        "mirkin",
        "number of ordered pairs judged differently",
        mirkin,
        "Mirkin (1996)",
        bounds=(0.0, _INF),
        **_METRIC_OF_PAIRS,
    ),
    _table(
        "fowlkes_mallows",
        "1 − geometric mean of pair precision and recall",
        fowlkes_mallows,
        "Fowlkes, Mallows (1983)",
        any_weights=False,
    ),
    _table(
        "adjusted_rand",
        "1 − Rand index adjusted for chance",
        adjusted_rand,
        "Hubert, Arabie (1985)",
        any_weights=False,
        bounds=(0.0, 1.5),
    ),
    _table(
        "accuracy",
        "share of points outside the best matching",
        accuracy,
        "Ding, Li (2007)",
        is_metric=True,
    ),
    _table("nmi", "1 − normalised mutual information", nmi, "Strehl, Ghosh (2002)"),
    _table(
        "ami",
        "1 − mutual information adjusted for chance",
        ami,
        "Vinh, Epps, Bailey (2010)",
        soft=False,
        any_weights=False,
        bounds=(0.0, _INF),
    ),
    _table(
        "vi",
        "variation of information, in nats",
        vi,
        "Meilă (2007)",
        is_metric=True,
        bounds=(0.0, _INF),
    ),
    _table(
        "nvi",
        "variation of information over joint entropy",
        nvi,
        "Vinh, Epps, Bailey (2010)",
        is_metric=True,
    ),
]

MEASURES: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _ALL})
