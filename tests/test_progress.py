import io
import sys

import pytest

from rubricate.progress import shown_progress, silent, watched


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
