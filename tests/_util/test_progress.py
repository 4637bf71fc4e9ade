"""Progress output: only on a terminal, after a delay, with names as plain text."""

import pytest

import liftcluster._util.progress as progress


@pytest.fixture
def no_delay(monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.0)


def show_progress_bar(show):
    with progress.progress_bar("reading [/bold] [red].csv", 2, show=show) as advance:
        advance(1)
        advance(1)


def show_busy_message(show):
    with progress.busy("reading [/bold] [red].csv", show=show):
        for _ in range(50):
            progress.time.sleep(0.01)


@pytest.mark.parametrize("work", [show_progress_bar, show_busy_message])
def test_slow_work_shows_its_name_as_plain_text(work, no_delay, capsys):
    work(show=True)
    shown = capsys.readouterr()
    assert "[/bold] [red].csv" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("work", [show_progress_bar, show_busy_message])
def test_nothing_is_shown_without_a_terminal(work, no_delay, capsys):
    work(show=None)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("work", [show_progress_bar, show_busy_message])
def test_quick_work_shows_nothing(work, capsys):
    work(show=True)
    assert "reading" not in capsys.readouterr().err
