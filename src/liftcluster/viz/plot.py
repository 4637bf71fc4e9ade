"""Pictures of results with matplotlib (extra ``plot``); each takes an ``ax`` and returns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.extras import needs
from .._util.typing import FloatArray, Points
from .colours import BLUE, COLOURS, MARKERS, ORANGE, match_colours
from .layout import lay_out, look_at

if TYPE_CHECKING:
    from ..combination.combining import Consensus
    from ..combination.methods.selection import Curve
    from ..comparison.comparison import Comparison
    from ..comparison.profile import Profile

__all__ = [
    "clusterings_map",
    "composition",
    "curve",
    "distances",
    "flow",
    "plan",
    "points",
    "profile",
]

_GREY = "#9aa2ae"
_MOST_NUMBERS = 12  # rows of a heat map with numbers in its cells
_MOST_IN_LEGEND = 15
_MANY = 20_000  # points, from which they are drawn as one image in vector files


def distances(
    D: Any, names: Sequence[Any] | None = None, *, measure: str = "LiftEMD", ax: Any = None
) -> Any:
    """Distances between clusterings as a heat map.

    Parameters
    ----------
    D : (m, m) array-like
        From :func:`liftcluster.distance_matrix`.
    names : sequence, optional
        What the clusterings are called.
    measure : str
        What the distances are called.

    Examples
    --------
    >>> import liftcluster as lc
    >>> partitions = {"mine": [0, 0, 1, 1], "yours": [0, 1, 1, 1]}
    >>> D = lc.distance_matrix(partitions, measure="rand")
    >>> ax = lc.plot.distances(D, partitions, measure="rand")
    >>> [text.get_text() for text in ax.texts]
    ['0.00', '0.50', '0.50', '0.00']
    """
    D = _matrix(D)
    labels = _names(names, len(D))
    ax = _axes(ax)
    image = ax.imshow(D, cmap="cividis", vmin=0, vmax=max(float(np.nanmax(D)), 1e-12))
    if len(D) <= _MOST_NUMBERS:
        middle = np.nanmax(D) / 2
        for i, j in np.ndindex(D.shape):
            _in_cell(ax, i, j, f"{D[i, j]:.2f}", light=D[i, j] > middle)
    _tick(ax.xaxis, labels, slanted=True)
    _tick(ax.yaxis, labels)
    ax.figure.colorbar(image, ax=ax, label=f"{_text(measure)} distance")
    return ax


def clusterings_map(D: Any, names: Sequence[Any] | None = None, *, ax: Any = None) -> Any:
    """Clusterings as dots, near each other where they are alike; the title says how truly.

    Parameters
    ----------
    D : (m, m) array-like
        From :func:`liftcluster.distance_matrix`.
    names : sequence, optional

    Examples
    --------
    >>> import liftcluster as lc
    >>> ax = lc.plot.clusterings_map([[0.0, 0.5], [0.5, 0.0]], ["mine", "yours"])
    >>> ax.get_title()
    'stress 0.000'
    """
    D = _matrix(D)
    Z, stress = lay_out(D)
    ax = _axes(ax)
    ax.scatter(Z[:, 0], Z[:, 1], s=60, color=BLUE, zorder=2)
    middle = (Z[:, 0].min() + Z[:, 0].max()) / 2
    for (x, y), name in zip(Z, _names(names, len(D)), strict=True):
        side, align = (7, "left") if x <= middle else (-7, "right")  # inwards, where there is room
        ax.annotate(name, (x, y), xytext=(side, 5), textcoords="offset points", ha=align)
    ax.margins(0.25)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel="distance", ylabel="distance", title=f"stress {stress:.3f}")
    return ax


def flow(found: Comparison, *, ax: Any = None) -> Any:
    """The transport plan as bands from the clusters of one to those of the other.

    The stronger a band, the farther it goes.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.compare([0, 0, 1, 1], [0, 0, 1, 2], [[0.0], [1.0], [5.0], [6.0]])
    >>> len(lc.plot.flow(found).collections)  # one band for each flow
    3
    """
    masses, D, names = _planned(found)
    ax = _axes(ax)
    sizes = masses.sum(axis=1), masses.sum(axis=0)
    left = _stacked(sizes[0], np.arange(len(sizes[0])))
    pull = (left + sizes[0] / 2) @ masses / np.maximum(sizes[1], 1e-12)
    right = _stacked(sizes[1], np.argsort(pull, kind="stable"))  # crosses the fewest bands
    numbers = match_colours(masses.shape, [None, masses.T])
    start, end = left.copy(), right.copy()
    across = np.linspace(0, 1, 40)
    smooth = across**2 * (3 - 2 * across)
    for i, j in sorted(np.argwhere(masses > 1e-12), key=lambda flow: (flow[0], right[flow[1]])):
        low = start[i] + (end[j] - start[i]) * smooth
        strength = 0.25 + 0.6 * min(D[i, j] / 1.2, 1)
        colour = _colour(numbers[0][i])
        ax.fill_between(across, low, low + masses[i, j], color=colour, alpha=strength, lw=0)
        start[i] += masses[i, j]
        end[j] += masses[i, j]
    for side, bottoms in enumerate((left, right)):
        _bars(ax, side, bottoms, sizes[side], names[side], [_colour(n) for n in numbers[side]])
    ax.set_xlim(-0.45, 1.45)
    ax.set_xticks([0, 1], [_text(name) for name in found.names])
    ax.invert_yaxis()
    ax.set(yticks=[], title="share of the mass")
    ax.spines[:].set_visible(False)
    return ax


def points(
    X: Points, by: Any, *, view: Any = None, label: str | None = None, ax: Any = None
) -> Any:
    """Points in the plane, coloured.

    Parameters
    ----------
    X : (n, d) array-like
        As they are in two dimensions, else by their principal components.
    by : labels, memberships, Partition, Consensus, Comparison, or (n,) floats
        A clustering or a consensus colours by cluster, noise in grey; a comparison by where its
        two clusterings differ (:meth:`Comparison.witness`); real numbers, such as a consensus'
        ``confidence``, by value (whole numbers are labels).
    view : (n, 2) array-like, optional
        Where to draw the points instead.
    label : str, optional
        What the colours mean.

    Examples
    --------
    >>> import liftcluster as lc
    >>> ax = lc.plot.points([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], ["a", "a", "b"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    from ..combination.combining import Consensus
    from ..comparison.comparison import Comparison
    from ..partitions.partition import as_partition

    flat = look_at(X, view)
    n = len(flat.coordinates)
    ax = _axes(ax)
    if isinstance(by, Consensus):
        by, label = by.partition, label or "consensus"
    if isinstance(by, Comparison):
        _draw_values(ax, flat.coordinates, by.witness(), label or "where they differ")
        ax.set_title(" and ".join(_text(name) for name in by.names), fontsize="medium")
    elif _is_real(by):
        _draw_values(ax, flat.coordinates, np.asarray(by, dtype=np.float64), label or "value")
    else:
        partition = as_partition(by)
        if partition.n != n:
            raise ValueError(f"there are {n} points, but {partition.n} labels to colour them by")
        _draw_clusters(ax, flat.coordinates, partition, label)
    ax.set(xlabel=_text(flat.axes[0], 40), ylabel=_text(flat.axes[1], 40))
    return ax


def composition(found: Consensus, *, ax: Any = None) -> Any:
    """What a consensus is made of: which share of every input's clusters each of its clusters has.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.consensus([[0, 0, 1, 1], [0, 0, 0, 1]], 2, [[0.0], [1.0], [5.0], [6.0]], rng=0)
    >>> lc.plot.composition(found).get_xlabel()
    'clusters of the consensus'
    """
    rows = [(name, c) for name, p in found.inputs.items() for c in p.names]
    place = {row: i for i, row in enumerate(rows)}
    shares = np.zeros((len(rows), found.n_clusters))
    for j, parts in enumerate(found.composition):
        for name, cluster, share in parts:
            shares[place[name, cluster], j] = share
    ax = _axes(ax)
    image = ax.imshow(shares, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for edge in np.cumsum([p.k for p in found.inputs.values()])[:-1]:
        ax.axhline(edge - 0.5, color="white", lw=2)
    _tick(ax.xaxis, [_text(name) for name in found.partition.names])
    _tick(ax.yaxis, [_text(f"{name}: {cluster}", 24) for name, cluster in rows])
    ax.set(xlabel="clusters of the consensus", ylabel="clusters of the inputs")
    ax.figure.colorbar(image, ax=ax, label="share of the input's cluster")
    return ax


def profile(found: Profile, *, ax: Any = None) -> Any:
    """A distance over bandwidths, with a band of two standard errors.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.bandwidth_profile([0, 0, 1], [0, 1, 1], [[0.0], [1.0], [5.0]])
    >>> lc.plot.profile(found).get_xlabel()
    'bandwidth'
    """
    ax = _axes(ax)
    ax.plot(found.bandwidths, found.values, "o-", color=BLUE, label=found.measure)
    if found.errors is not None and found.errors.any():
        low, high = found.values - 2 * found.errors, found.values + 2 * found.errors
        ax.fill_between(
            found.bandwidths, low, high, color=BLUE, alpha=0.2, label="± 2 standard errors"
        )
    ax.axvline(found.median, color=ORANGE, linestyle="--", label="median distance of points")
    ax.set(xscale="log", xlabel="bandwidth", ylabel=f"{found.measure} distance")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def plan(found: Comparison, *, ax: Any = None) -> Any:
    """The transport plan between two partitions: shares of mass, coloured by how far it goes.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.compare([0, 0, 1, 1], [0, 0, 1, 2], [[0.0], [1.0], [5.0], [6.0]])
    >>> sorted(text.get_text() for text in lc.plot.plan(found).texts)
    ['25.0%', '25.0%', '50.0%']
    """
    masses, D, names = _planned(found)
    ax = _axes(ax)
    shown = np.ma.masked_where(masses <= 0.0005, D)
    image = ax.imshow(shown, cmap="cividis", vmin=0, vmax=np.sqrt(2), aspect="auto")
    for i, j in np.argwhere(~np.ma.getmaskarray(shown)):
        _in_cell(ax, i, j, f"{masses[i, j]:.1%}", light=D[i, j] > np.sqrt(2) / 2)
    _tick(ax.xaxis, names[1], slanted=max(map(len, names[1])) > 4)
    _tick(ax.yaxis, names[0])
    a, b = (_text(name) for name in found.names)
    ax.set(xlabel=f"clusters of {b}", ylabel=f"clusters of {a}")
    ax.set_title("share of the mass\nfrom row to column", fontsize="medium")
    ax.figure.colorbar(image, ax=ax, label="distance it travels")
    return ax


def curve(found: Curve, *, ax: Any = None) -> Any:
    """A criterion for the number of clusters, and the number it chose.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1]]
    >>> X = [[0.0], [1.0], [5.0], [6.0], [10.0], [11.0]]
    >>> found = lc.consensus(inputs, "auto", X, rng=0)
    >>> lc.plot.curve(found.curve).get_xlabel()
    'number of clusters'
    """
    ax = _axes(ax)
    ax.plot(found.candidates, found.values, "o-", color=BLUE, label=found.criterion)
    ax.axvline(found.k, color=ORANGE, linestyle="--", label=f"chosen: {found.k}")
    ax.set(xlabel="number of clusters", ylabel=found.criterion)
    ax.legend()
    return ax


def _draw_clusters(ax: Any, Z: FloatArray, partition: Any, label: str | None) -> None:
    noise = partition.labels < 0
    size = _marker_size(len(Z))
    style = {"s": size, "linewidths": 0, "rasterized": len(Z) > _MANY}
    if noise.any():
        ax.scatter(*Z[noise].T, color=_GREY, marker=".", label="in no cluster", **style)
    for i, name in enumerate(partition.names):
        own = partition.labels == i
        marker = MARKERS[i // len(COLOURS) % len(MARKERS)]
        ax.scatter(*Z[own].T, color=_colour(i), marker=marker, label=_text(name), **style)
    handles, labels = ax.get_legend_handles_labels()
    more = len(labels) - _MOST_IN_LEGEND
    title = label if more <= 0 else f"{label or 'clusters'} (and {more} more)"
    ax.legend(
        handles[:_MOST_IN_LEGEND],
        labels[:_MOST_IN_LEGEND],
        title=None if title is None else _text(title, 40),
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        markerscale=max(1.0, np.sqrt(30 / size)),
        fontsize="small",
        frameon=False,
    )


def _draw_values(ax: Any, Z: FloatArray, values: FloatArray, label: str) -> None:
    if values.shape != (len(Z),):
        raise ValueError(f"by must have {len(Z)} numbers, one for each point, got {values.shape}")
    order = np.argsort(values, kind="stable")  # what is largest is on top
    drawn = ax.scatter(
        *Z[order].T,
        c=values[order],
        cmap="cividis",
        s=_marker_size(len(Z)),
        linewidths=0,
        rasterized=len(Z) > _MANY,
    )
    ax.figure.colorbar(drawn, ax=ax, label=_text(label, 40))


def _is_real(by: Any) -> bool:
    """Real numbers are values; whole ones, however stored, are labels."""
    values = np.asarray(by) if not hasattr(by, "memberships") else None
    if values is None or values.ndim != 1 or values.dtype.kind != "f":
        return False
    known = values[~np.isnan(values)]
    return bool((known != np.rint(known)).any())


def _planned(found: Comparison) -> tuple[FloatArray, FloatArray, tuple[list[str], list[str]]]:
    if found.plan is None or found.cluster_distances is None or found.representation is None:
        raise ValueError("there is no plan without points: give compare the argument X")
    a, b = ([_text(name) for name in p.names] for p in found.partitions)
    return found.plan, found.cluster_distances, (a, b)


def _stacked(sizes: FloatArray, order: Any, gap: float = 0.01) -> FloatArray:
    """Where bars begin that stand on top of each other in some order."""
    begin = np.empty(len(sizes))
    begin[order] = np.concatenate([[0.0], np.cumsum(sizes[order] + gap)[:-1]])
    return begin


def _bars(
    ax: Any, x: int, bottoms: FloatArray, sizes: FloatArray, names: list[str], colours: list[str]
) -> None:
    ax.bar(x, sizes, width=0.05, bottom=bottoms, color=colours)
    side, align = (-0.05, "right") if x == 0 else (1.05, "left")
    for bottom, size, name in zip(bottoms, sizes, names, strict=True):
        if size > 0.01:
            ax.text(side, bottom + size / 2, f"{name}  {size:.0%}", ha=align, va="center")


def _in_cell(ax: Any, i: int, j: int, text: str, *, light: bool) -> None:
    ax.text(j, i, text, ha="center", va="center", color="black" if light else "white", fontsize=8)


def _tick(axis: Any, labels: list[str], *, slanted: bool = False) -> None:
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    size = 9 if len(labels) <= 20 else max(3, 180 / len(labels))
    axis.set_ticks(range(len(labels)), labels, fontsize=size, **turned)


def _matrix(D: Any) -> FloatArray:
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"D must be a square matrix of distances, got shape {D.shape}")
    return D


def _names(names: Sequence[Any] | None, m: int) -> list[str]:
    found = [str(i) for i in range(m)] if names is None else [_text(name) for name in names]
    if len(found) != m:
        raise ValueError(f"{m} clusterings need as many names, got {len(found)}")
    return found


def _text(name: Any, most: int = 18) -> str:
    """A name on one short line; a dollar sign must not start a formula, nor _ hide a label."""
    line = " ".join(str(name).split())
    short = line if len(line) <= most else line[: most - 1] + "…"
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _marker_size(n: int) -> float:
    return float(np.clip(20_000 / n, 1, 30))


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(needs("matplotlib", "plotting")) from None
    return plt.subplots(layout="constrained")[1]
