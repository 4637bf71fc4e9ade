"""Settings of the tests of the built site."""

import os
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent
sys.path.insert(0, str(DOCS.parent / "tests"))  # for support.browser


def pytest_addoption(parser):
    default = os.environ.get("LIFTCLUSTER_SITE", DOCS / "_build" / "html")
    parser.addoption("--site", type=Path, default=Path(default), help="folder of the built site")


@pytest.fixture(scope="session")
def site(request):
    folder = request.config.getoption("--site").resolve()
    assert (folder / "index.html").exists(), f"{folder} has no site; `make -C docs html` builds it"
    return folder
