"""A process of its own that reads an h5ad file: a damaged one can bring down its library.

Run as a script, ``python h5ad_reader.py FILE MOST_BYTES``. It answers each line of JSON on stdin
by a line of JSON on stdout, after which come the bytes of the arrays that this names. It imports
nothing of the package, and so starts as quickly as anndata does.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from typing import IO, Any

import numpy as np

__all__ = ["main"]


class Refused(Exception):
    """A file that is whole, and still not one to read."""


def main(path: str, most_bytes: int) -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries may print what they like
    warnings.simplefilter("ignore")
    data: Any = None
    for line in sys.stdin:
        arrays: dict[str, Any] = {}
        try:
            if data is None:
                data = _open(path, most_bytes)
            request = json.loads(line)
            answer = _names(data) if request is None else _read(data, request, most_bytes, arrays)
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).split("\n")[0]
            answer = {"refused" if isinstance(error, Refused) else "damaged": reason}
        _send(answers, answer, arrays)


def _open(path: str, most_bytes: int) -> Any:
    anndata, h5py = importlib.import_module("anndata"), importlib.import_module("h5py")
    with h5py.File(path, "r") as file:
        _check(file, most_bytes)
    return anndata.read_h5ad(path, backed="r")


def _check(file: Any, most_bytes: int) -> None:
    """No more than can be held, for anndata reads all but X; and nothing out of other files."""
    h5py = importlib.import_module("h5py")
    total = 0

    def look(name: str, thing: Any) -> None:
        nonlocal total
        if isinstance(thing, h5py.Dataset):
            if thing.external or thing.is_virtual:
                raise Refused(f"its {name!r} lies in another file; copy it in")
            if name.split("/")[0] not in ("X", "raw"):
                total += int(thing.size or 0) * max(thing.dtype.itemsize, 1)
        elif isinstance(thing, h5py.Group):
            for child in thing:
                if isinstance(thing.get(child, getlink=True), h5py.ExternalLink):
                    raise Refused(f"its {name}/{child} lies in another file; copy it in")

    look("", file)
    file.visititems(look)
    _check_size(total, most_bytes)


def _check_size(n_bytes: int, most_bytes: int) -> None:
    if n_bytes > most_bytes:
        raise Refused(f"too large: {n_bytes}")


def _names(data: Any) -> dict[str, Any]:
    return {"obs": [str(name) for name in data.obs.columns], "obsm": list(data.obsm)}


def _read(
    data: Any, request: dict[str, list[str]], most_bytes: int, arrays: dict[str, Any]
) -> dict[str, Any]:
    """Numbers as arrays; labels as arrays of codes, and what the codes stand for."""
    for name in request["numbers"]:
        arrays[name] = np.ascontiguousarray(_block(data, name, most_bytes))
    values = {}
    for name in request["texts"]:
        codes, values[name] = _codes(data.obs_names if name == "obs_names" else data.obs[name])
        arrays["codes of " + name] = codes
    return {"values": values}


def _block(data: Any, name: str, most_bytes: int) -> Any:
    if name == "X":
        _check_size(8 * data.n_obs * data.n_vars, most_bytes)
        block = data.X[:]
    elif name in data.obsm:
        block = data.obsm[name]
        _check_size(8 * int(np.prod(block.shape)), most_bytes)
    else:
        block = data.obs[name]
    array = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
    # What is no number is refused by who asked, who only needs to know what it is.
    return array if array.dtype.kind in "fiub" else np.zeros(len(array), "S1")


def _codes(column: Any) -> tuple[Any, list[Any]]:
    codes, uniques = importlib.import_module("pandas").factorize(column)
    values = [v.item() if isinstance(v, np.generic) else v for v in list(uniques)]
    plain = [v if isinstance(v, str | bool | int | float) else str(v) for v in values]
    return np.asarray(codes, dtype=np.int64), plain


def _send(answers: IO[bytes], answer: dict[str, Any], arrays: dict[str, Any]) -> None:
    shapes = {name: [a.dtype.str, list(a.shape)] for name, a in arrays.items()}
    answers.write(json.dumps({**answer, "arrays": shapes}).encode() + b"\n")
    for array in arrays.values():
        answers.write(memoryview(array).cast("B") if array.size else b"")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
