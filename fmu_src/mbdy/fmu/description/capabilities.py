"""What an FMU can do, as the elements ModelExchange and CoSimulation say it, and what it logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from mbdy.fmu.versions import Version

CATEGORIES: Mapping[str, str] = {
    "logStatusWarning": "What may be wrong though the run goes on",
    "logStatusDiscard": "Why a call was discarded",
    "logStatusError": "Why a call failed",
    "logStatusFatal": "Why an instance cannot go on",
    "logEvents": "Events, such as joints that latch",
    "logAll": "All messages",
}
FATAL = "logStatusFatal"
"""Of pythonfmu alone."""


def interfaces(
    version: Version, kind: str, *, identifier: str, step: float, sources: Sequence[str] = ()
) -> Iterator[Element]:
    """The elements of one FMU; ``step`` [s] is the internal step, ``sources`` its C files."""
    for tag, attributes in version.interfaces[kind].items():
        filled = {name: value.format(step=step) for name, value in attributes.items()}
        node = Element(tag, {"modelIdentifier": identifier, **filled})
        if sources and not version.build:
            files = SubElement(node, "SourceFiles")
            for name in sources:
                SubElement(files, "File", name=name)
        yield node


def categories(kind: str) -> Element:
    """The element LogCategories of an FMU of this ``kind``."""
    node = Element("LogCategories")
    for name, description in CATEGORIES.items():
        if kind == "python" or name != FATAL:
            SubElement(node, "Category", name=name, description=description)
    return node
