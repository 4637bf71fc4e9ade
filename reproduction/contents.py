"""Every table and figure of the paper's evaluation, by name, in the order they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import figures, pictures
from .digits import gather_digits, plan_digits, tell_digits
from .precision import gather_precision, plan_precision_2d2c, plan_precision_mnist, tell_precision
from .section import Claim, Section, Values
from .sensitivity import TABLE_1
from .table_of_runtimes import TABLE_2
from .tables_of_consensus import TABLE_3, TABLE_4

__all__ = ["SECTIONS"]


def _constructed(
    number: int,
    title: str,
    function: Callable[..., Values],
    check: Callable[[Values], list[Claim]],
    tell: Callable[[Values], str],
    draw: Callable[[Values, Mapping[str, Any]], Any],
    **options: Any,
) -> Section:
    """A figure of points that are made, not found."""
    called = f"figure-{number}"
    plan = figures.only(called, function, options)
    gather = figures.with_claims(check)
    return Section(called, f"Figure {number}: {title}", (), plan, gather, tell, draw)


_ALL = [
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    _constructed(
        1,
        "why space matters (2D2C)",
        figures.triple,
        figures.check_triple,
        figures.tell_triple,
        pictures.draw_triple,
        name="2d2c",
    ),
    _constructed(
        2,
        "concentric circles, where CC fails",
        figures.rings,
        figures.check_rings,
        figures.tell_rings,
        pictures.draw_rings,
    ),
    _constructed(
        3,
        "clusters in cells of a grid, where ADCO fails",
        figures.cells,
        figures.check_cells,
        figures.tell_cells,
        pictures.draw_cells,
    ),
    _constructed(
        4,
        "why vectors are normalised",
        figures.lifted_views,
        figures.check_normalisation,
        figures.tell_views,
        pictures.draw_views,
        names=["P1", "P2"],
        k=2,
    ),
    _constructed(
        5,
        "a consensus of three partitions",
        figures.lifted_views,
        figures.check_grouping,
        figures.tell_views,
        pictures.draw_views,
        names=["P1", "P2", "P3"],
        k=2,
    ),
    _constructed(
        6,
        "the three partitions of 2D3C",
        figures.triple,
        figures.check_triple,
        figures.tell_triple,
        pictures.draw_triple,
        name="2d3c",
    ),
    Section(
        "figure-7",
        "Figure 7: digits in the centroids of MNIST test",
        ("mnist-test",),
        plan_digits,
        gather_digits,
        tell_digits,
        pictures.draw_digits,
    ),
    Section(
        "figure-8",
        "Figure 8: error of LiftEMD against ρ on 2D2C",
        (),
        plan_precision_2d2c,
        gather_precision,
        tell_precision,
        pictures.draw_precision,
    ),
    Section(
        "figure-9",
        "Figure 9: error of LiftEMD against ρ on MNIST train",
        ("mnist-train",),
        plan_precision_mnist,
        gather_precision,
        tell_precision,
        pictures.draw_precision,
    ),
]
SECTIONS: Mapping[str, Section] = MappingProxyType({section.name: section for section in _ALL})
