"""Arrays on a device, on a machine with or without one."""

import importlib.util
import os

import numpy as np
import pytest

HAVE_TORCH = importlib.util.find_spec("torch") is not None


def on_torch(array):
    import torch

    return torch.asarray(np.array(array), device="cuda" if torch.cuda.is_available() else "cpu")


def skip_or_fail(reason):
    """Fail where torch is required, as in .ci/run; skip elsewhere."""
    (pytest.fail if os.environ.get("LIFTCLUSTER_TORCH") == "required" else pytest.skip)(reason)


def need_triton():
    """Skip or fail where Triton can neither run nor interpret kernels."""
    if not HAVE_TORCH or importlib.util.find_spec("triton") is None:
        skip_or_fail("torch or Triton is not installed")
    import torch

    if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
        skip_or_fail("no GPU, and Triton does not interpret (TRITON_INTERPRET=1 is not set)")
