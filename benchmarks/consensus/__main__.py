"""Quality of consensus methods on labelled data sets: `python -m benchmarks consensus`.

Runs every method on the labelled data sets of a folder (LIFTCLUSTER_DATA) and on generated ones,
with six kinds of inputs. Prints the mean adjusted Rand index to the classes, mean ranks with the
critical difference of Nemenyi's test, and wins, ties and losses. Scores are kept in a JSON file;
after an interruption, the same command measures only what is missing.

With --page: also writes a Markdown page with all tables and pictures of the data sets.
With --no-partitions: clustering of the points by LiftedConsensus and by scikit-learn.
With --auto: how well the number of clusters is estimated, from inputs with random numbers of them.
With --scale: the time and memory of each method on 60,000 images and on a million points.
"""

from __future__ import annotations

import argparse
import os
import shlex
import warnings
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

import joblib
from threadpoolctl import threadpool_limits

from . import measuring
from .ensembles import ENSEMBLES
from .points import CLUSTERERS, NO_PARTITIONS
from .results import Results, Task, measure_missing
from .sets import HALVES, DataSet, all_sets
from .tables import comparison_table, family_table, mean_table, points_table, rank_table

CONSENSUS = Task("consensus", measuring.measure_set, tuple(ENSEMBLES))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.scale:
        if options.data is None:
            parser.error("pass --data or set LIFTCLUSTER_DATA to a folder of labelled CSV files")
        from .scale import in_units, measure_all

        _print(in_units(options.data))
        _print(measure_all(options.data))
        return
    with threadpool_limits(1):  # the last digits do not depend on the number of cores
        sets = _chosen_sets(parser, options)
        if options.auto:
            from .number_of_clusters import estimate_all

            _print(estimate_all(sets, options.seeds, options.jobs))
        elif options.no_partitions:
            _run_points(parser, options, sets)
        else:
            _run_consensus(parser, options, sets)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _chosen_sets(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[DataSet]:
    halves = HALVES if options.half == "both" else (options.half,)
    sets = [
        data
        for data in all_sets(options.data, options.most)
        if data.half in halves and fnmatch(data.name, options.sets)
    ]
    if not sets:
        parser.error(f"no data set of --half {options.half} matches --sets {options.sets}")
    return sets


def _run_points(
    parser: argparse.ArgumentParser, options: argparse.Namespace, sets: list[DataSet]
) -> None:
    if options.page:
        parser.error("--page needs the scores of consensus methods: leave out --no-partitions")
    rows = _chosen_rows(parser, options.methods, tuple(CLUSTERERS))
    results = _measure(options, NO_PARTITIONS, sets, rows)
    print(f"\n{points_table(results.records(NO_PARTITIONS, sets), rows)}")


def _run_consensus(
    parser: argparse.ArgumentParser, options: argparse.Namespace, sets: list[DataSet]
) -> None:
    rows = _chosen_rows(parser, options.methods, measuring.ROWS)
    for row in [row for row in rows if measuring.unavailable(row)]:
        print(f"{row} is left out: {measuring.unavailable(row)} is not installed")
        rows.remove(row)
    name = _compared(parser, options.compare, [row for row in rows if row in measuring.METHOD_ROWS])
    results = _measure(options, CONSENSUS, sets, rows)
    records = results.records(CONSENSUS, sets)
    for half in HALVES:
        part = {key: record for key, record in records.items() if record["half"] == half}
        if part:
            print(f"\n{half} half, {len(part)} data sets\n\n{mean_table(part, rows)}")
            print(f"\n{rank_table(part, rows)}\n\n{comparison_table(part, rows, name)}")
            print(f"\n{family_table(part, rows)}")
    if options.page:
        from .page import Findings, write_page

        points = {
            data.name: results.records(NO_PARTITIONS, [data])[data.name]
            for data in sets
            if not results.missing(NO_PARTITIONS, data, list(CLUSTERERS), _settings(options))
        }
        found = Findings(
            records=records,
            rows=rows,
            name=name,
            runs=results.content["runs"],
            settings=_settings(options),
            command=_command(parser, options),
            points_records=points if len(points) == len(sets) else {},
            points_rows=tuple(CLUSTERERS),
        )
        write_page(options.page, found, sets)


def _measure(
    options: argparse.Namespace, task: Task, sets: list[DataSet], rows: list[str]
) -> Results:
    results = Results(options.json)
    measure_missing(
        task, sets, rows, _settings(options), results, jobs=options.jobs, again=options.again
    )
    return results


def _chosen_rows(
    parser: argparse.ArgumentParser, wanted: list[str] | None, rows: tuple[str, ...]
) -> list[str]:
    for row in wanted or ():
        if row not in rows:
            parser.error(f"--methods: {row!r} is none of {', '.join(map(repr, rows))}")
    return [row for row in rows if wanted is None or row in wanted]


def _compared(parser: argparse.ArgumentParser, wanted: str | None, methods: list[str]) -> str:
    """The method that is compared with all others: by default "auto", if it is measured."""
    if not methods:
        parser.error("--methods names no consensus method")
    if wanted is None:
        return "auto" if "auto" in methods else methods[0]
    if wanted not in methods:
        parser.error(f"--compare: {wanted!r} is none of {', '.join(map(repr, methods))}")
    return wanted


def _settings(options: argparse.Namespace) -> dict[str, int]:
    return {"most": options.most, "seeds": options.seeds}


def _command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> str:
    """The command for the page, without names of folders."""
    words = ["python", "-m", "benchmarks", "consensus", "--data", "FOLDER", "--json", "FILE"]
    for name in ("half", "sets", "methods", "seeds", "most", "compare"):
        value = getattr(options, name)
        if value != parser.get_default(name):
            words += [f"--{name}", *(value if isinstance(value, list) else [str(value)])]
    return shlex.join([*words, "--page", "docs/evidence/consensus.md"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks consensus", description=__doc__.splitlines()[0]
    )
    folder = os.environ.get("LIFTCLUSTER_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) if folder else None,
        help="folder of labelled CSV files (LIFTCLUSTER_DATA); without one, generated sets alone",
    )
    parser.add_argument("--json", type=Path, help="file of the scores, read and written")
    parser.add_argument("--page", type=Path, help="Markdown page, docs/evidence/consensus.md")
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--methods", nargs="+", help="rows to measure; default: all")
    parser.add_argument("--sets", default="*", help="pattern of names, such as 'real_table_*'")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=1000, help="maximum number of points per set")
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count(), help="processes")
    parser.add_argument("--compare", help="method compared with all others; default: auto")
    parser.add_argument("--again", action="store_true", help="also measure what the file has")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--no-partitions", action="store_true", help="cluster the points alone")
    mode.add_argument("--auto", action="store_true", help="estimate the number of clusters")
    mode.add_argument("--scale", action="store_true", help="measure time and memory")
    return parser


if __name__ == "__main__":
    main()
