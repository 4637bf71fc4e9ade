"""The scripts in examples/ run unchanged and draw figures."""

import re
import runpy
import sys
import time
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("anndata")

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("plot_*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_its_figures_are_not_empty(path, monkeypatch, capsys):
    import matplotlib.pyplot as plt

    if path.stem == "plot_graphs" and sys.version_info >= (3, 13):
        pytest.importorskip("grakel")
    plt.switch_backend("agg")
    shown = []

    def show():
        for number in plt.get_fignums():
            figure = plt.figure(number)
            figure.canvas.draw()
            shown.append(
                sum(len(ax.collections) + len(ax.images) + len(ax.lines) for ax in figure.axes)
            )
        plt.close("all")

    monkeypatch.setattr(plt, "show", show)
    start = time.monotonic()
    runpy.run_path(str(path))
    assert time.monotonic() - start < 30  # a slow machine; under 20 s on a usual one
    assert shown
    assert all(shown)
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title_for_the_gallery(path):
    assert re.match(r'"""\n(.+)\n(=+)\n\n', path.read_text())
    title, line = re.match(r'"""\n(.+)\n(=+)\n', path.read_text()).groups()
    assert len(title) == len(line)
