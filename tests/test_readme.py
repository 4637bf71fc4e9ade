"""The README is one page, and its numbers are those of the library and of the evidence."""

import re

import liftcluster as lc
from support.documentation import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
EVIDENCE = ROOT / "docs" / "evidence"


def evidence(name):
    return (EVIDENCE / f"{name}.md").read_text(encoding="utf-8")


def row(table, first):
    """The cells of the first row of a Markdown table that begins with some text."""
    line = next(line for line in table.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_readme_has_at_most_150_lines():
    assert len(TEXT.splitlines()) <= 150


def test_readme_has_two_commands_to_set_it_up():
    assert re.findall(r"^python -m pip install .* && .*$", TEXT, re.MULTILINE) == [
        "python -m pip install . && liftcluster demo",
        'python -m pip install -e ".[test]" && python -m pytest',
    ]


def test_numbers_of_measures_and_methods_are_those_of_the_registries():
    assert f"{len(lc.MEASURES)} measures" in TEXT
    assert f"{len(lc.METHODS) - 1} methods" in TEXT  # auto is one of the others


def test_named_functions_exist():
    table = TEXT[TEXT.index("| question | answer |") : TEXT.index("How good and how fast")]
    names = re.findall(r"`(\w+)`", table.replace("`predict`", ""))
    assert len(names) > 15
    for name in names:
        assert hasattr(lc, name), name


def test_clusterings_of_the_first_picture_differ_by_place_alone():
    """The numbers in docs/images/why.png: Rand 0.354 and 0.354, LiftEMD 0.138 and 0.316."""
    data = lc.datasets.make_2d2c()
    pairs = [(data.reference, other) for other in (data.first, data.second)]
    found = {
        name: [round(lc.distance(a, b, data.X, measure=name), 3) for a, b in pairs]
        for name, measure in lc.MEASURES.items()
        if measure.needs == "table" or name == "lift_emd"
    }
    near, far = found.pop("lift_emd")
    assert f"({near} against {far})" in TEXT
    assert (near, far) == (0.138, 0.316)
    assert found["rand"][0] == 0.354
    assert all(first == second for first, second in found.values())


def test_scores_of_consensus_are_those_of_its_page():
    page = evidence("consensus")
    table = page[page.index("## Adjusted Rand index: reported half, 44 data sets") :]
    auto, best = (row(table, name)[9] for name in ("`auto`", "`hbgf`, spectral"))
    labels_alone = [m.name for m in lc.METHODS.values() if m.needs in ("labels", "distances")]
    scores = [
        float(row(table, f"`{name}`{variant}")[9])
        for name in labels_alone
        for variant in ("", ", spectral")
        if f"| `{name}`{variant} |" in table
    ]
    assert len(scores) >= len(labels_alone)
    assert max(scores) == float(best)
    for number in (auto, best):
        assert f" {number}" in TEXT
        assert number in evidence("index")
    assert "classes of 44 data sets" in TEXT


def test_times_are_those_of_their_page():
    page = evidence("speed")
    ours = row(page, "{func}`~liftcluster.represent`, the whole call")[1]
    theirs = row(page, "`RBFSampler` float64 (scikit-learn)")[1]
    assert f"| {float(ours):.2f} s | {float(theirs):.1f} s," in TEXT


def test_claims_of_the_paper_are_those_of_its_page():
    (held,) = re.findall(r"(\d+ of \d+) checked statements hold", evidence("paper"))
    assert f"{held} statements hold" in TEXT
    assert f"{held} checked statements hold" in evidence("index")
