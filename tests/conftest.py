"""Settings for all tests."""

import os
import signal

import pytest
from amount import TIMES
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,  # machines are noisy
    max_examples=40 * max(1, int(TIMES)),
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")

# Commands that tests start are to hear signals even where the tests were started by nohup or in the
# background of a script, which ignore some: what is caught here is theirs again.
for name in ("SIGINT", "SIGHUP", "SIGTERM"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


@pytest.fixture(scope="session", autouse=True)
def emulated_cores():
    """As many cores as LIFTCLUSTER_TEST_CORES says, for .ci/processors; else those that are here.

    OpenBLAS starts no more threads than there are cores unless it is told so while it runs.
    """
    if wanted := int(os.environ.get("LIFTCLUSTER_TEST_CORES", "0")):
        import scipy.linalg  # noqa: F401  loads its own OpenBLAS
        from threadpoolctl import ThreadpoolController

        os.sched_getaffinity = lambda pid: set(range(wanted))
        os.cpu_count = lambda: wanted
        ThreadpoolController().limit(limits=wanted, user_api="blas")


@pytest.fixture
def run(capsys):
    """Run a command in this process: its exit code, stdout and stderr."""
    from liftcluster.cli import main

    def run(*args):
        with pytest.raises(SystemExit) as stopped:
            main([str(arg) for arg in args])
        shown = capsys.readouterr()
        return stopped.value.code, shown.out, shown.err

    return run
