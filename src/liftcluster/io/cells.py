"""Tables of cells: h5ad files, read by a process of their own."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import weakref
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._util.extras import needs
from .._util.memory import most_file_bytes
from .._util.typing import Array
from .table import InputError, Table, as_numbers, check_size

__all__ = ["AnnDataTable"]

_PATIENCE = 5.0  # seconds in which a reader may end by itself
_READER = Path(__file__).with_name("h5ad_reader.py")


class AnnDataTable(Table):
    """Columns of .obs, blocks of .obsm, and X, of an h5ad file.

    The library beneath, libhdf5, can break down on a damaged file and take its process with it.
    """

    def __init__(self, path: Path) -> None:
        if find_spec("anndata") is None:
            raise InputError(needs("anndata", f"reading {path}"))
        self.path = path
        self._reader = subprocess.Popen(
            [sys.executable, "-P", str(_READER), str(path), str(most_file_bytes())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _close, self._reader)
        found, _ = self._ask(None)
        self.obs, self.obsm = set(found["obs"]), set(found["obsm"])
        self.names = ["obs_names", *found["obs"], *found["obsm"], "X"]

    def likely_points(self, taken: Collection[str]) -> list[str]:
        """The principal components, as scanpy does; the expression matrix where there are none."""
        return ["X_pca"] if "X_pca" in self.obsm else ["X"]

    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Array]:
        for name in texts:
            if name != "obs_names" and name not in self.obs:
                raise InputError(
                    f"{self.path}, {name!r} is not in .obs, so it is not labels; for soft "
                    f"memberships use --memberships {name}"
                )
        found, arrays = self._ask({"numbers": list(numbers), "texts": list(texts)})
        columns = {name: as_numbers(arrays[name], self.path, name) for name in numbers}
        return columns | {
            name: _labels(arrays["codes of " + name], found["values"][name]) for name in texts
        }

    def _ask(self, request: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        """What the reader answers, or an error that says what is wrong with the file."""
        stdin, stdout = self._reader.stdin, self._reader.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
            answer = json.loads(stdout.readline())
            arrays = {name: _array(stdout, *kind) for name, kind in answer["arrays"].items()}
        except (OSError, ValueError):  # it is no more
            raise InputError(
                f"{self.path} is not a whole h5ad file: the library that reads it broke down; get "
                "a whole copy of it"
            ) from None
        if "damaged" in answer:
            raise InputError(f"{self.path} is not a whole h5ad file: {answer['damaged']}")
        if "refused" in answer:
            large, _, size = answer["refused"].partition("too large: ")
            if size:
                check_size(int(size), self.path)
            raise InputError(f"{self.path} is not read: {large}")
        return answer, arrays


def _array(stream: IO[bytes], kind: str, shape: list[int]) -> Array:
    array = np.empty(math.prod(shape) * np.dtype(kind).itemsize, dtype=np.uint8)
    view = memoryview(array.data)
    while len(view):
        count = stream.readinto(view)  # type: ignore[attr-defined]
        if not count:
            raise ValueError("the reader has ended")
        view = view[count:]
    return array.view(kind).reshape(shape)


def _labels(codes: Array, values: list[Any]) -> Array:
    """Values by their codes; -1 is none."""
    found = np.empty(len(values) + 1, dtype=object)
    found[: len(values)] = values
    return found[codes]


def _close(reader: subprocess.Popen[bytes]) -> None:
    """The end of its input is the reader's end, unless it is busy with something."""
    for stream in (reader.stdin, reader.stdout):
        if stream is not None:
            with suppress(OSError):  # of what was still to be said to who is no more
                stream.close()
    try:
        reader.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        reader.kill()
        reader.wait()
