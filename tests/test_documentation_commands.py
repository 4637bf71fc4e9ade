"""The commands of the README and of the documentation print the output that is shown."""

import re
import shlex
import shutil

import pytest

from liftcluster.cli import main
from support.documentation import PAGES, ROOT, blocks_of, rounded

BLOCKS = [
    block
    for page in PAGES
    for block in blocks_of(page)
    if block.info == "console" and "$ liftcluster" in block.text
]


def commands_of(text):
    """Commands with the lines that each of them prints; a backslash continues a command."""
    text = text.replace("\\\n", " ")
    parts = [part.splitlines() for part in re.split(r"^\$ ", text, flags=re.MULTILINE)]
    return [(lines[0], lines[1:]) for lines in parts if lines]


def test_pages_have_commands():
    assert "README.md" in {block.page for block in BLOCKS}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}:{block.line}")
def test_commands_print_the_shown_output(block, tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for command, expected in commands_of(block.text):
        name, *arguments = shlex.split(command)
        assert name == "liftcluster", f"only liftcluster is run here: {command}"
        with pytest.raises(SystemExit):
            main(arguments)
        captured = capsys.readouterr()
        assert words(captured.out + captured.err) == words("\n".join(expected))


def words(text):
    """Lines without differences of white space and empty lines."""
    lines = rounded(text).splitlines()
    return [line for line in (" ".join(line.split()) for line in lines) if line]
