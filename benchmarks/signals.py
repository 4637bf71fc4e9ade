"""Time until a command ends after Ctrl-C: `python -m benchmarks signals`.

Starts every long command on tables that keep it busy from seconds to minutes, sends SIGINT at
several points in time, and measures the time until the process has ended. Needs an idle machine: a
process that waits for a core responds late.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from liftcluster.io import write_columns

START = [sys.executable, "-c", "from liftcluster_start import main; main()"]
LONG = {
    "reading": "compare {huge} -l u,v",
    "exact": "compare {large} -c x,y,z -l u,v --lift exact",
    "transport": "compare {middling} -l u,v --measures cdistance",
    "features": "compare {large} -c x,y,z -l u,v --lift fourier --n-components 20000",
    "consensus": "consensus {large} -c x,y,z -l u,v,w -k 3 --lift exact --out {folder}/found.csv",
    "majority": "consensus {large} --labels-only -l u,v,w,x -k 3 --method majority "
    "--out {folder}/found.csv",
    "permuted": "significance {large} -c x,y,z -l u,v",
    "profile": "profile {large} -c x,y,z -l u,v --lift fourier --bandwidths 30",
    "page": "report {large} -c x,y,z -l u,v --lift exact --out {folder}/page.html",
    "demo": "demo --out {folder}/page.html",
}
QUANTILES = (0.5, 0.9, 1.0)


def write_tables(folder: Path) -> None:
    """Write the input tables of the commands."""
    rng = np.random.default_rng(0)
    for name, n, k in (("large", 150_000, 3), ("middling", 12_000, 2)):
        X = rng.standard_normal((n, 3)).round(3)
        labels = rng.integers(k, size=(n, 3))
        columns = dict(zip("xyz", X.T, strict=True)) | dict(zip("uvw", labels.T, strict=True))
        write_columns(folder / f"{name}.csv", columns)
    header, rows = (folder / "large.csv").read_bytes().split(b"\n", 1)
    (folder / "huge.csv").write_bytes(header + b"\n" + 10 * rows)


def start(command: str, tables: Path, folder: Path) -> subprocess.Popen[str]:
    words = command.format(
        huge=tables / "huge.csv",
        large=tables / "large.csv",
        middling=tables / "middling.csv",
        folder=folder,
    ).split()
    # A process group of its own, as in a shell.
    return subprocess.Popen(
        [*START, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )


def hears(process: subprocess.Popen[str], sign: signal.Signals = signal.SIGTERM) -> bool:
    """Whether the process has installed its signal handlers."""
    with contextlib.suppress(FileNotFoundError):
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = int(next(x for x in status.splitlines() if x.startswith("SigCgt")).split()[1], 16)
        return bool(caught >> (sign - 1) & 1)
    return False


def answer(command: str, after: float, tables: Path, folder: Path) -> float | None:
    """Seconds from the signal to the end; None if the command had finished before."""
    process = start(command, tables, folder)
    while not hears(process) and process.poll() is None:
        time.sleep(0.001)
    time.sleep(after)
    if process.poll() is not None:
        process.communicate()
        return None
    began = time.perf_counter()
    process.send_signal(signal.SIGINT)
    process.communicate()
    seconds = time.perf_counter() - began
    if process.returncode in (0, -signal.SIGINT):  # it had finished, and Python was exiting
        return None
    if process.returncode != 128 + signal.SIGINT:
        sys.exit(f"{command}: ended with {process.returncode}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=10, help="number of signals per command")
    parser.add_argument("--seconds", type=float, default=6.0, help="time span of the signals")
    options = parser.parse_args()
    moments = np.linspace(0, options.seconds, options.moments)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_tables(folder)
        print("| command | runs | median | 90 % | slowest | within a second |")
        print("|---|---|---|---|---|---|")
        every: list[float] = []
        for name, command in LONG.items():
            answers = [answer(command, float(after), folder, folder) for after in moments]
            seconds = [s for s in answers if s is not None]
            every += seconds
            print(_row(name, seconds), flush=True)
        print(_row("all", every))


def _row(name: str, seconds: list[float]) -> str:
    quantiles = np.quantile(seconds, QUANTILES) if seconds else [float("nan")] * len(QUANTILES)
    cells = " | ".join(f"{s:.2f} s" for s in quantiles)
    return f"| {name} | {len(seconds)} | {cells} | {sum(s < 1 for s in seconds)} |"


if __name__ == "__main__":
    main()
