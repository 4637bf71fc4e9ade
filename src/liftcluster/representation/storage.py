"""Values on disk as npz: arrays and one JSON text, never pickle."""

from __future__ import annotations

import json
from collections.abc import Hashable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.files import atomic_write
from .._util.memory import max_file_bytes
from .._util.typing import Array

if TYPE_CHECKING:
    from ..lifts.base import Lift


# Imported when a lift of that kind is read, so that this module depends on none of them.
_LIFTS = {
    "fourier": ("fourier", "FourierLift"),
    "structured": ("structured", "StructuredLift"),
    "grid": ("grid", "GridLift"),
    "nystroem": ("nystroem", "NystroemLift"),
    "exact": ("exact", "SpanLift"),
}


def write_npz(path: str | PathLike[str], values: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write beside the target and move there, so that the target is whole or not there at all."""
    target = Path(path)
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise ValueError(f"{name} holds Python objects, which cannot be stored without pickle")
    with atomic_write(target) as temporary, open(temporary, "wb") as file:
        np.savez(file, values=np.array(json.dumps(values)), allow_pickle=False, **arrays)


def read_npz(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        # np.load leaves a path it opened itself open when the content is not what it expects.
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as file:
            size = sum(member.file_size for member in file.zip.infolist())
            if size > max_file_bytes():
                raise ValueError(f"it holds {size / 2**30:,.1f} GiB; set LIFTCLUSTER_FILE_GIB")
            arrays = {name: file[name] for name in file.files}
        values = json.loads(str(arrays.pop("values")))
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except Exception as error:  # a damaged file makes NumPy and zipfile raise nearly anything
        raise ValueError(f"{path} is not a file that liftcluster wrote: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} is not a file that liftcluster wrote")
    return values, arrays


def lift_to_state(lift: Lift) -> tuple[dict[str, Any], dict[str, Array]]:
    values, arrays = lift.state()
    return {"kind": lift.kind, **values}, arrays


def lift_from_state(values: dict[str, Any], arrays: dict[str, Array]) -> Lift:
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers")
    module, name = _LIFTS[values["kind"]]
    lift: Any = getattr(import_module(f"..lifts.{module}", __package__), name)
    return lift.from_state(values, arrays)


def name_to_json(name: Hashable) -> Any:
    """A name as JSON that says what it was: True, 1 and "1" are three names."""
    if isinstance(name, np.bool_ | np.integer | np.floating):
        name = name.item()
    if isinstance(name, tuple):
        return {"tuple": [name_to_json(part) for part in name]}
    if name is None or isinstance(name, str | bool | int | float):
        return name
    raise ValueError(
        f"the name {name!r} ({type(name).__name__}) cannot be stored; use strings or numbers"
    )


def name_from_json(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(name_from_json(part) for part in value["tuple"])
    if isinstance(value, list):
        raise ValueError("a name cannot be a list")
    return value
