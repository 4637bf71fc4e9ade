"""The README's Python, run as it stands, prints what the README says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```\n+(?:```\n(.*?)```)?", README.read_text(), re.DOTALL)


def test_the_readme_has_examples():
    assert EXAMPLES


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_the_readme_tells_the_truth(code, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it may save files
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    if output:
        assert shown.getvalue().split() == output.split()
