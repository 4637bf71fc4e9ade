"""The stories in examples/ run as they stand, and draw something."""

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
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_its_pictures_have_marks_in_them(path, monkeypatch, capsys):
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
    begun = time.monotonic()
    runpy.run_path(str(path))
    assert time.monotonic() - begun < 30  # a slow machine; under ten seconds on a usual one
    assert shown
    assert all(shown)
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_for_the_gallery(path):
    assert re.match(r'"""\n(.+)\n(=+)\n\n', path.read_text())
    title, line = re.match(r'"""\n(.+)\n(=+)\n', path.read_text()).groups()
    assert len(title) == len(line)
