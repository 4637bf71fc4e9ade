"""A script that reads an h5ad file in a separate process, which a damaged file can crash.

Usage: ``python h5ad_worker.py FILE MAX_BYTES``. It answers each line of JSON on stdin with a line
of JSON on stdout, followed by the bytes of the arrays that this lists. It imports nothing from
liftcluster, to start fast.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from typing import Any, NoReturn

import numpy as np


class RejectedError(Exception):
    """Raised for a valid file that is not read; its argument is the answer."""


def main(path: str, max_bytes: int) -> None:
    """Answer requests until the end of stdin."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # discard what libraries print
    warnings.simplefilter("ignore")
    data: Any = None
    for line in sys.stdin:
        arrays: dict[str, Any] = {}
        try:
            data = _open(path, max_bytes) if data is None else data
            answer = _read(data, json.loads(line), max_bytes, arrays)
        except RejectedError as error:
            answer = error.args[0]
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).split("\n")[0]
            answer = {"error": f"is not a valid h5ad file: {reason}"}
        shapes = {name: [a.dtype.str, list(a.shape)] for name, a in arrays.items()}
        answers.write(json.dumps({**answer, "arrays": shapes}).encode() + b"\n")
        for array in arrays.values():
            answers.write(memoryview(array).cast("B") if array.size else b"")
        answers.flush()


def _open(path: str, max_bytes: int) -> Any:
    """Open the file, unless it has external data or is too large: X is not read yet."""
    anndata, h5py = importlib.import_module("anndata"), importlib.import_module("h5py")
    total = 0

    def visit(name: str, item: Any) -> None:
        nonlocal total
        if isinstance(item, h5py.Dataset):
            if item.external or item.is_virtual:
                _raise_external(name)
            if name.split("/")[0] not in ("X", "raw"):
                total += int(item.size or 0) * max(item.dtype.itemsize, 1)
        elif isinstance(item, h5py.Group):
            for child in item:
                if isinstance(item.get(child, getlink=True), h5py.ExternalLink):
                    _raise_external(f"{name}/{child}")

    with h5py.File(path, "r") as file:
        visit("", file)
        file.visititems(visit)
    _check_size(total, max_bytes)
    return anndata.read_h5ad(path, backed="r")


def _raise_external(name: str) -> NoReturn:
    raise RejectedError({"error": f"stores {name!r} in another file; copy the data into this file"})


def _check_size(n_bytes: int, max_bytes: int) -> None:
    if n_bytes > max_bytes:
        raise RejectedError({"too_large": n_bytes})


def _read(
    data: Any, request: dict[str, list[str]] | None, max_bytes: int, arrays: dict[str, Any]
) -> dict[str, Any]:
    """All names if there is no request, else add to ``arrays`` and return the values of codes."""
    if request is None:
        kinds = {str(name): data.obs[name].dtype.kind for name in data.obs.columns}
        return {"obs": kinds, "obsm": list(data.obsm)}
    for name in request["numbers"]:
        arrays[name] = np.ascontiguousarray(_block(data, name, max_bytes))
    values, categorical = {}, []
    for name in request["texts"]:
        column = data.obs_names.to_series() if name == "obs_names" else data.obs[name]
        arrays["codes of " + name], values[name] = _codes(column)
        categorical += [name] if hasattr(column, "cat") else []
    return {"values": values, "categorical": categorical}


def _block(data: Any, name: str, max_bytes: int) -> Any:
    if name == "X":
        _check_size(8 * data.n_obs * data.n_vars, max_bytes)
        X = data.X  # anndata 0.10 cannot slice all of a sparse matrix in a file
        block = X.to_memory() if hasattr(X, "to_memory") else X[:]
    elif name in data.obsm:
        block = data.obsm[name]
        _check_size(8 * int(np.prod(block.shape)), max_bytes)
    else:
        block = data.obs[name]
    array = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
    # The caller rejects arrays that are not numeric: their content is not needed.
    return array if array.dtype.kind in "fiub" else np.zeros(len(array), "S1")


def _codes(column: Any) -> tuple[Any, list[Any]]:
    """Codes and their values: categories in their own order, others in that of appearance."""
    if hasattr(column, "cat"):
        codes, uniques = column.cat.codes, column.cat.categories
    else:
        codes, uniques = importlib.import_module("pandas").factorize(column)
    values = [v.item() if isinstance(v, np.generic) else v for v in list(uniques)]
    plain = [v if isinstance(v, str | bool | int | float) else str(v) for v in values]
    return np.asarray(codes, dtype=np.int64), plain


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
