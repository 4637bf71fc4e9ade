"""The page paper.md: which claims hold, what differs from the paper and why, all numbers."""

from __future__ import annotations

from collections.abc import Mapping

from .registry import SECTIONS
from .section import Section, Values, format_seconds

__all__ = ["IMAGES", "format_claims", "write_page"]

IMAGES = "images"  # folder of the plots, beside the page

_INTRODUCTION = """<!-- Written by `python -m reproduction`; the text is in reproduction/. -->

# Reproduction of the paper's evaluation

Every table and figure of section 6 of Raman, Phillips and Venkatasubramanian, *Spatially-Aware
Comparison and Consensus for Clusterings* (SDM 2011), and the figures it refers to, reproduced by

```sh
python -m reproduction all --out docs/evidence --data FOLDER
```

with the paper's numbers for comparison. The program checks each testable statement of the paper
against the numbers computed here; no verdict on this page is written manually."""

_DIFFERENCES = """## Differences and their reasons

- **Bandwidth.** The paper does not state its kernel bandwidth, and LiftEMD, LiftKD and LiftH depend
  on it (see below table 1). Distances here use the median distance between points; the consensus
  methods use a quarter of it, which is better on most data. LiftEMD can therefore be compared with
  the paper within a row only; the Rand distance and accuracy can be compared directly.
- **Points of 2D2C and 2D3C.** The paper only shows plots of them. Ours have the same numbers of
  points and clusters, and exact ties under every measure of labels, but not the same coordinates.
- **Bins of ADCO.** Not stated either. They change its values, and on small sets even their order
  (below table 1); we use ten per axis.
- **Input partitions.** “MATLAB with the default settings” leaves open the initialisation of k-means
  and how ties in linkages are broken. The tables show mean and standard deviation over seeds, the
  paper one run. Below table 3 each input is scored on its own: on MNIST test, single and average
  linkage put 9,991 and 8,773 of 10,000 points into one cluster, which harms methods that give all
  inputs the same weight.
- **HAC.** The paper does not name the linkage of LiftHAC. Ours is Ward linkage, weighted by the
  masses of the clusters: the agglomerative version of the objective of LiftKm.
- **CSPA, HGPA, MCLA.** The paper uses ClusterPack (2002) with METIS and hMETIS; ours follow the
  same descriptions with current METIS and Mt-KaHyPar. CSPA and HGPA are balanced: they produce
  clusters of nearly equal size. The classes of Iris and MNIST are nearly equal, those of Glass are
  not.
- **Digits.** The authors recognised digits by eye, here they are counted. A mean image may look
  like an 8 although most of its images are other digits, and a cluster of one image always looks
  like a digit.
- **Lift.** The paper uses ρ = 200 or 4000 random features throughout. Here distances are exact, and
  consensus is exact up to 5,000 points and uses 500 landmarks above. Figures 8 and 9 show the error
  of random features."""


def write_page(sections: Mapping[str, Values]) -> str:
    """The page in Markdown, from the sections of paper.json."""
    parts = [_INTRODUCTION, _summary(sections), _DIFFERENCES]
    parts += [_format_section(section, sections.get(n)) for n, section in SECTIONS.items()]
    parts.append(_environments(sections))
    return "\n\n".join(parts) + "\n"


def format_claims(values: Values) -> list[str]:
    """One line per claim: the statement of the paper, whether it holds, and the evidence."""
    return [
        f"{claim['statement']}: {'holds' if claim['holds'] else 'does NOT hold here'} – "
        f"{claim['evidence']}."
        for claim in values.get("claims", [])
    ]


def _summary(sections: Mapping[str, Values]) -> str:
    claims = [
        (SECTIONS[name].title.split(":")[0], claim)
        for name in SECTIONS
        if name in sections
        for claim in sections[name]["values"].get("claims", [])
    ]
    held = sum(claim["holds"] for _, claim in claims)
    lines = ["## Summary", f"{held} of {len(claims)} checked statements hold here."]
    failed = [
        f"- {where}: {claim['statement']}. Here: {claim['evidence']}."
        for where, claim in claims
        if not claim["holds"]
    ]
    if failed:
        lines += ["These do not hold:", "\n".join(failed)]
    speed = [
        f"- {claim['statement'].removeprefix('(Ours.) ')}: {claim['evidence']}."
        for _, claim in claims
        if claim["statement"].startswith("(Ours.) Lifting")
    ]
    if speed:
        lines += ["Speed:", "\n".join(speed)]
    return "\n\n".join(lines)


def _format_section(section: Section, record: Values | None) -> str:
    parts = [f"## {section.title}"]
    if record is None:
        return f"{parts[0]}\n\nNot computed yet: `python -m reproduction {section.name}`."
    values = record["values"]
    if record.get("picture"):
        parts.append(f"![{section.title}]({IMAGES}/{record['picture']})")
    if "claims" in values:
        parts.append(section.describe(values))
        parts.append("\n".join(f"- {line}" for line in format_claims(values)))
    parts += [f"Missing data set: {sentence}" for sentence in record["missing"].values()]
    return "\n\n".join(parts)


def _environments(sections: Mapping[str, Values]) -> str:
    """When and where the sections were computed; they may come from different runs."""
    by_environment: dict[str, list[str]] = {}
    for name in SECTIONS:
        for record in sections[name]["environments"] if name in sections else ():
            text, seconds = _format_environment(record), format_seconds(record["seconds"])
            by_environment.setdefault(text, []).append(f"{name} ({seconds})")
    lines = [f"- {text}: {', '.join(names)}." for text, names in by_environment.items()]
    return "\n".join(["## Environment and computing time", "", *lines])


def _format_environment(record: Values) -> str:
    versions = ", ".join(f"{name} {v}" for name, v in record["versions"].items() if v is not None)
    kernels = record["compiled_kernels"] or "no"
    return (
        f"{record['date']}, {record['cores']} cores of {record['processor']}, Python "
        f"{record['python']}, {versions}, {kernels} kernels"
    )
