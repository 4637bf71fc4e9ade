"""The data of the page: the results as plain values, ready for JSON."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.typing import FloatArray
from ..._util.version import __version__
from ...comparison.comparison import Comparison
from ...comparison.measures.registry import MEASURES
from ..drawing import COLOURS, match_colours
from ..layout import embed_distances, order_by_similarity
from .columns import pack_table
from .differences import shared_cells
from .levels import pack_codes
from .packing import pack, quantise
from .summary import Results
from .trust import trust_data

if TYPE_CHECKING:
    from ...comparison.drifting import Drift

_ROUNDING = 1e-12  # smaller flows are rounding errors of the solver


def page_data(results: Results) -> dict[str, Any]:
    """All values on the page; those with one entry per point are packed."""
    coordinates, stress = embed_distances(results.matrices["lift_emd"].values)
    parts = list(results.partitions.values())
    # No point of two samples is in clusters of both.
    n_compared, cells = shared_cells({} if results.drift else results.pairs, parts, results.shown)
    return {
        "format": "liftcluster report 2",
        "clusterings": _clusterings(results),
        "palette": list(COLOURS),
        "measures": _measures(results),
        "pairs": [_pair(pair, found, cells.get(pair, [])) for pair, found in results.pairs.items()],
        "order": order_by_similarity(results.matrices["lift_emd"].values).tolist(),
        "map": {"coordinates": coordinates.tolist(), "stress": stress},
        "consensus": _consensus(results),
        "trust": trust_data(results.trust, results.partitions),
        "drift": _drift(results.drift),
        "points": {"compared": n_compared, **_points(results)},
        "table": pack_table(results.table, results.shown, results.profiles.separation),
        "profiles": results.profiles.data,
        "settings": _settings(results),
        "errors_are_random": results.is_random,
        "notes": results.notes,
    }


def _clusterings(results: Results) -> list[dict[str, Any]]:
    colours = _colours(results)
    parts = list(results.partitions.values())
    # Shares of samples are those of their own points.
    samples = parts if results.drift is None else [results.drift.a, results.drift.b]
    return [
        {
            "name": name,
            "k": p.k,
            "hard": p.is_hard,
            "is_consensus": i >= results.n_inputs,
            "noise_mass": samples[i].noise_mass,
            "clusters": [str(cluster) for cluster in p.names],
            "masses": samples[i].masses.tolist(),
            "colours": colours[i],
        }
        for i, (name, p) in enumerate(zip(results.partitions, parts, strict=True))
    ]


def _colours(results: Results) -> list[list[int]]:
    """Colour numbers of all clusters, matched to the consensus or to the most central input."""
    sizes = [p.k for p in results.partitions.values()]
    totals = results.matrices["lift_emd"].values.sum(axis=1)
    reference = len(sizes) - 1 if results.consensus is not None else int(totals.argmin())
    plans: list[FloatArray | None] = [None] * len(sizes)
    for (i, j), comparison in results.pairs.items():
        if j == reference:
            plans[i] = comparison.plan
        elif i == reference:
            plans[j] = np.asarray(comparison.plan).T
    return match_colours(sizes, plans)


def _measures(results: Results) -> dict[str, Any]:
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
        for name, matrix in results.matrices.items()
    }


def _pair(pair: tuple[int, int], comparison: Comparison, cells: list[Any]) -> dict[str, Any]:
    plan, D = np.asarray(comparison.plan), np.asarray(comparison.cluster_distances)
    numbers = [{name: i for i, name in enumerate(p.names)} for p in comparison.partitions]
    return {
        "first": pair[0],
        "second": pair[1],
        "flows": _flows(plan, D),
        "moves": [
            {
                "kind": move.kind,
                "sources": [numbers[0][name] for name in move.sources],
                "targets": [numbers[1][name] for name in move.targets],
                "mass": move.mass,
                "cost": move.cost,
            }
            for move in comparison.moves
        ],
        "left_out": dict(comparison.left_out),
        "cells": cells,
    }


def _flows(plan: FloatArray, D: FloatArray) -> list[list[Any]]:
    """Row, column, mass and distance of each flow of a plan."""
    i, j = np.nonzero(plan > _ROUNDING)
    columns = i.tolist(), j.tolist(), plan[i, j].tolist(), D[i, j].tolist()
    return [list(flow) for flow in zip(*columns, strict=True)]


def _consensus(results: Results) -> dict[str, Any] | None:
    combined = results.consensus
    if combined is None:
        return None
    curve = combined.curve
    keys = ("method", "n_clusters", "score", "mean_distance", "best_input_distance",
            "label_distance", "best_input_label_distance")  # fmt: skip
    return {
        **{key: getattr(combined, key) for key in keys},
        "overruled": len(combined.overruled),
        "mean_confidence": float(combined.confidence.mean()),
        "composition": [
            [[str(name), str(cluster), share] for name, cluster, share in parts[:20]]
            for parts in combined.composition
        ],
        "n_parts": [len(parts) for parts in combined.composition],
        "reason": None if combined.decision is None else combined.decision.reason,
        "curve": None
        if curve is None
        else {
            "criterion": curve.criterion,
            "candidates": [int(k) for k in curve.candidates],
            "values": _finite(np.asarray(curve.values, dtype=np.float64)),
            "chosen": int(curve.k),
        },
    }


def _drift(found: Drift | None) -> dict[str, Any] | None:
    """Distances of two samples, and of random splits of both together."""
    if found is None:
        return None
    return {
        "p_value": found.p_value,
        "sizes": [found.a.n, found.b.n],
        "n_splits": len(next(iter(found.null.values()))),
        "measures": [
            {
                "measure": name,
                "value": found.values[name],
                "mean": float(null.mean()),
                "deviation": float(null.std()),
                "p_value": found.p_values[name],
            }
            for name, null in found.null.items()
        ],
    }


def _points(results: Results) -> dict[str, Any]:
    shown, view = results.shown, results.view
    low, high = view.coordinates.min(axis=0), view.coordinates.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    grid = np.rint((view.coordinates[shown] - low) / span * 65535).astype(np.uint16)
    combined = results.consensus
    return {
        "n": len(view.coordinates),
        "shown": len(shown),
        "axes": list(view.axes),
        "description": view.description,
        "explained": None if view.explained is None else list(view.explained),
        "low": low.tolist(),
        "high": high.tolist(),
        "order": pack(shown.astype(np.uint32)),
        "x": pack(grid[:, 0]),
        "y": pack(grid[:, 1]),
        "labels": [pack_codes(p.labels[shown], p.k) for p in results.partitions.values()],
        "confidence": None if combined is None else quantise(combined.confidence[shown], 0.0, 1.0),
    }


def _settings(results: Results) -> list[list[str]]:
    """Names and values for the table of settings."""
    lift, wanted = results.lift, results.lifting["lift"]
    wanted = wanted if isinstance(wanted, str) else type(wanted).__name__
    d = f" × {np.shape(results.X)[1]:,}" if np.ndim(results.X) == 2 else ""
    weights = next(iter(results.partitions.values())).weights
    versions = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "scikit-learn", "POT"))
    return [
        *([what, value] for what, value in results.run),
        ["points", f"{len(weights):,}{d}"],
        ["weights", "equal" if np.ptp(weights) == 0 else "given"],
        ["kernel", _kernel(lift)],
        ["bandwidth rule", str(results.lifting["bandwidth"])],
        ["lift", f"{lift.describe()} (setting: {wanted})"],
        ["largest error of LiftEMD", _largest_error(results)],
        ["plots of points", results.view.description],
        *_consensus_settings(results),
        ["seed", str(results.seed)],
        ["version", f"liftcluster {__version__}"],
        ["dependencies", f"Python {platform.python_version()}, {versions}"],
    ]


def _consensus_settings(results: Results) -> list[list[str]]:
    combined = results.consensus
    if combined is None:
        return []
    rows = [["consensus", f"{combined.method}, n_clusters={results.n_clusters}"]]
    if combined.decision is not None:
        rows.append(["chosen because", combined.decision.reason])
    if combined.representation is not None and combined.representation.lift is not None:
        lift = combined.representation.lift
        rows.append(["lift of the consensus", f"{lift.describe()}; {_kernel(lift)}"])
    if combined.score is not None:
        rows.append(["liftSSD of the consensus", f"{combined.score:.4f}"])
    return rows


def _kernel(lift: Any) -> str:
    kernel = getattr(lift, "kernel", None)
    if kernel is None:
        return "inner product of the features"
    width = getattr(kernel, "bandwidth", None)
    if isinstance(width, float):
        return f"{kernel.name}, bandwidth {width:.4g}"
    return str(kernel.name) if width is None else f"{kernel.name}, bandwidths {width}"


def _largest_error(results: Results) -> str:
    errors = results.matrices["lift_emd"].errors
    largest = float(errors[~np.eye(len(errors), dtype=bool)].max())
    if math.isnan(largest):
        return "unknown for this lift"
    if largest == 0:
        return "none: exact"
    return f"{largest:.2g} ({'standard error' if results.is_random else 'deterministic bound'})"


def _finite(values: FloatArray) -> Any:
    """Nested lists, with None for NaN and infinity, which JSON does not have."""
    found = values.astype(object)
    found[~np.isfinite(values)] = None
    return found.tolist()
