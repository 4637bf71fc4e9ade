"""Write the pages of MEASURES and METHODS from the registries: python docs/api/make_pages.py."""

from pathlib import Path

import liftcluster as lc

NEEDS = {
    "vectors": "points",
    "points": "points",
    "table": "labels",
    "labels": "labels",
    "labels and points": "labels and points",
    "distances": "labels or points",
    "any": "labels or points",
}
MEASURES_TEXT = """\
MEASURES
========

.. currentmodule:: liftcluster

.. py:data:: MEASURES
   :type: Mapping[str, Measure]

   The measures by name. All of them are distances: they are 0 for equal hard partitions, and a
   similarity such as the Rand index becomes one minus its value. The names are the values of the
   arguments ``measure`` and ``measures``; ``liftcluster measures`` lists them on the command line.
   :doc:`/choosing/measure` says which to choose.

   >>> import liftcluster as lc
   >>> lc.MEASURES["lift_emd"].title
   'transport between lifted clusters'

"""
METHODS_TEXT = """\
METHODS
=======

.. currentmodule:: liftcluster

.. py:data:: METHODS
   :type: Mapping[str, Method]

   The methods of consensus by name. The names are the values of the argument ``method`` of
   :func:`consensus` and :class:`LiftedConsensus`; ``liftcluster methods`` lists them on the command
   line. :doc:`/choosing/consensus` says which to choose.

   >>> import liftcluster as lc
   >>> lc.METHODS["lift_km"].title
   'k-means on lifted clusters'

"""


def _entry(entry, *traits):
    """An entry of a definition list: the name, and a description in sentences."""
    sentences = [entry.title, f"Needs {NEEDS[entry.needs]}", *traits]
    if entry.options:
        sentences.append("Options: " + ", ".join(f"``{name}``" for name in entry.options))
    if entry.reference:
        sentences.append(f"*{entry.reference}*")
    return f"   ``{entry.name}``\n      {'. '.join(s for s in sentences if s)}.\n"


def measures_page():
    entries = [
        _entry(
            measure,
            "A metric" if measure.is_metric else "",
            "" if measure.soft else "Hard partitions only",
            "" if measure.same_points else "Also compares partitions of different points",
        )
        for measure in lc.MEASURES.values()
    ]
    return MEASURES_TEXT + "".join(entries)


def methods_page():
    entries = [
        _entry(
            method,
            "Uses soft memberships" if method.soft else "",
            "Chooses the number of clusters itself" if method.chooses_k else "",
            "Parts have similar weights" if method.balanced else "",
            f"Extra: ``{method.extra}``" if method.extra else "",
        )
        for method in lc.METHODS.values()
    ]
    return METHODS_TEXT + "".join(entries)


PAGES = {"MEASURES": measures_page, "METHODS": methods_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (Path(__file__).parent / f"{name}.rst").write_text(page())
