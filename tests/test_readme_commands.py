"""The commands of the README print the output that it shows."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from liftcluster.cli import main

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
COMMANDS = [
    (lines[0], lines[1:])
    for block in BLOCKS
    for lines in [
        part.splitlines() for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part
    ]
]


def test_readme_has_commands():
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[c for c, _ in COMMANDS])
def test_readme_commands_print_the_shown_output(command, expected, tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(shlex.split(command)[1:])
    captured = capsys.readouterr()
    lines = [" ".join(line.split()) for line in (captured.out + captured.err).splitlines()]
    assert lines == [" ".join(line.split()) for line in expected]
