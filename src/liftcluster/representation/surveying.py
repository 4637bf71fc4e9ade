"""The lift for points that are not in memory: the same that they would have there."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.progress import busy, progress_bar
from .._util.typing import Array, IntArray
from .._util.validation import as_points, check_choice, column_ranges, first_bad_cell
from ..kernels.kernel import Gaussian, Kernel, ShiftInvariant, as_kernel
from ..lifts.base import Lift
from ..lifts.choice import (
    DEFAULT_COMPONENTS,
    check_left_out,
    choose_lift,
    make_feature_lift,
    resolve_bandwidth,
)
from ..lifts.fourier import SAMPLINGS
from ..lifts.grid import MOST_AXES
from ..lifts.nystroem import choose_landmarks, nystrom_from_landmarks
from ..lifts.transformer import fit_transformer_lift, is_fitted, is_transformer
from ..streaming.sources import DaskRows, Source
from ..streaming.streams import point_blocks, width_of
from .dask_passes import look_at_chunks
from .lifting import FIRST_COMPONENTS, Box, check_sums_add_up, grid_for, pool_rows

__all__ = ["check_few", "lift_for_sources"]

_WHOLE_UP_TO = 20_000  # points that are read into memory for the exact lift
_MANY = 10**9  # points that a generator is taken to have
_SCALE_SAMPLE = _MIDDLE_SAMPLE = 1000  # as in memory: see scales and lifts.choice


def lift_for_sources(
    sources: list[Source],
    *,
    kernel: Any,
    bandwidth: Any,
    lift: Any,
    n_components: int | None,
    sampling: str,
    tol: float | None,
    rng: np.random.Generator,
    progress: bool | None = None,
) -> Lift | None:
    """The lift that the options ask for, after at most one look at all points; None if exact.

    Bandwidth, centre, landmarks and box are found from the same rows as in memory.
    """
    check_choice(sampling, ("auto", *SAMPLINGS), "sampling")
    check_left_out(
        lift, kernel=kernel, bandwidth=bandwidth, n_components=n_components, sampling=sampling
    )
    if is_transformer(lift):
        lift = _fitted(lift, sources[0])
    if isinstance(lift, Lift):
        check_sums_add_up(lift)
        return lift
    asked = as_kernel(kernel)
    widths = sorted({width_of(X) for X in sources})
    if len(widths) > 1:
        raise ValueError(f"the samples have {widths} features; they must be points of one space")
    if not all(X.origin.repeats for X in sources):
        return _at_first_sight(sources, asked, bandwidth, lift, n_components, sampling, rng)
    with busy("counting the points", show=progress):
        sizes = [X.origin.count(X.part) for X in sources]
    n, d = sum(sizes), widths[0]
    name = choose_lift(lift, n, asked, n_components, spans=True, d=d, sampling=sampling)
    if name == "exact":
        check_few(n, asked)
        return None
    by_grid = lift == "auto" and name == "fourier" and n_components is None and sampling == "auto"
    by_grid = by_grid and isinstance(asked, Gaussian) and d <= MOST_AXES
    if tol is not None and n_components is None and name != "grid":
        n_components = FIRST_COMPONENTS
    wanted = _rows_to_see(sizes, name, _wants_scale(asked, bandwidth), n_components, rng)
    seen, box = _look(sources, wanted, by_grid or name == "grid", n, progress)
    pool = seen.get("pool")
    resolved = resolve_bandwidth(
        asked, seen.get("scale", pool), bandwidth, n_total=n if pool is None else None
    )
    if by_grid and (grid := grid_for(box, n, resolved, tol)) is not None:
        return grid
    if name == "nystrom" and pool is None:
        return nystrom_from_landmarks(resolved, seen["landmarks"])
    return make_feature_lift(
        name,
        np.stack(box) if name == "grid" else seen.get("middle", pool),
        resolved,
        n=n,
        n_components=n_components,
        sampling=sampling,
        rng=rng,
    )


def _rows_to_see(
    sizes: list[int],
    name: str,
    wants_scale: bool,
    n_components: int | None,
    rng: np.random.Generator,
) -> dict[str, list[IntArray]]:
    """Which rows of each source tell what: those that are looked at in memory."""
    if len(sizes) > 1:
        return {"pool": pool_rows(sizes)}
    n = sizes[0]
    rows: dict[str, list[IntArray]] = {}
    if wants_scale:
        chosen = np.random.default_rng(0).choice(n, min(n, _SCALE_SAMPLE), replace=False)
        rows["scale"] = [np.sort(chosen)]
    if name in ("fourier", "structured"):
        rows["middle"] = [np.arange(0, n, max(1, n // _MIDDLE_SAMPLE))]
    if name == "nystrom":
        rho = DEFAULT_COMPONENTS if n_components is None else n_components
        rows["landmarks"] = [choose_landmarks(n, rho, rng)]
    return rows


def _look(
    sources: list[Source],
    wanted: dict[str, list[IntArray]],
    with_box: bool,
    n: int,
    progress: bool | None,
) -> tuple[dict[str, Array], Box | Any]:
    """The wanted rows, and the corners of the box of all points if asked for."""
    found: dict[str, list[Array]] = {what: [] for what in wanted}
    corners: list[Array] = []
    with progress_bar("looking at the points", n, show=progress) as advance:
        for i, X in enumerate(sources):
            own = {what: rows[i] for what, rows in wanted.items()}
            taken = None
            if isinstance(X.origin, DaskRows):
                taken, corner = look_at_chunks(X.origin, own, with_box=with_box)
                corners += corner
            elif not with_box:
                taken = _taken(X, own)
            for what, points in (taken or {}).items():
                found[what].append(points)
            if taken is not None:
                continue
            for block, points in point_blocks(X):
                for what, rows in own.items():
                    first, last = np.searchsorted(rows, [block.start, block.stop])
                    found[what].append(points[rows[first:last] - block.start])
                if with_box:
                    corners += column_ranges(points)
                advance(len(points))
    box = (np.min(corners, axis=0), np.max(corners, axis=0)) if with_box else None
    return {what: np.concatenate(parts) for what, parts in found.items()}, box


def _taken(X: Source, wanted: dict[str, IntArray]) -> dict[str, Array] | None:
    """The wanted rows by themselves, where they can be read so."""
    found = {}
    for what, rows in wanted.items():
        points = X.origin.take(X.part, rows)
        if points is None:
            return None
        found[what] = as_points(points, finite=False)
        if first_bad_cell(found[what]) is not None:
            return None  # who reads all of them says in which row it is
    return found


def _at_first_sight(
    sources: list[Source],
    kernel: Kernel,
    bandwidth: Any,
    lift: Any,
    n_components: int | None,
    sampling: str,
    rng: np.random.Generator,
) -> Lift:
    """A lift for points that can be read only once, whose first block is the centre."""
    X = next(X for X in sources if not X.origin.repeats)
    d = width_of(X)
    name = choose_lift(lift, _MANY, kernel, n_components, spans=True, d=d, sampling=sampling)
    needs = f"lift={name!r}" if name not in ("fourier", "structured") else None
    if _wants_scale(kernel, bandwidth):
        needs = f"bandwidth={bandwidth!r}"
    if needs is not None:
        raise ValueError(
            f"X comes from a generator, which can be read only once, but {needs} has to look at "
            "the points before they are lifted; give Blocks a function that returns a new "
            "generator each time, or give a number as bandwidth, or a Lift"
        )
    return make_feature_lift(
        name,
        as_points(X.origin.first(X.part)),
        resolve_bandwidth(kernel, None, bandwidth),
        n=_MANY,
        n_components=n_components,
        sampling=sampling,
        rng=rng,
    )


def _wants_scale(kernel: Kernel, bandwidth: Any) -> bool:
    has_none = isinstance(kernel, ShiftInvariant) and kernel.bandwidth is None
    return has_none and isinstance(bandwidth, str)


def check_few(n: int, kernel: Kernel) -> None:
    """Refuse the exact lift for more points than are read whole."""
    if n > _WHOLE_UP_TO:
        other = "fourier" if isinstance(kernel, ShiftInvariant) else "nystrom"
        raise ValueError(
            f"the exact lift needs all points in memory, and there are {n:,}, more than "
            f'{_WHOLE_UP_TO:,}; use lift="{other}", or load a sample of them'
        )


def _fitted(transformer: Any, X: Source) -> Lift:
    if not is_fitted(transformer):
        raise ValueError(
            "a transformer for points that come in blocks must be fitted; fit it on a sample of "
            "them first"
        )
    return fit_transformer_lift(transformer, as_points(X.origin.first(X.part))[:1])
