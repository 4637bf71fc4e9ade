"""The command line, as a person would use it."""

import re
import subprocess
import sys

from typer.testing import CliRunner

import liftcluster
from liftcluster.cli import app


def test_the_demo_lifts_real_points_and_its_errors_hold():
    shown = CliRunner().invoke(app, ["demo"])
    assert shown.exit_code == 0, shown.output
    assert "1,797 handwritten digits" in shown.output
    assert len(re.findall(r"\d\.\d{4} ± \d\.\d{4}", shown.output)) == 3
    assert "% of the mass" in shown.output
    covered = re.search(r"(\d+)% of the exact ones", " ".join(shown.output.split()))
    assert int(covered[1]) >= 90


def test_the_same_seed_prints_the_same_numbers():
    tables = [
        CliRunner().invoke(app, ["demo", "--seed", "3"]).output.split("LiftEMD")[1]
        for _ in range(2)
    ]
    assert tables[0] == tables[1]


def test_the_version_is_printed():
    shown = CliRunner().invoke(app, ["--version"])
    assert shown.exit_code == 0
    assert shown.output.strip() == liftcluster.__version__


def test_the_command_is_installed():
    shown = subprocess.run(
        [sys.executable, "-m", "liftcluster", "--help"], capture_output=True, text=True, check=True
    )
    assert "demo" in shown.stdout


def test_an_unknown_command_is_an_error_with_code_two():
    assert CliRunner().invoke(app, ["dance"]).exit_code == 2


def test_the_measures_are_listed():
    shown = CliRunner().invoke(app, ["measures"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    for name in liftcluster.MEASURES:
        assert name in shown.output
