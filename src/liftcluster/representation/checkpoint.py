"""Checkpoints of partial sums, in one small file."""

from __future__ import annotations

import errno
import json
import time
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._util.files import remove_leftovers
from .._util.typing import Array
from ..lifts.base import Lift
from .storage import lift_from_state, lift_to_state, read_npz, write_npz
from .tally import Tally

FORMAT = "liftcluster checkpoint 1"
EVERY = 10.0  # seconds between two writes


@dataclass(frozen=True, eq=False)
class Position:
    """The progress of a computation of sums."""

    lift: Lift  # the first one, which a tolerance may have extended since
    random: dict[str, Any]  # the generator after the lift was drawn: see random_state
    done: tuple[Tally, ...] = ()  # one for each finished pass
    sample: int = 0  # index of the current sample
    row: int = 0  # of that sample, next to be read
    tally: Tally | None = None  # of the current pass


@dataclass(eq=False)
class Checkpoint:
    """A file with the position of a computation, written atomically.

    ``work`` identifies the computation in values that JSON can hold; the file of another one is an
    error.
    """

    path: Path
    work: dict[str, Any]
    written: float = field(default_factory=time.monotonic)

    @classmethod
    def at(cls, path: str | PathLike[str], work: dict[str, Any]) -> Checkpoint:
        file = Path(path)
        if not file.parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "no such folder for the checkpoint", str(file.parent)
            )
        return cls(file, json.loads(json.dumps(work)))

    def load(self) -> Position | None:
        """The position at which the work was interrupted, if it was."""
        if not self.path.exists():
            return None
        values, arrays = read_npz(self.path)
        if values.get("format") != FORMAT:
            raise ValueError(
                f"{self.path} is not a checkpoint; give a file that may be written, and removed at "
                "the end"
            )
        self._check_same_work(values.get("work") or {})
        try:
            return _position(values, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ValueError(
                f"{self.path} is damaged ({error}); remove it to start again"
            ) from error

    def _check_same_work(self, stored: dict[str, Any]) -> None:
        for what, now in self.work.items():
            before = stored.get(what)
            if isinstance(now, dict) and isinstance(before, dict):  # show only what differs
                now = {key: value for key, value in now.items() if before.get(key) != value}
                before = {key: before.get(key) for key in now}
            if before != now:
                raise ValueError(
                    f"{self.path} is the checkpoint of other work: its {what} was "
                    f"{_shortened(before)}, and is {_shortened(now)} now; remove it to start "
                    "again, or give another file"
                )

    def save(self, position: Position, *, now: bool = False) -> None:
        """Write, if the last time is more than a few seconds ago."""
        if not now and time.monotonic() - self.written < EVERY:
            return
        tallies = {f"done{i}": tally for i, tally in enumerate(position.done)}
        if position.tally is not None:
            tallies["tally"] = position.tally
        values: dict[str, Any] = {
            "format": FORMAT,
            "work": self.work,
            "random": position.random,
            "sample": position.sample,
            "row": position.row,
            "done": len(position.done),
        }
        values["lift"], parts = lift_to_state(position.lift)
        arrays = {f"lift_{name}": array for name, array in parts.items()}
        for what, tally in tallies.items():
            values[what], parts = tally.state()
            arrays |= {f"{what}_{name}": array for name, array in parts.items()}
        write_npz(self.path, values, arrays)
        self.written = time.monotonic()

    def remove(self) -> None:
        """Delete the file, and temporary files of processes that were killed."""
        remove_leftovers(self.path)
        self.path.resolve().unlink(missing_ok=True)


def _position(values: dict[str, Any], arrays: dict[str, Array]) -> Position:
    def own(prefix: str) -> dict[str, Array]:
        return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

    def tally(what: str) -> Tally:
        return Tally.from_state(values[what], own(f"{what}_"))

    return Position(
        lift=lift_from_state(values["lift"], own("lift_")),
        random=values["random"],
        done=tuple(tally(f"done{i}") for i in range(values["done"])),
        sample=int(values["sample"]),
        row=int(values["row"]),
        tally=tally("tally") if "tally" in values else None,
    )


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a generator and of its seed sequence, in values that JSON can hold."""
    seeds = rng.bit_generator.seed_seq
    found: dict[str, Any] = {"state": _plain(rng.bit_generator.state), "seeds": None}
    if isinstance(seeds, np.random.SeedSequence):
        found["seeds"] = _plain({**seeds.state, "spawn_key": list(seeds.spawn_key)})
    return found


def restore_generator(rng: np.random.Generator, stored: dict[str, Any]) -> np.random.Generator:
    """A generator of the same kind in the stored state."""
    bits: Any = rng.bit_generator
    if stored["seeds"] is not None:  # what is spawned follows from these, not from the state
        bits = type(bits)(np.random.SeedSequence(**stored["seeds"]))
    bits.state = stored["state"]
    return np.random.Generator(bits)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _shortened(value: Any, most: int = 120) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= most else shown[:most] + "..."
