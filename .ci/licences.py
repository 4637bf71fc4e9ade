"""Whether everything that a plain `pip install liftcluster` brings may be used with it.

Reads what the installed packages say of themselves, from liftcluster's own requirements on, and
fails on a licence that is not in the list, on one that is not said, and on too many packages.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement

# Those that ask for no more than to be named: compatible with BSD-3-Clause in source and binary.
ALLOWED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "HPND",
    "ISC", "MIT", "MIT-0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
    "GPL-3.0-or-later WITH GCC-exception-3.1",  # the run-time library of GCC in SciPy's wheels
}  # fmt: skip
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}
MOST_PACKAGES = 25


def closure(name: str) -> dict[str, Distribution]:
    """A package and all that it needs without any extra."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        key = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if key in found:
            continue
        found[key] = distribution(key)
        for line in found[key].requires or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(needed.name)
    return found


def licences(package: Distribution) -> list[str]:
    meta = package.metadata
    if expression := meta.get("License-Expression"):
        parts = re.split(r"\s+(?:AND|OR)\s+", re.sub(r"[()]", "", expression))
        return [part.strip() for part in parts]
    classifiers = [
        line.split(" :: ")[-1]
        for line in meta.get_all("Classifier") or []
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    if classifiers:
        return [CLASSIFIERS.get(c, c) for c in classifiers]
    return [(meta.get("License") or "not said").split("\n")[0].strip()]


def main() -> None:
    found = closure("liftcluster")
    wrong = {}
    for name, package in sorted(found.items()):
        said = licences(package)
        print(f"{name} {package.version}: {', '.join(said)}")
        if bad := [licence for licence in said if licence not in ALLOWED]:
            wrong[name] = bad
    if wrong:
        sys.exit(f"not among the licences that liftcluster can be used with: {wrong}")
    if len(found) > MOST_PACKAGES:
        sys.exit(f"{len(found)} packages for a plain installation, more than {MOST_PACKAGES}")
    print(f"{len(found)} packages, all of them permissive")


if __name__ == "__main__":
    main()
