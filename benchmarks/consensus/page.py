"""The page docs/evidence/consensus.md: what was measured and how, tables, pictures of the data."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .ensembles import ENSEMBLES, make_inputs
from .measuring import METHOD_ROWS, find_consensus
from .pictures import PER_PICTURE, draw_sets
from .results import Record
from .sets import DataSet
from .statistics import TIE
from .tables import (
    comparison_table,
    family_table,
    mean_table,
    points_table,
    rank_table,
    set_table,
    title,
)

__all__ = ["Findings", "write_page"]

Records = dict[str, Record]


@dataclass(frozen=True, eq=False)
class Findings:
    """What a page shows.

    Attributes
    ----------
    records : dict
        Scores of all rows on each data set.
    rows : sequence of str
        Methods and references.
    name : str
        The method that is compared with all others.
    runs : list of dict
        Environments in which the scores were measured.
    settings : dict
        Numbers of seeds and of points.
    command : str
        Makes the page.
    points_records, points_rows : dict, sequence of str
        Scores of clustering without partitions, where they were measured.
    """

    records: Records
    rows: Sequence[str]
    name: str
    runs: list[dict[str, Any]]
    settings: dict[str, int]
    command: str
    points_records: Records
    points_rows: Sequence[str]

    def half(self, half: str) -> Records:
        return {key: record for key, record in self.records.items() if record["half"] == half}


def write_page(path: Path, found: Findings, sets: Sequence[DataSet]) -> None:
    """Write the page, and the pictures of its data sets into images/consensus beside it."""
    parts = [*_introduction(found), *_results(found), *_of_each_set(found, sets, path.parent)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join([*parts, *_origin(found)]) + "\n", encoding="utf-8")


def _introduction(found: Findings) -> Iterator[str]:
    made = sum(key.startswith("made") for key in found.records)
    counts = {
        "n": len(found.records),
        "made": made,
        "real": len(found.records) - made,
        "chosen": len(found.half("chosen")),
        "reported": len(found.half("reported")),
    }
    yield (
        "<!-- Written by `python -m benchmarks consensus --page`; the text is in "
        "benchmarks/consensus/page.py. -->"
    )
    left_out = [f"`{row}`" for row in METHOD_ROWS if row not in found.rows]
    but = f" but {' and '.join(left_out)}" if left_out else ""
    yield INTRODUCTION.format(**counts, **found.settings, but=but)
    yield "| inputs | how they are made |\n|---|---|\n" + "\n".join(
        f"| {kind} | {' '.join(inspect.getdoc(make).split())} |" for kind, make in ENSEMBLES.items()
    )
    yield ROWS_AND_HALVES.format(**counts)


def _results(found: Findings) -> Iterator[str]:
    reported, chosen = found.half("reported"), found.half("chosen")
    for half, records in (("reported", reported), ("chosen", chosen)):
        if records:
            yield f"## Adjusted Rand index: {half} half, {len(records)} data sets"
            yield mean_table(records, found.rows)
    half, records = ("reported", reported) if reported else ("chosen", chosen)
    yield f"## Mean ranks ({half} half)"
    yield rank_table(records, found.rows)
    yield f"## Wins, ties and losses of {title(found.name)} ({half} half)"
    yield COMPARISON.format(tie=TIE)
    yield comparison_table(records, found.rows, found.name)
    yield f"## By family of data sets ({half} half)"
    yield "Means over all six kinds of inputs."
    yield family_table(records, found.rows)
    if found.points_records:
        yield "## Clustering without given partitions"
        yield POINTS
        yield points_table(found.points_records, found.points_rows)


def _of_each_set(found: Findings, sets: Sequence[DataSet], folder: Path) -> Iterator[str]:
    """Tables of twelve data sets each, and their pictures."""
    yield "## All data sets"
    yield SETS.format(name=title(found.name))
    shown = [data for data in sets if data.name in found.records]
    for number, start in enumerate(range(0, len(shown), PER_PICTURE), 1):
        part = shown[start : start + PER_PICTURE]
        yield set_table({d.name: found.records[d.name] for d in part}, found.rows, found.name)
        picture = Path("images", "consensus", f"sets-{number}.png")
        draw_sets(part, [_labels(data, found.name) for data in part], folder / picture)
        yield f"![Data sets {part[0].name} to {part[-1].name}]({picture.as_posix()})"


def _labels(data: DataSet, name: str) -> Any:
    inputs = make_inputs("kmeans", data.X, data.classes, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return find_consensus(name, data, inputs, seed=0)


def _origin(found: Findings) -> Iterator[str]:
    yield "## How to repeat this"
    yield f"```sh\n{found.command}\n```"
    used = {
        entry["run"]
        for records in (found.records, found.points_records)
        for record in records.values()
        for entry in record["rows"].values()
    }
    yield "Measured:\n\n" + "\n".join(f"- {_run(found.runs[number])}" for number in sorted(used))


def _run(run: dict[str, Any]) -> str:
    versions = [f"{name} {v}" for name, v in run["versions"].items() if v is not None]
    commit = [f"commit {run['commit']}"] if run["commit"] else []
    machine = f"{run['cores']} cores of {run['processor']}"
    return ", ".join([run["date"], machine, f"Python {run['python']}", *versions, *commit])


INTRODUCTION = """# Benchmark of consensus clustering

Every consensus method of liftcluster{but} on {n} labelled data sets, each with six kinds of inputs
and {seeds} seeds, compared with clusterings of the points alone. Scores are adjusted Rand indices
to the classes: 1 for the same clusters, 0 on average for random ones. NMI is normalised mutual
information.

## What was measured

**Data sets.** {real} labelled sets (their names start with `real`) and {made} generated ones
(`made`): shapes in two or three dimensions, images, and tables of anything else. A labelled set of
more than {most} points is a random sample of {most}. Rows with missing values and constant columns
are left out. Columns have variance one; the pixels of images are in one unit, so these have
variance one as a whole. Rows are shuffled, because some methods depend on their order.

**Inputs.** For n points of k classes; the number of clusters or errors of each input is random
within the limits given, and so is the seed of k-means:"""

ROWS_AND_HALVES = """**No class label reaches a method.** A method gets the inputs and the number of
classes k and, unless it uses labels alone, the points. Inputs of the kinds annotators and balls are
made from the classes, as by people who make mistakes; all others from the points.

**Rows.** Names in `code` are methods of liftcluster with their default options; spectral: the graph
is cut by eigenvectors in place of METIS. Methods that find the number of clusters themselves do so
here, too. k-means with 50 starts, Ward's linkage, spectral clustering of the graph of 10 nearest
neighbours (scikit-learn) and the graph without inputs use the points alone: their scores are the
same for all kinds of inputs. Best input is the input of the largest index. It takes the classes to
find it, so it is an oracle and not a method; mean input is the mean index of all inputs.

**Halves.** Sets alternate by name between two halves. Rules and defaults of liftcluster are chosen
by the scores on the half called chosen ({chosen} sets); the half called reported ({reported} sets)
is kept for the scores to cite. Bandwidths of methods that are older than these halves were chosen
on another half of the labelled sets, which overlaps with both."""

COMPARISON = """Over data sets, by the mean index of all seeds and kinds of inputs. A tie is a
difference of at most {tie}. p: two-sided signed-rank test of Wilcoxon, corrected by Holm for the
number of rows."""

POINTS = """Nothing is given but the points and the number of classes k. LiftedConsensus makes its
own partitions, with its default settings. k-means has 10 starts, the Gaussian mixture full
covariances and 3 starts. HDBSCAN finds the number of clusters itself: of the minimum cluster sizes
5, 10, 15, 25 and 50, the one with a number nearest to k is used, and noise points get the label of
the nearest point in a cluster. Both halves are included."""

SETS = """The index of {name} is the mean over all seeds and kinds of inputs. So are those of the
reference (of the points alone) and of the method by labels alone that are best on this data set.
Pictures: the points, or their first two principal components, coloured by class; to the right
coloured by the consensus by {name} of the inputs kmeans with seed 0, in matching colours."""
