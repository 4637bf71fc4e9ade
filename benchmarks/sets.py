"""Data for the measurements, from the folder that LIFTCLUSTER_DATA names."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["mnist"]


def mnist(part: str) -> tuple[Any, Any] | None:
    """(n, 784) bytes and labels of "train" or "test"; None where the files are not there."""
    folder = Path(os.environ.get("LIFTCLUSTER_DATA", "")) / "mnist"
    stem = {"train": "train", "test": "t10k"}[part]
    images, labels = (folder / f"{stem}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1"))
    if not (images.exists() and labels.exists()):
        return None
    X = np.frombuffer(gzip.decompress(images.read_bytes()), dtype=np.uint8, offset=16)
    y = np.frombuffer(gzip.decompress(labels.read_bytes()), dtype=np.uint8, offset=8)
    return X.reshape(-1, 784), y.astype(np.int32)
