"""The compiled kernels with each instruction set, and without them."""

import pytest

from liftcluster.lifts import _native
from support.kernel_cases import SETS, kernels


@pytest.fixture(params=SETS)
def instruction_set(request):
    before = kernels.in_use()
    kernels.use(request.param)
    yield request.param
    kernels.use(before)


@pytest.fixture
def by_numpy(monkeypatch):
    """A function that calls its argument with the extension disabled."""

    def compute(function):
        with monkeypatch.context() as patch:
            patch.setattr(_native, "_loaded", None)
            return function()

    return compute
