"""Formulas as MathML, which browsers draw by themselves: no script and no network."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = getLogger(__name__)


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_convert(node, node.astext()))
    raise nodes.SkipNode


def visit_displaymath(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})</span>')
    for formula in filter(str.strip, node.astext().split("\n\n")):
        self.body.append(_convert(node, _aligned(formula), display="block"))
    self.body.append("</div>")
    raise nodes.SkipNode


def _convert(node: nodes.Element, formula: str, **options: str) -> str:
    # Browsers draw bars of any other kind with uneven space.
    formula = re.sub(r"(?<!\\left)(\\l[vV]ert)", r"\\left\1", formula)
    formula = re.sub(r"(?<!\\right)(\\r[vV]ert)", r"\\right\1", formula)
    try:
        return convert(formula, **options)
    except Exception as error:  # its errors have no common class
        logger.warning("cannot convert %r to MathML: %r", formula, error, location=node)
        return ""


def _aligned(formula: str) -> str:
    """Lines of a formula without an environment of their own are aligned at &."""
    if r"\\" in formula and r"\begin" not in formula:
        return rf"\begin{{aligned}}{formula}\end{{aligned}}"
    return formula


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
