"""What was found as plain values: all that a page shows, ready for JSON."""

from __future__ import annotations

import base64
import math
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from ..._util.typing import Array, FloatArray
from ..._util.version import __version__
from ...comparison.comparison import Comparison, Move, find_moves, summarise
from ...comparison.measures.registry import MEASURES
from ..colours import COLOURS, match_colours
from ..layout import lay_out
from .findings import Findings
from .text import main_change, retold

__all__ = ["FORMAT", "contents"]

FORMAT = "liftcluster report 1"
_ROUNDING = 1e-12  # a flow below this is the solver's arithmetic
_LEAST_RANGE = 0.05  # a witness that varies less is drawn pale: the two hardly differ anywhere
_MOST_LINES = 12


def contents(found: Findings) -> dict[str, Any]:
    """Numbers as numbers, one for each point as base64 of small integers."""
    D = found.matrices["lift_emd"].values
    coordinates, stress = lay_out(D)
    return {
        "format": FORMAT,
        "clusterings": _clusterings(found),
        "palette": list(COLOURS),
        "measures": _measures(found),
        "pairs": [_pair(pair, comparison, found) for pair, comparison in found.pairs.items()],
        "map": {"coordinates": coordinates.tolist(), "stress": stress},
        "consensus": _consensus(found),
        "points": _points(found),
        "settings": _settings(found),
        "errors_are_random": found.is_random,
        "notes": found.notes,
    }


def packed(values: Array) -> dict[str, str]:
    """Small integers as base64, least byte first: a fifth of what JSON would take."""
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"dtype": values.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}


def quantised(values: FloatArray, low: float, high: float) -> dict[str, Any]:
    """Values in [low, high] as bytes: enough for a colour, and an eighth of the size."""
    levels = np.clip(np.rint((values - low) * (255 / (high - low))), 0, 255).astype(np.uint8)
    return {**packed(levels), "low": low, "high": high}


def _clusterings(found: Findings) -> list[dict[str, Any]]:
    m = len(found.asked.partitions)
    colours = _colours(found)
    return [
        {
            "name": name,
            "k": p.k,
            "hard": p.is_hard,
            "is_consensus": i >= m,
            "noise_mass": p.noise_mass,
            "clusters": [str(cluster) for cluster in p.names],
            "masses": p.masses.tolist(),
            "colours": colours[i],
        }
        for i, (name, p) in enumerate(found.partitions.items())
    ]


def _colours(found: Findings) -> list[list[int]]:
    """Alike clusters of different clusterings in one colour: that of the most central one."""
    sizes = [p.k for p in found.partitions.values()]
    means = found.matrices["lift_emd"].values.sum(axis=1)
    reference = len(sizes) - 1 if found.consensus is not None else int(means.argmin())
    plans: list[FloatArray | None] = [None] * len(sizes)
    for (i, j), comparison in found.pairs.items():
        assert comparison.plan is not None
        if j == reference:
            plans[i] = comparison.plan
        elif i == reference:
            plans[j] = comparison.plan.T
    return match_colours(sizes, plans)


def _measures(found: Findings) -> dict[str, Any]:
    return {
        name: {
            "title": MEASURES[name].title,
            "needs_points": MEASURES[name].needs != "table",
            "is_metric": MEASURES[name].is_metric,
            "is_symmetric": MEASURES[name].is_symmetric,
            "reference": MEASURES[name].reference,
            "values": _finite(matrix.values),
            "errors": _finite(matrix.errors),
        }
        for name, matrix in found.matrices.items()
    }


def _pair(pair: tuple[int, int], comparison: Comparison, found: Findings) -> dict[str, Any]:
    plan, D = comparison.plan, comparison.cluster_distances
    assert plan is not None
    assert D is not None
    a, b = comparison.partitions
    return {
        "first": pair[0],
        "second": pair[1],
        "flows": [
            [int(i), int(j), float(plan[i, j]), float(D[i, j])]
            for i, j in np.argwhere(plan > _ROUNDING)
        ],
        "forward": _told(comparison.moves),
        "backward": _told(find_moves(plan.T, D.T, b.names, a.names)),
        "left_out": dict(comparison.left_out),
        "witness": _quantised_witness(found.witnesses[pair]),
    }


def _quantised_witness(witness: FloatArray) -> dict[str, Any]:
    low = float(witness.min())
    return quantised(witness, low, max(float(witness.max()), low + _LEAST_RANGE))


def _told(moves: list[Move]) -> dict[str, Any]:
    lines = summarise(retold(moves))
    more = len(lines) - _MOST_LINES
    shown = lines[:_MOST_LINES] + ([f"… and {more} more"] if more > 0 else [])
    return {"lines": shown, "main": main_change(moves)}


def _consensus(found: Findings) -> dict[str, Any] | None:
    combined = found.consensus
    if combined is None:
        return None
    curve = combined.curve
    return {
        "method": combined.method,
        "n_clusters": combined.n_clusters,
        "score": combined.score,
        "mean_distance": combined.mean_distance,
        "best_input_distance": combined.best_input_distance,
        "mean_confidence": float(combined.confidence.mean()),
        "composition": [
            [[str(name), str(cluster), share] for name, cluster, share in parts[:20]]
            for parts in combined.composition
        ],
        "curve": None
        if curve is None
        else {
            "criterion": curve.criterion,
            "candidates": [int(k) for k in curve.candidates],
            "values": _finite(np.asarray(curve.values, dtype=np.float64)),
            "chosen": int(curve.k),
        },
    }


def _points(found: Findings) -> dict[str, Any]:
    shown, view = found.shown, found.asked.view
    low, high = view.coordinates.min(axis=0), view.coordinates.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    grid = np.rint((view.coordinates[shown] - low) / span * 65535).astype(np.uint16)
    combined = found.consensus
    return {
        "n": next(iter(found.partitions.values())).n,
        "shown": len(shown),
        "witnessed": len(found.witnesses[0, 1]),
        "axes": list(view.axes),
        "description": view.description,
        "explained": None if view.explained is None else list(view.explained),
        "low": low.tolist(),
        "high": high.tolist(),
        "order": packed(shown.astype(np.uint32)),
        "x": packed(grid[:, 0]),
        "y": packed(grid[:, 1]),
        "labels": [_labels(p.labels[shown], p.k) for p in found.partitions.values()],
        "confidence": None if combined is None else quantised(combined.confidence[shown], 0.0, 1.0),
    }


def _labels(labels: Any, k: int) -> dict[str, str]:
    """Cluster numbers; the largest number of the type is noise."""
    dtype = np.uint8 if k < 255 else np.uint16 if k < 65535 else np.uint32
    noise = np.iinfo(dtype).max
    return packed(np.where(labels < 0, noise, labels).astype(dtype))


def _settings(found: Findings) -> list[list[str]]:
    asked, rep = found.asked, found.representation
    n = next(iter(found.partitions.values())).n
    weights = next(iter(found.partitions.values())).weights
    assert rep.lift is not None
    rows = [
        ["points", f"{n:,}" + (f" × {np.shape(asked.X)[1]:,}" if np.ndim(asked.X) == 2 else "")],
        ["weights", "equal" if np.ptp(weights) == 0 else "given"],
        ["kernel", _kernel(rep.lift)],
        ["bandwidth rule", str(asked.lifting["bandwidth"])],
        ["lift", f"{rep.lift.describe()} (asked for: {_name(asked.lifting['lift'])})"],
        ["largest error of LiftEMD", _largest_error(found)],
        ["pictures of points", asked.view.description],
    ]
    if found.consensus is not None:
        rows += _consensus_settings(found)
    versions = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "scikit-learn", "POT"))
    rows += [
        ["seed", str(asked.seed)],
        ["made by", f"liftcluster {__version__}"],
        ["with", f"Python {platform.python_version()}, {versions}"],
    ]
    return rows


def _consensus_settings(found: Findings) -> list[list[str]]:
    combined = found.consensus
    assert combined is not None
    rows = [["consensus", f"{combined.method}, clusters asked for: {found.asked.consensus}"]]
    if combined.representation is not None and combined.representation.lift is not None:
        lift = combined.representation.lift
        rows.append(["lift of the consensus", f"{lift.describe()}; {_kernel(lift)}"])
    if combined.score is not None:
        rows.append(["liftSSD of the consensus", f"{combined.score:.4f}"])
    return rows


def _kernel(lift: Any) -> str:
    kernel = getattr(lift, "kernel", None)
    if kernel is None:
        return "that of the features"
    width = getattr(kernel, "bandwidth", None)
    if isinstance(width, float):
        return f"{kernel.name}, bandwidth {width:.4g}"
    return str(kernel.name) if width is None else f"{kernel.name}, bandwidths {width}"


def _name(lift: Any) -> str:
    return lift if isinstance(lift, str) else type(lift).__name__


def _largest_error(found: Findings) -> str:
    errors = found.matrices["lift_emd"].errors
    off = ~np.eye(len(errors), dtype=bool)
    if np.isnan(errors[off]).any():
        return "not known for this lift"
    largest = float(errors[off].max())
    if largest == 0:
        return "none: exact"
    return f"{largest:.2g} ({'standard error' if found.is_random else 'a sure bound'})"


def _finite(values: FloatArray) -> Any:
    """Nested lists in which None stands for what is no number."""
    if values.ndim > 1:
        return [_finite(row) for row in values]
    return [float(v) if math.isfinite(v) else None for v in values]
