import io
import sys

import pytest

from rubricate.progress import Pace, shown_progress, silent, watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_label_count_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with shown_progress() as progress:
        for _ in watched(range(3), progress, "reading", 3):
            pass
        progress(1, None, "writing")
    shown = screen.getvalue()
    assert "reading: 100%" in shown
    assert "3/3" in shown
    assert "writing: 1it" in shown


def test_nothing_is_shown_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress() as progress:
        progress(1, 2, "reading")
    assert progress is silent
    assert capsys.readouterr().err == ""


def test_a_pace_follows_what_items_take() -> None:
    pace = Pace(200)
    assert pace.size <= 10
    pace.took(pace.size, seconds=0.001)
    assert pace.size == 200
    pace.took(200, seconds=50.0)
    assert pace.size == 4
    pace.took(4, seconds=1000.0)
    assert pace.size == 1
    pace.took(0, seconds=0.0)
    assert pace.size == 1
    assert Pace(3).size == 3
