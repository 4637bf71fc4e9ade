"""Files about the project agree with the package and with each other."""

import re

import pytest

import liftcluster as lc
from support.documentation import ROOT

CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
CITING = (ROOT / "docs" / "about" / "citing.md").read_text(encoding="utf-8")


def test_cited_version_is_that_of_the_package():
    assert re.findall(r"^version: (.+)$", CITATION, re.MULTILINE) == [lc.__version__]
    assert re.findall(r"version = \{(.+?)\}", CITING) == [lc.__version__]


def test_changelog_has_the_version_of_the_package():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == lc.__version__


def test_citations_name_the_same_paper():
    (doi,) = re.findall(r"doi: (\S+)", CITATION)
    (title,) = re.findall(r"^  title: (.+)$", CITATION, re.MULTILINE)
    bibliography = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    for text in (CITING, bibliography):
        assert doi in text
        assert title in text


@pytest.mark.parametrize("name", ["CITATION.cff", *sorted((ROOT / ".github").rglob("*.yml"))])
def test_yaml_files_can_be_read(name):
    yaml = pytest.importorskip("yaml")
    assert isinstance(yaml.safe_load((ROOT / name).read_text(encoding="utf-8")), dict)
