"""The README's commands, run as they stand, print what the README says."""

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


def test_the_readme_has_commands():
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[c for c, _ in COMMANDS])
def test_the_readme_shows_what_its_commands_print(command, expected, tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(shlex.split(command)[1:])
    shown = capsys.readouterr()
    lines = [" ".join(line.split()) for line in (shown.out + shown.err).splitlines()]
    assert lines == [" ".join(line.split()) for line in expected]
