"""Arrays as base64, and the data of a page in few bytes: many clusterings have many pairs."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..._util.typing import Array, FloatArray

_MIN_RANGE = 0.05  # of colours, so that tiny differences look pale
KINDS = ("stayed", "moved", "split", "merged", "rearranged", "spilled")


def pack(values: Array) -> dict[str, str]:
    """Numbers as little-endian base64, a fifth of the size of JSON."""
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"dtype": values.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}


def quantise(values: FloatArray, low: float, high: float) -> dict[str, Any]:
    """Values in [low, high] as bytes, which is enough for colours."""
    levels = np.clip(np.rint((values - low) * (255 / (high - low))), 0, 255).astype(np.uint8)
    return {**pack(levels), "low": low, "high": high}


def pack_page(data: dict[str, Any]) -> dict[str, Any]:
    """The data as they stand in the page, where ``data.js`` reads them.

    Measures are exact: a constant, the triangle of a symmetric matrix with its diagonal, or all of
    it. The flows of all pairs are one after the other, with float32 for masses and distances;
    the clusters and sizes of moves follow from the number of the move that each flow has.
    """
    measures = {
        name: {**found, **{key: _pack_matrix(found[key]) for key in ("values", "errors")}}
        for name, found in data["measures"].items()
    }
    return {**data, "measures": measures, "pairs": _pack_pairs(data["pairs"])}


def _pack_matrix(rows: list[list[float | None]]) -> dict[str, Any]:
    A = np.array(rows, dtype=np.float64)  # None becomes NaN
    if np.array_equal(A, np.full_like(A, A[0, -1]), equal_nan=True):
        return {"constant": rows[0][-1]}
    if np.array_equal(A, A.T, equal_nan=True):
        return {"triangle": pack(A[np.triu_indices(len(A))])}
    return {"full": pack(A.ravel())}


def _pack_pairs(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    reasons = [tuple(pair["left_out"].items()) for pair in pairs]
    distinct = list(dict.fromkeys(reasons))
    cells = np.array([distance for pair in pairs for *_, distance in pair["cells"]])
    flows = np.array([flow for pair in pairs for flow in pair["flows"]]).reshape(-1, 4)
    return {
        "counts": pack(_smallest([len(pair["flows"]) for pair in pairs])),
        "sources": pack(_smallest(flows[:, 0])),
        "targets": pack(_smallest(flows[:, 1])),
        "masses": pack(flows[:, 2].astype(np.float32)),
        "distances": pack(flows[:, 3].astype(np.float32)),
        "moves": pack(_smallest(list(chain.from_iterable(map(_move_of_flows, pairs))))),
        "kinds": ["".join(str(KINDS.index(m["kind"])) for m in pair["moves"]) for pair in pairs],
        "left_out": [dict(reason) for reason in distinct],
        "left_out_of": pack(_smallest([distinct.index(reason) for reason in reasons])),
        "cell_counts": pack(_smallest([len(pair["cells"]) for pair in pairs])),
        "cell_distances": quantise(cells, 0.0, max(cells.max(initial=0.0), _MIN_RANGE)),
    }


def _move_of_flows(pair: dict[str, Any]) -> list[int]:
    """The number of the move that each flow of a pair belongs to."""
    spilled, grouped = {}, {}
    for number, move in enumerate(pair["moves"]):
        if move["kind"] == "spilled":
            spilled[move["sources"][0], move["targets"][0]] = number
        else:
            grouped.update(dict.fromkeys(move["sources"], number))
    return [spilled.get((i, j), grouped.get(i, 0)) for i, j, *_ in pair["flows"]]


def _smallest(values: Sequence[int] | Array) -> Array:
    """Non-negative integers in the smallest type."""
    values = np.asarray(values)
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
