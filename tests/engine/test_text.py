"""Letters that act instead of showing are shown as escapes, wherever text of others is."""

from __future__ import annotations

import pytest

from mbdy.engine import MbdyError, MbdyWarning, ModelError, RefusalError, UnknownNameError, loads
from mbdy.engine.model.display import html_table
from mbdy.engine.model.text import html, visible

ACTING = "\x00\a\x1b\r\x7f\x85\x9b\u200b\u202e\u2028\ud800\ufffe"
"""NUL, BEL, ESC, CR, DEL, two of C1, no space, right to left, line separator, half a character, none."""


@pytest.mark.parametrize("letter", ACTING)
def test_a_letter_that_acts_is_escaped(letter: str) -> None:
    assert visible(f"a{letter}b").isprintable()
    assert visible(f"a{letter}b").encode().decode("unicode_escape") == f"a{letter}b"


def test_what_shows_stays() -> None:
    for text in ("Ünïcode файл 衛星 🛰 a\u00a0b", "back\\slash"):
        assert visible(text) == text
    assert visible("a\nb\tc", keep="\n\t") == "a\nb\tc"
    assert visible("a\nb\tc") == "a\\nb\\tc"
    assert html("<\x1b[31m>\n") == "&lt;\\x1b[31m&gt;\n"
    assert html_table("\x1b", ("\x1b",), [("\x1b",)]).count("\\x1b") == 3


def test_faults_show_it() -> None:
    text = 'mbdy = 1\n"\\u001bkey" = 1\n[body.b]\nmass = "1 kg\\u202e"\njoint = { to = "b\\u0007", kind = "\\u009b" }\n'
    with pytest.raises(ModelError) as caught:
        loads(text, source="a\x1b.toml")
    assert str(caught.value).replace("\n", "").isprintable()
    assert "a\\x1b.toml: " in str(caught.value)
    for fault in (MbdyError("a\x1b"), MbdyWarning("a\x1b"), UnknownNameError("a\x1b"), RefusalError("a", "\x1b")):
        assert "\\x1b" in str(fault)
        assert str(fault).isprintable()
    assert str(MbdyError(f"line 3: {'A' * 70_000} is no name")) == f"line 3: {'A' * 60}... is no name"
