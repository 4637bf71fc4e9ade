"""From clusterings and points to a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._util.typing import Points, RngLike
from ..._util.validation import as_points, check_choice, check_count, check_same_length, make_rng
from ...combination.methods.registry import METHODS
from ...comparison.measures.registry import MEASURES
from ...partitions.partition import Partition, as_partition
from ..layout import look_at
from .contents import contents
from .findings import Asked, find
from .page import Report
from .words import summary

__all__ = ["make_report"]


def make_report(
    partitions: Mapping[str, Any],
    X: Points,
    *,
    measures: Any = None,
    consensus: int | str | None = None,
    method: str = "lift_km",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    weights: Any = None,
    view: Any = None,
    title: str | None = None,
    rng: RngLike = None,
) -> Report:
    """A page about some clusterings: how different they are, where, and what their consensus is.

    Parameters
    ----------
    partitions : mapping from names to labels, memberships or Partition
        Two or more clusterings of the same points.
    X : (n, d) array-like
        The points.
    measures : sequence of str, optional
        Names in ``MEASURES``; by default every one that applies, as for
        :func:`liftcluster.compare`. LiftEMD is always among them.
    consensus : int, "auto" or None
        The number of clusters of a consensus, which then joins the clusterings; None for none.
    method : str
        How the consensus is found: a name in ``METHODS``.
    kernel, bandwidth, lift, n_components, weights
        As for :func:`liftcluster.represent`. The consensus takes the same, but "median" becomes
        its own default, a quarter of the median.
    view : (n, 2) array-like, optional
        Where to draw the points; by default where they are in two dimensions, else by PCA.
    title : str, optional
    rng : int, Generator or None
        The same seed makes the same page, byte for byte.

    Returns
    -------
    Report
        ``save("page.html")`` writes one file that needs no network and no server.

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> page = make_report({"mine": [0, 0, 1, 1], "yours": [0, 0, 1, 2]}, X, rng=0)
    >>> print(page.summary[1])
    mine and yours are 0.055 apart by LiftEMD, where 0 means that they lie in the same places.
    >>> page.to_dict()["measures"]["rand"]["values"][0][1]
    0.16666666666666666
    """
    named = _named_partitions(partitions, weights)
    n = next(iter(named.values())).n
    flat = look_at(X, view)  # now: a frame still knows what its columns are called
    check_same_length(n, len(flat.coordinates), _quoted(named), "X" if view is None else "view")
    if view is None or hasattr(X, "columns"):
        X = as_points(X)
    if X is not None:
        check_same_length(n, len(X), _quoted(named), "X")
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be text, got {type(title).__name__}")
    if consensus is not None and not (isinstance(consensus, str) and consensus == "auto"):
        consensus = check_count(consensus, "consensus")
    asked = Asked(
        partitions=named,
        X=X,
        measures=_with_lift_emd(measures),
        consensus=consensus,
        method=check_choice(method, METHODS, "method"),
        lifting={
            "kernel": kernel,
            "bandwidth": bandwidth,
            "lift": lift,
            "n_components": n_components,
        },
        view=flat,
        seed=_seed(rng),
    )
    found = find(asked)
    sentences = summary(found)
    return Report(title or f"{len(named)} clusterings compared", sentences, contents(found))


def _named_partitions(partitions: Any, weights: Any) -> dict[str, Partition]:
    if not isinstance(partitions, Mapping):
        hint = "; pass dict(frame) for one in each column" if hasattr(partitions, "columns") else ""
        raise TypeError(
            "partitions must be a mapping from names to clusterings, such as "
            f'{{"k-means": labels, "mine": others}}, got {type(partitions).__name__}{hint}'
        )
    if len(partitions) < 2:
        raise ValueError(f"a report needs at least two clusterings, got {len(partitions)}")
    named: dict[str, Partition] = {}
    looks: dict[str, str] = {}
    for name, labels in partitions.items():
        if not isinstance(name, str):
            raise TypeError(f"clusterings must be named by text, got {name!r}; use str(name)")
        look = " ".join(name.split())
        if not look:
            raise ValueError("a clustering has an empty name; give it one that can be read")
        if look in looks:
            raise ValueError(
                f"the clusterings {looks[look]!r} and {name!r} look alike; rename one of them"
            )
        looks[look] = name
        named[name] = as_partition(labels, weights)
        first = next(iter(named))
        if named[name].n != named[first].n:
            raise ValueError(
                f"the clusterings must be of the same points: {first!r} has {named[first].n} "
                f"of them, {name!r} has {named[name].n}"
            )
    return named


def _quoted(named: dict[str, Partition]) -> str:
    return f"the clustering {next(iter(named))!r}"


def _with_lift_emd(measures: Any) -> list[str] | None:
    """The measures asked for; the plans and the map need LiftEMD."""
    if measures is None:
        return None
    asked = [measures] if isinstance(measures, str) else list(measures)
    if not asked:
        raise ValueError("measures is empty; name some, or leave it out for all that apply")
    known = [check_choice(name, MEASURES, "measures") for name in asked]
    return list(dict.fromkeys(["lift_emd", *known]))


def _seed(rng: RngLike) -> int:
    """A number that can be printed and given again."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        make_rng(int(rng))  # refuses negative ones
        return int(rng)
    return int(make_rng(rng).integers(2**32))
