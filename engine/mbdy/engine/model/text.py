"""Text of others (names, paths, comments of files) as it is shown: nothing in it acts on a terminal or a page."""

from __future__ import annotations

import html as markup
import re
import unicodedata

ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's categories of what does not show but acts: control and format characters, half characters, line ends."""
LINES = "\n\t"
"""What texts of several lines have besides letters."""
NO_XML = "\ufffe\uffff"
"""No characters, which XML refuses."""
ENDLESS = re.compile(r"(\S{60})\S{940,}")
"""Words that nobody reads, of which messages have the begin."""


def visible(text: str, keep: str = "") -> str:
    """``text`` on one line, with each character that acts instead of showing as its escape (``\\x1b``, ``\\u202e``).

    Of these ``keep`` has those that stay.
    """
    if text.isprintable():
        return text
    acting = {c for c in set(text) - set(keep) if unicodedata.category(c) in ACTING or c in NO_XML}
    return "".join(c.encode("unicode_escape").decode() if c in acting else c for c in text)


def told(text: str) -> str:
    """``text`` of a message, which may quote what a file has: `visible` on its lines, without endless words."""
    return ENDLESS.sub(r"\1...", visible(text, keep=LINES))


def html(text: str) -> str:
    """``text`` as HTML, SVG and XML have it, line ends kept."""
    return markup.escape(visible(text, keep=LINES))
