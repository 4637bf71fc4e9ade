"""Settings for all tests."""

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

from support.amount import TIMES

# Workers of pytest-xdist share the cores, so that each of them may use only some threads. OpenBLAS
# and OpenMP read these variables when they are loaded, as do the processes that tests start.
workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0"))
share = max(1, (os.cpu_count() or 1) // workers) if workers else 0
if share:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, str(share))

settings.register_profile(
    "default",
    deadline=None,  # machines are noisy
    max_examples=40 * max(1, int(TIMES)),
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")

# Tests started by nohup or in the background of a script ignore some signals, and so would the
# commands that they start. A handler here restores the default in child processes.
for name in ("SIGINT", "SIGHUP", "SIGTERM"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def pytest_sessionfinish():
    """Write what coverage has recorded: pytest-xdist kills workers that do not stop in 10 s."""
    coverage = sys.modules.get("coverage") if workers else None
    if coverage is not None and (recording := coverage.Coverage.current()):
        recording.save()


@pytest.fixture(scope="session", autouse=True)
def cores():
    """Limit the threads of libraries to a share of the cores, or as .ci/processors requires.

    NumPy may have been loaded before the variables above were set, and OpenBLAS starts no more
    threads than there are cores unless the limit is set at run time.
    """
    emulated = int(os.environ.get("LIFTCLUSTER_TEST_CORES", "0"))
    if emulated:
        os.sched_getaffinity = lambda pid: set(range(emulated))
        os.cpu_count = lambda: emulated
    if wanted := emulated or share:
        import scipy.linalg  # noqa: F401  loads an OpenBLAS of its own
        from threadpoolctl import ThreadpoolController

        ThreadpoolController().limit(limits=wanted, user_api="blas")


@pytest.fixture
def run(capsys):
    """Run a command in this process: its exit code, stdout and stderr."""
    from liftcluster.cli.commands import app
    from liftcluster.cli.running import run as run_application

    def run(*args, application=app):
        with pytest.raises(SystemExit) as stopped:
            run_application(application, [str(arg) for arg in args])
        shown = capsys.readouterr()
        return stopped.value.code, shown.out, shown.err

    return run


@pytest.fixture
def reproduce(run):
    """The same for `python -m reproduction`."""
    from reproduction.__main__ import app

    return lambda *args: run(*args, application=app)
