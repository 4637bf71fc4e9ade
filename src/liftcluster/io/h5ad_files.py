"""Tables in h5ad files (AnnData), read by a separate process."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import weakref
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from .._util.extras import needs
from .._util.memory import max_file_bytes
from .._util.typing import Array, FloatArray
from .anndata_cells import NOISE, NOT_LABELS
from .input_checks import InputError
from .table import Table, as_numbers, check_size

_TIMEOUT = 5.0  # seconds for the worker to exit by itself
_WORKER = Path(__file__).with_name("h5ad_worker.py")


class Categories:
    """Labels as codes of categories, in the order that these have in the file; -1 is missing.

    What is used of a pandas Categorical, without the time to import pandas.

    >>> labels = Categories(np.array([1, 0, -1]), ["T", "B"])
    >>> labels[[0, 2]].tolist()
    ['B', None]
    """

    def __init__(self, codes: Array, categories: Sequence[Any]) -> None:
        self.codes, self.categories = codes, categories

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Categories:
        return Categories(self.codes[rows], self.categories)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array([*self.categories, None], dtype=object)[self.codes]

    def tolist(self) -> list[Any]:
        return np.asarray(self).tolist()


class AnnDataTable(Table):
    """The columns of .obs, the blocks of .obsm, and X, of an h5ad file.

    A worker process reads the file, because a damaged file can crash libhdf5 and its process.
    """

    noise = NOISE
    id_name = "obs_names"  # barcodes, as a rule

    def __init__(self, path: Path) -> None:
        if find_spec("anndata") is None:
            raise InputError(needs("anndata", f"reading {path}"))
        self.path = path
        self._worker: Any = subprocess.Popen(
            [sys.executable, "-P", str(_WORKER), str(path), str(max_file_bytes())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _close, self._worker)
        found, _ = self._request(None)
        self.obs, self.obsm = set(found["obs"]), set(found["obsm"])
        self.names = ["obs_names", *found["obs"], *found["obsm"], "X"]
        self.label_names = [name for name, kind in found["obs"].items() if kind not in NOT_LABELS]

    def default_points(self, taken: Collection[str | None]) -> list[str]:
        """X_pca if there is one, as in scanpy, else X."""
        return ["X_pca"] if "X_pca" in self.obsm else ["X"]

    def first_integers(self, names: Sequence[str]) -> dict[str, FloatArray]:
        """None: coordinates are blocks."""
        return {}

    def read(
        self,
        numbers: Sequence[str],
        texts: Sequence[str],
        may_miss: Collection[str] = (),
        shown: Collection[str] = (),
    ) -> dict[str, Array]:
        for name in texts:
            if name != "obs_names" and name not in self.obs:
                raise InputError(
                    f"{self.path}, {name!r} is not in .obs, where labels are; for soft "
                    f"memberships use --memberships {name}"
                )
        found, arrays = self._request({"numbers": list(numbers), "texts": list(texts)})
        columns = {
            name: as_numbers(arrays[name], self.path, name, may_miss=name in may_miss)
            for name in numbers
        }
        for name in texts:
            labels: Any = Categories(arrays["codes of " + name], found["values"][name])
            columns[name] = labels if name in found["categorical"] else np.asarray(labels)
        return columns

    def _request(self, request: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        """Send a request to the worker, and return its answer and the arrays in it."""
        stdin, stdout = self._worker.stdin, self._worker.stdout
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
            answer = json.loads(stdout.readline())
            arrays = {name: _read_array(stdout, *kind) for name, kind in answer["arrays"].items()}
        except (OSError, ValueError):  # the worker has crashed
            raise InputError(
                f"{self.path} is not a valid h5ad file: the library that reads it crashed; get "
                "another copy of the file"
            ) from None
        if "too_large" in answer:
            check_size(answer["too_large"], self.path)
        if "error" in answer:
            raise InputError(f"{self.path} {answer['error']}")
        return answer, arrays


def _read_array(stream: BufferedReader, kind: str, shape: list[int]) -> Array:
    array = np.empty(math.prod(shape) * np.dtype(kind).itemsize, dtype=np.uint8)
    if stream.readinto(array.data) < array.size:
        raise ValueError("the worker has exited")
    return array.view(kind).reshape(shape)


def _close(worker: Any) -> None:
    """End the worker by closing its input, or kill it if it is busy."""
    for stream in (worker.stdin, worker.stdout):
        with suppress(OSError):  # flushing to a process that has exited
            stream.close()
    try:
        worker.wait(_TIMEOUT)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
