"""Killed or stopped commands and full disks: old files are kept, and none is partly written.

Each command runs in its own process, on tables that take from seconds to minutes. With
``LIFTCLUSTER_LONG`` they are stopped at more times.
"""

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import liftcluster as lc
import liftcluster.cli
from benchmarks.signals import LONG, START, hears, start, write_tables
from liftcluster._util.files import atomic_write
from liftcluster.cli import stopping
from liftcluster.cli.stopping import Stop, stoppable
from liftcluster.io import InputError, check_target, write_columns
from support.amount import IS_LONG, also

SECONDS = 20  # in which a command must end on a very busy machine; on a quiet one it takes one


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder)
    return folder


def wait_until(true, process):
    for _ in range(20_000):
        if true():
            return
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.001)
    pytest.fail("waited for twenty seconds")


def wait_for_signal_handlers(process, by=signal.SIGTERM):
    """Wait until the command has been imported and has installed its signal handlers."""
    wait_until(lambda: hears(process, by), process)


def stop(process, by):
    """Send a signal; return the exit code, stdout and stderr of the process."""
    process.send_signal(by)
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"did not end within {SECONDS} seconds of the signal")
    return process.returncode, out, err


DELAYS = np.linspace(0, 6, 20).round(2).tolist() if IS_LONG else [0.0, 1.5]
FIRST = [("transport", 0.0), ("page", 0.5)]
LISTED = [(name, after) for name in LONG for after in DELAYS if (name, after) not in FIRST]


@pytest.mark.parametrize(("name", "after"), [*FIRST, *(also(*case) for case in LISTED)])
def test_interrupted_long_command_stops_at_once_and_leaves_no_partial_file(
    name, after, tables, tmp_path
):
    old = {"page.html": "the page of yesterday", "found.csv": "label\n7\n"}
    for file, text in old.items():
        (tmp_path / file).write_text(text)
    process = start(LONG[name], tables, tmp_path)
    wait_for_signal_handlers(process)
    time.sleep(after)
    if process.poll() is not None:  # a very fast machine: the command has finished
        process.communicate()
        assert process.returncode == 0
        return
    code, _, err = stop(process, signal.SIGINT)
    if code in (0, -signal.SIGINT):  # the command had finished, and Python was exiting
        assert "Traceback" not in err
        return
    assert (code, err.splitlines()[-1:]) == (130, ["liftcluster: stopped"]), err
    assert "Traceback" not in err
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == old


WRITERS = {
    "table": "write_columns(sys.argv[1], {'label': np.arange(3 * 10**6)})",
    "packed table": "write_columns(sys.argv[1], {'label': np.arange(10**6)})",
    "page": "data = {'measures': {}, 'pairs': [], 'x': 'long ' * 10**7}\n"
    "Report('t', [['s']], data).save(sys.argv[1])",
    "representation": "write_npz(sys.argv[1], {}, {'x': np.zeros(10**9)})",
}
ENDINGS = {
    "table": "csv",
    "packed table": "csv.gz",
    "page": "html",
    "representation": "npz",
}


def unfinished(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".liftcluster-")]


@pytest.mark.parametrize("what", ["table", *(also(what) for what in WRITERS if what != "table")])
def test_killed_writer_keeps_the_old_file(what, tmp_path):
    target = tmp_path / f"found.{ENDINGS[what]}"
    target.write_text("what was there")
    script = (
        "import sys, numpy as np\n"
        "from liftcluster.io import write_columns\n"
        "from liftcluster.viz.report.page import Report\n"
        "from liftcluster.representation.storage import write_npz\n" + WRITERS[what]
    )
    command = [sys.executable, "-c", script, str(target)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(path.stat().st_size for path in unfinished(tmp_path)), process)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.stderr.close()
    assert target.read_text() == "what was there"
    left = unfinished(tmp_path)  # a temporary file, which no command reads
    assert {*tmp_path.iterdir()} == {target, *left}
    assert len(left) == 1


@pytest.mark.long
def test_terminated_writer_removes_its_partial_file(tables, tmp_path):
    command = (
        "consensus {huge} --labels-only -l u,v,w -k 3 --method majority -q -o {folder}/found.csv"
    )
    process = start(command, tables, tmp_path)
    wait_until(lambda: unfinished(tmp_path), process)
    code, out, err = stop(process, signal.SIGTERM)
    assert (code, out, err) == (143, "", "liftcluster: stopped\n")
    assert [*tmp_path.iterdir()] == []


def test_interrupt_stops_a_command_inside_a_long_library_call(tables, tmp_path):
    # A single call into C that takes minutes, during which Python handles no signals.
    script = (
        "import hashlib, liftcluster.cli.work as w; from liftcluster._util.files import atomic_write\n"
        "def work(*args):\n"
        "    with atomic_write('page.html') as temporary:\n"
        "        temporary.write_text('half'); print('begun', flush=True)\n"
        "        hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)\n"
        "w.compare_two = work\n"
        "from liftcluster_start import main; main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "compare", tables / "middling.csv", "-l", "u,v"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout.readline() == "begun\n"
    assert len(unfinished(tmp_path)) == 1
    time.sleep(0.2)
    assert stop(process, signal.SIGINT) == (130, "", "liftcluster: stopped\n")
    assert [*tmp_path.iterdir()] == []


def test_interrupt_that_a_callback_in_c_loses_prints_one_line(tables, tmp_path):
    # As compiled code of SciPy does, whose functions print the exceptions that they cannot raise.
    script = (
        "import ctypes, os, signal, time, liftcluster.cli.work as w\n"
        "def interrupted():\n"
        "    os.kill(os.getpid(), signal.SIGINT); time.sleep(0.01)\n"
        "def printed():\n"
        "    try: interrupted()\n"
        "    except KeyboardInterrupt as error:\n"
        "        sys.excepthook(type(error), error, error.__traceback__); raise\n"
        "def work(*args):\n"
        "    ctypes.CFUNCTYPE(None)(printed)(); time.sleep(60)\n"
        "import sys; w.compare_two = work\n"
        "from liftcluster_start import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "compare", tables / "middling.csv", "-l", "u,v"],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (130, "liftcluster: stopped\n")


@pytest.fixture
def marked_start(monkeypatch):
    """Commands that also handle SIGUSR1 once their first handler of SIGINT is installed.

    Python itself handles SIGINT from its very start, before any of our code can run.
    """
    code = (
        "import signal, liftcluster_start; install = signal.signal\n"
        "def mark(number, handler):\n"
        "    install(number, handler)\n"
        "    install(signal.SIGUSR1, lambda *_: None)\n"
        "signal.signal = mark; liftcluster_start.main()"
    )
    monkeypatch.setattr("benchmarks.signals.START", [sys.executable, "-c", code])


@pytest.mark.parametrize("after", [0.0, 0.1, 0.3, 0.6])
@pytest.mark.usefixtures("marked_start")
def test_interrupt_during_import_prints_one_line(after, tables, tmp_path):
    process = start(LONG["exact"], tables, tmp_path)  # still running when the signal is sent
    wait_for_signal_handlers(process, signal.SIGUSR1)
    time.sleep(after)
    assert stop(process, signal.SIGINT) == (130, "", "liftcluster: stopped\n")


LOSES_THE_INTERRUPT = {
    # As NumPy's module in C does, if the signal comes while it is loaded.
    "turned into another error": (
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT); time.sleep(0.01)\n"
        "except KeyboardInterrupt:\n"
        "    raise ImportError('failed to import')\n"
    ),
    # As Python's import system does, which removes its locks by such callbacks.
    "in a weak reference's callback": (
        "import weakref\n"
        "class Lock: pass\n"
        "lock = Lock()\n"
        "reference = weakref.ref(lock, lambda _: os.kill(os.getpid(), signal.SIGINT))\n"
        "del lock\n"
        "time.sleep(60)\n"
    ),
}


@pytest.mark.parametrize(
    ("module", "code"),
    [
        # In place of the package, which the command imports first.
        ("liftcluster", "import liftcluster_start; liftcluster_start.main()"),
        (
            "loses",
            "from liftcluster.cli.stopping import Stop, stoppable\n"
            "with stoppable(Stop()): import loses",
        ),
    ],
    ids=["package", "later"],
)
@pytest.mark.parametrize("how", LOSES_THE_INTERRUPT)
def test_interrupt_that_an_import_would_lose_stops_the_command(how, module, code, tmp_path):
    text = "import os, signal, time\n" + LOSES_THE_INTERRUPT[how]
    (tmp_path / f"{module}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (130, "liftcluster: stopped\n")


@pytest.mark.parametrize("by", [signal.SIGTERM, also(signal.SIGHUP)])
def test_sigterm_and_sighup_stop_a_command_like_ctrl_c(by, tables, tmp_path):
    process = start(LONG["transport"], tables, tmp_path)
    wait_for_signal_handlers(process)
    assert stop(process, by)[::2] == (128 + by, "liftcluster: stopped\n")


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.usefixtures("marked_start")
def test_repeated_interrupts_change_nothing(loaded, tables, tmp_path):
    process = start(LONG["exact"], tables, tmp_path)
    wait_for_signal_handlers(process, signal.SIGTERM if loaded else signal.SIGUSR1)
    time.sleep(0.3)
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        time.sleep(0.002)
    assert stop(process, signal.SIGINT)[::2] == (130, "liftcluster: stopped\n")


def limited(bytes_):
    """Limit the size of files, which a writer sees as a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))


@pytest.mark.parametrize(
    "command",
    [
        "consensus {large} --labels-only -l u,v,w -k 3 --method majority -o {folder}/found.csv",
        also(
            "consensus {large} --labels-only -l u,v,w -k 3 --method majority -o {folder}/found.csv.gz"
        ),
        also(
            "consensus {large} --labels-only -l u,v,w -k 3 --method majority -o {folder}/found.npz"
        ),
        also(
            "consensus {large} --labels-only -l u,v,w -k 3 --method majority -o {folder}/found.parquet"
        ),
        also("report {middling} -c x,y,z -l u,v --out {folder}/page.html"),
    ],
)
def test_disk_filling_up_while_writing_keeps_the_old_file(command, tables, tmp_path):
    words = command.format(
        large=tables / "large.csv", middling=tables / "middling.csv", folder=tmp_path
    ).split()
    target = Path(words[-1])
    target.write_text("what was there")
    ended = subprocess.run(
        [*START, *words, "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited(500),
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert str(target) in ended.stderr
    assert "File too large" in ended.stderr
    assert [*tmp_path.iterdir()] == [target]
    assert target.read_text() == "what was there"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("mine.csv/found.csv", "there is no folder"),  # inside a file
        ("/proc/found.csv", "cannot be written"),  # where even root cannot create files
        ("round.csv", "Too many levels of symbolic links"),
        ("lost.csv", "there is no folder"),  # a dangling link
        ("x" * 300 + ".csv", "File name too long"),
    ],
)
def test_unwritable_output_path_is_a_one_line_error(place, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text("u,v\na,b\nb,a\na,a\n")
    Path("round.csv").symlink_to("round.csv")
    Path("lost.csv").symlink_to("nowhere/found.csv")
    command = f"consensus mine.csv --labels-only -l u,v -k 2 --method majority --out {place}"
    with pytest.raises(SystemExit) as stopped:
        lc.cli.main([*command.split(), "--quiet"])
    shown = capsys.readouterr().err
    assert stopped.value.code == 2
    assert message in shown
    assert len(shown.splitlines()) == 1


def test_file_name_of_maximum_length_is_written(tmp_path):
    target = tmp_path / ("x" * 251 + ".csv")
    write_columns(target, {"label": np.array([7])})
    assert target.read_text() == "label\n7\n"
    lc.represent([[0.0], [1.0]], [0, 1]).save(tmp_path / ("x" * 251 + ".npz"))


def test_circular_symbolic_link_is_refused_with_its_path(tmp_path):
    link = tmp_path / "round.npz"
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links") as caught:
        lc.represent([[0.0], [1.0]], [0, 1]).save(link)
    assert (caught.value.errno, caught.value.filename) == (errno.ELOOP, str(link))
    with pytest.raises(InputError, match="symbolic links"):
        check_target(link, [".npz"])
    assert link.is_symlink()


def test_output_to_a_full_device_is_a_one_line_error():
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [*START, "measures"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert ended.stderr == "liftcluster: the output cannot be written: No space left on device\n"


@pytest.fixture
def signals():
    """Restore the signal handlers after the test."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_interrupts_the_work_once_and_gives_its_exit_code(by, signals):
    stop = Stop()
    with pytest.raises(KeyboardInterrupt), stoppable(stop):
        signal.raise_signal(by)
    assert (stop.wanted, stop.exit_code) == (True, 128 + by)
    signal.raise_signal(by)  # ignored


def test_ignored_signal_stays_ignored(signals):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    stop = Stop()
    with stoppable(stop):
        signal.raise_signal(signal.SIGHUP)
    assert not stop.wanted


def test_signal_handlers_are_restored_without_a_signal(signals):
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stoppable(Stop()):
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_work_that_ignores_an_interrupt_is_terminated(signals, monkeypatch, tmp_path, capfd):
    ended = []
    monkeypatch.setattr(stopping, "_GRACE_PERIOD", 0.01)
    monkeypatch.setattr(stopping.os, "_exit", ended.append)
    with stoppable(Stop()), atomic_write(tmp_path / "found.csv") as temporary:
        temporary.write_text("half")
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        for _ in range(500):
            time.sleep(0.01 if not ended else 0)
        assert not temporary.exists()
        temporary.write_text("so that it can be replaced")
    assert ended == [143]
    assert capfd.readouterr().err == "liftcluster: stopped\n"


def test_stopped_command_exits_at_once_with_its_exit_code(signals, monkeypatch, tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text("x,u,v\n0,a,b\n1,b,b\n")
    ended = []
    monkeypatch.setattr(stopping.os, "_exit", ended.append)
    work = "liftcluster.cli.work.compare_two"
    monkeypatch.setattr(work, lambda *args: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit):
        liftcluster.cli.main(["compare", str(path), "-l", "u,v", "-q"])
    assert ended == [143]
    assert capsys.readouterr().err == "liftcluster: stopped\n"


def test_command_in_another_thread_does_not_change_signal_handlers(tmp_path):
    before = signal.getsignal(signal.SIGTERM)

    def work():
        with stoppable(Stop()):
            return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == before
