"""Signs of life: on a terminal only, after a while, and with any name in them."""

import pytest

import liftcluster._util.progress as progress


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)


def work_under_a_bar(show):
    with progress.progress_bar("reading [/bold] [red].csv", 2, show=show) as advance:
        advance(1)
        advance(1)


def work_under_a_sign(show):
    with progress.busy("reading [/bold] [red].csv", show=show):
        for _ in range(50):
            progress.time.sleep(0.01)


@pytest.mark.parametrize("work", [work_under_a_bar, work_under_a_sign])
def test_slow_work_shows_a_sign_of_life_with_its_name_as_text(work, impatient, capsys):
    work(show=True)
    shown = capsys.readouterr()
    assert "[/bold] [red].csv" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("work", [work_under_a_bar, work_under_a_sign])
def test_nothing_is_shown_where_there_is_no_terminal(work, impatient, capsys):
    work(show=None)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("work", [work_under_a_bar, work_under_a_sign])
def test_quick_work_shows_nothing(work, capsys):
    work(show=True)
    assert "reading" not in capsys.readouterr().err
