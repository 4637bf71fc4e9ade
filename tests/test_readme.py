"""The Python examples of the README print the output that it shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```\n+(?:```\n(.*?)```)?", README.read_text(), re.DOTALL)


def test_readme_has_examples():
    assert EXAMPLES


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_readme_examples_print_the_shown_output(code, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it may save files
    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    if output:
        assert stdout.getvalue().split() == output.split()
