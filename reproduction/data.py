"""The paper's data sets: from a folder, else from OpenML and kept, else said to be missing."""

from __future__ import annotations

import gzip
import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile

import numpy as np

from liftcluster._util.files import replacing
from liftcluster._util.typing import Array

__all__ = ["SETS", "ChangedData", "DataSet", "Labelled", "Located", "MissingData", "load", "locate"]


@dataclass(frozen=True)
class DataSet:
    """What one of the paper's data sets is called, where it is kept, and its size."""

    name: str
    title: str
    files: tuple[str, ...]  # in the folder of data
    shape: tuple[int, int]
    k: int
    openml: int | None
    rows: tuple[int | None, int | None] = (None, None)  # from, to, of what OpenML has


_MNIST = "mnist/{}-images-idx3-ubyte.gz", "mnist/{}-labels-idx1-ubyte.gz"
_ALL = [
    DataSet("iris", "Iris", ("iris.csv",), (150, 4), 3, 61),
    DataSet("glass", "Glass", ("glass.csv",), (214, 9), 6, 41),
    DataSet("ionosphere", "Ionosphere", ("ionosphere.csv",), (351, 34), 2, 59),
    # OpenML's "soybean" is the large one; the paper's is the small.
    DataSet("soybean", "Soybean", ("soybean_small.csv",), (47, 35), 4, None),
    DataSet("wine", "Wine", ("wine.csv",), (178, 13), 3, 187),
    DataSet(
        "mnist-test",
        "MNIST test",
        tuple(name.format("t10k") for name in _MNIST),
        (10_000, 784),
        10,
        554,
        (60_000, None),
    ),
    DataSet(
        "mnist-train",
        "MNIST train",
        tuple(name.format("train") for name in _MNIST),
        (60_000, 784),
        10,
        554,
        (None, 60_000),
    ),
]
SETS: Mapping[str, DataSet] = MappingProxyType({found.name: found for found in _ALL})


class ChangedData(ValueError):
    """A file that is not what it was when the work began."""


class MissingData(Exception):
    """A data set that is neither here nor to be had; says how to get it."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Points and the classes they truly belong to."""

    X: Array  # (n, d)
    classes: Array  # (n,)

    @property
    def k(self) -> int:
        return len(np.unique(self.classes))

    def digest(self) -> str:
        """What the points and classes are, in a few letters."""
        content = hashlib.sha256(np.ascontiguousarray(self.X).tobytes())
        content.update("\n".join(self.classes.astype(str).tolist()).encode())
        return content.hexdigest()[:16]


@dataclass(frozen=True)
class Located:
    """Where a data set was found, and what was in it."""

    name: str
    folder: str
    digest: str


def locate(name: str, folder: Path | None, cache: Path) -> Located:
    """The folder that has a data set: the user's, the cache, or the cache once it is fetched."""
    wanted = SETS[name]
    for place in (folder, cache):
        if place is not None and (_has_files(wanted, place) or _kept(wanted, place).exists()):
            return Located(name, str(place), _read(wanted, place).digest())
    _fetch(wanted, folder, cache)
    return Located(name, str(cache), _read(wanted, cache).digest())


@lru_cache(maxsize=2)
def load(located: Located) -> Labelled:
    found = _read(SETS[located.name], Path(located.folder))
    if found.digest() != located.digest:  # or results would be kept as those of other points
        raise ChangedData(
            f"{SETS[located.name].title} has changed since it was found; start again, which keeps "
            "what is done"
        )
    return found


def _has_files(wanted: DataSet, folder: Path) -> bool:
    return all((folder / name).is_file() for name in wanted.files)


def _kept(wanted: DataSet, folder: Path) -> Path:
    return folder / f"{wanted.name}.npz"


def _read(wanted: DataSet, folder: Path) -> Labelled:
    try:
        if not _has_files(wanted, folder):
            with np.load(_kept(wanted, folder), allow_pickle=False) as arrays:
                found = Labelled(arrays["X"], arrays["classes"])
        elif len(wanted.files) == 2:
            found = _read_images(*(folder / name for name in wanted.files))
        else:
            found = _read_table(folder / wanted.files[0])
    except (ValueError, KeyError, EOFError, BadZipFile, gzip.BadGzipFile) as error:
        raise MissingData(
            f"{wanted.title}: {' or '.join(wanted.files)} cannot be read ({error}); "
            f"{_how_to_get(wanted)}"
        ) from error
    if found.X.shape != wanted.shape or found.k != wanted.k:
        (n, d), (m, e) = wanted.shape, found.X.shape
        raise MissingData(
            f"{wanted.title} should have {n:,} × {d} numbers in {wanted.k} classes, but "
            f"{wanted.files[0]} has {m:,} × {e} in {found.k}; {_how_to_get(wanted)}"
        )
    return found


def _read_table(path: Path) -> Labelled:
    """A table with a header, whose last column is the class."""
    cells = np.loadtxt(path, dtype=str, delimiter=",", skiprows=1, ndmin=2)
    return Labelled(cells[:, :-1].astype(np.float64), cells[:, -1])


def _read_images(images: Path, labels: Path) -> Labelled:
    """The published idx files: headers of 16 and 8 bytes."""
    pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    digits = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
    # Single precision holds whole numbers up to 255 exactly, in half the memory.
    return Labelled(pixels.reshape(len(digits), -1).astype(np.float32), digits.astype(str))


def _fetch(wanted: DataSet, folder: Path | None, cache: Path) -> None:
    """Get what OpenML has under a number, and keep all sets that are parts of it."""
    # Which folder is left unsaid: what is missing goes on a page that others read.
    where = "no folder of data was given" if folder is None else "not in the folder of data"
    if wanted.openml is None:
        raise MissingData(f"{wanted.title}: {where}; {_how_to_get(wanted)}")
    try:
        X, classes = _from_openml(wanted.openml)
    except Exception as error:  # the network has many ways to fail, and the rest must run
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MissingData(
            f"{wanted.title}: {where}, and OpenML did not answer ({reason}); {_how_to_get(wanted)}"
        ) from error
    dtype = np.float32 if wanted.shape[1] == 784 else np.float64
    X, classes = np.asarray(X, dtype=dtype), np.asarray(classes).astype(str)
    for part in SETS.values():
        if part.openml == wanted.openml:
            rows = slice(*part.rows)
            _keep(part, Labelled(X[rows], classes[rows]), cache)


def _from_openml(number: int) -> tuple[Any, Any]:
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it tries again; whether it got there is said
        found = fetch_openml(
            data_id=number, as_frame=False, return_X_y=True, cache=False, parser="liac-arff"
        )
    return found[0], found[1]


def _keep(wanted: DataSet, found: Labelled, cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    with replacing(_kept(wanted, cache)) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, X=found.X, classes=found.classes)


def _how_to_get(wanted: DataSet) -> str:
    files = " and ".join(wanted.files)
    source = "MNIST's own idx files" if len(wanted.files) == 2 else "UCI's, the class last"
    return f"put {files} ({source}) into a folder and give it as --data or LIFTCLUSTER_DATA"
