"""Numbers and texts as XML holds them."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from mbdy.engine.model.text import visible


def clean(text: str) -> str:
    """``text`` as an attribute of XML has it, on one line."""
    return visible(text).strip()


def number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")


def document(root: Element) -> bytes:
    """``root`` as the text of a file."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)
