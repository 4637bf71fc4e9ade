"""Registry of the paper's tables and figures, in the order of the page."""

from __future__ import annotations

from collections.abc import Mapping

from .consensus_tables import TABLE_3, TABLE_4
from .digits import FIGURE_7
from .feature_errors import FIGURE_8, FIGURE_9
from .figures import CONSTRUCTED_FIGURES
from .runtime_table import TABLE_2
from .section import Section
from .sensitivity import TABLE_1

__all__ = ["SECTIONS"]

_ALL = [TABLE_1, TABLE_2, TABLE_3, TABLE_4, *CONSTRUCTED_FIGURES, FIGURE_7, FIGURE_8, FIGURE_9]
SECTIONS: Mapping[str, Section] = {section.name: section for section in _ALL}
