"""Write the tables of measures and methods for the API reference: python docs/api/make_tables.py."""

from pathlib import Path

import liftcluster as lc

MEASURE_NEEDS = {"vectors": "points, lifted", "points": "points", "table": "labels"}
METHOD_NEEDS = {
    "vectors": "points, lifted",
    "labels": "labels",
    "labels and points": "labels and points",
    "distances": "labels or points",
    "any": "labels or points",
}
MEASURES_TEXT = """\
.. py:data:: MEASURES
   :type: Mapping[str, Measure]

   The measures by name. All of them are distances: 0 means that two partitions are equal, and a
   similarity such as the Rand index becomes one minus its value. The names are the values of the
   arguments ``measure`` and ``measures``; ``liftcluster measures`` lists them on the command line.
   :doc:`/choosing/measure` says which to choose.

   >>> import liftcluster as lc
   >>> lc.MEASURES["lift_emd"].title
   'transport between lifted clusters'

"""
METHODS_TEXT = """\
.. py:data:: METHODS
   :type: Mapping[str, Method]

   The methods of consensus by name. The names are the values of the argument ``method`` of
   :func:`consensus` and :class:`LiftedConsensus`; ``liftcluster methods`` lists them on the command
   line. :doc:`/choosing/consensus` says which to choose.

   >>> import liftcluster as lc
   >>> lc.METHODS["lift_km"].title
   'k-means on lifted clusters'

"""


def _table(headings, rows):
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (headings, *rows):
        for i, cell in enumerate(row):
            lines.append(f"   {'  ' if i else '* '}- {cell}".rstrip())
    return "\n".join(f"   {line}".rstrip() for line in lines) + "\n"


def _codes(names):
    return ", ".join(f"``{name}``" for name in names)


def measures_table():
    rows = []
    for m in lc.MEASURES.values():
        traits = [
            "metric" if m.is_metric else "",
            "" if m.soft else "hard only",
            "" if m.same_points else "different points",
        ]
        rows.append(
            (
                f"``{m.name}``",
                m.title,
                MEASURE_NEEDS[m.needs],
                ", ".join(t for t in traits if t),
                _codes(m.options),
                m.reference,
            )
        )
    return MEASURES_TEXT + _table(
        ("name", "what it is", "needs", "traits", "options", "reference"), rows
    )


def methods_table():
    rows = []
    for m in lc.METHODS.values():
        traits = [
            "soft" if m.soft else "",
            "chooses the number of clusters" if m.chooses_k else "",
            "balanced" if m.balanced else "",
        ]
        rows.append(
            (
                f"``{m.name}``",
                m.title,
                METHOD_NEEDS[m.needs],
                ", ".join(t for t in traits if t),
                _codes(m.options),
                m.reference,
            )
        )
    return METHODS_TEXT + _table(
        ("name", "what it does", "needs", "traits", "options", "reference"), rows
    )


TABLES = {"MEASURES": measures_table, "METHODS": methods_table}

if __name__ == "__main__":
    for name, table in TABLES.items():
        (Path(__file__).parent / "tables" / f"{name}.txt").write_text(table())
