"""sources/buildDescription.xml: how the C files in an FMU are compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from mbdy.fmu.description.markup import document

LANGUAGE = "C11"
PLATFORMS: Mapping[str | None, Sequence[str]] = {None: (), "x86_64-linux": ("m",), "aarch64-linux": ("m",)}
"""Libraries that a platform needs named, None for all others: on Linux the mathematical functions have their own."""


def build_description(fmi: str, identifier: str, sources: Sequence[str], definitions: Mapping[str, str]) -> bytes:
    """The file as bytes.

    ``fmi``          the version, one that has this file.
    ``identifier``   the model identifier, the name of the library.
    ``sources``      the C files to be compiled, by their paths in ``sources/``.
    ``definitions``  preprocessor definitions with their values.
    """
    root = Element("fmiBuildDescription", fmiVersion=fmi)
    for platform, libraries in PLATFORMS.items():
        where = {} if platform is None else {"platform": platform}
        node = SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier, **where})
        files = SubElement(node, "SourceFileSet", language=LANGUAGE)
        for name in sources:
            SubElement(files, "SourceFile", name=name)
        for name, value in definitions.items():
            SubElement(files, "PreprocessorDefinition", name=name, value=value)
        for name in libraries:
            SubElement(node, "Library", name=name, external="true")
    return document(root)
