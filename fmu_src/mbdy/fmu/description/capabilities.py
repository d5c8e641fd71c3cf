"""What an FMU can do, as the elements ModelExchange and CoSimulation say it, and what it logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

STATES = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true"}
STATES_3 = {"canGetAndSetFMUState": "true", "canSerializeFMUState": "true"}
NATIVE = {
    **STATES,
    "providesDirectionalDerivative": "true",
    "canNotUseMemoryManagementFunctions": "true",
    "canBeInstantiatedOnlyOncePerProcess": "false",
}
NATIVE_3 = {
    **STATES_3,
    "providesDirectionalDerivatives": "true",
    "providesAdjointDerivatives": "true",
    "canBeInstantiatedOnlyOncePerProcess": "false",
}
PYTHON = {
    "needsExecutionTool": "true",  # the host must run Python already
    "canHandleVariableCommunicationStepSize": "true",
    "canBeInstantiatedOnlyOncePerProcess": "false",
}
INTERFACES: Mapping[tuple[str, str], Mapping[str, Mapping[str, str]]] = {
    ("2.0", "python"): {
        "CoSimulation": {
            **PYTHON,
            **STATES,
            "canInterpolateInputs": "false",
            "canNotUseMemoryManagementFunctions": "true",
        },
    },
    ("3.0", "python"): {"CoSimulation": {**PYTHON, **STATES_3}},
    ("2.0", "native"): {
        "ModelExchange": {**NATIVE, "completedIntegratorStepNotNeeded": "false"},
        "CoSimulation": {
            **NATIVE,
            "canHandleVariableCommunicationStepSize": "true",
            "canInterpolateInputs": "true",
            "maxOutputDerivativeOrder": "1",
            "canRunAsynchronuously": "false",
        },
    },
    ("3.0", "native"): {
        "ModelExchange": {**NATIVE_3, "needsCompletedIntegratorStep": "true"},
        "CoSimulation": {
            **NATIVE_3,
            "canHandleVariableCommunicationStepSize": "true",
            "maxOutputDerivativeOrder": "1",
            "providesIntermediateUpdate": "true",
            "canReturnEarlyAfterIntermediateUpdate": "true",
            "mightReturnEarlyFromDoStep": "false",
            "hasEventMode": "true",
        },
    },
}
"""Attributes of each element by version and kind, but for the identifier and the internal step."""

CATEGORIES: Mapping[str, str] = {
    "logStatusWarning": "What may be wrong though the run goes on",
    "logStatusDiscard": "Why a call was discarded",
    "logStatusError": "Why a call failed",
    "logStatusFatal": "Why an instance cannot go on",
    "logEvents": "Events, such as joints that latch",
    "logAll": "All messages",
}
UNUSED = {"python": "logEvents", "native": "logStatusFatal"}


def interfaces(fmi: str, kind: str, *, identifier: str, step: float, sources: Sequence[str] = ()) -> Iterator[Element]:
    """The elements of one FMU; ``step`` [s] is the internal step, ``sources`` the C files that FMI 2 lists here."""
    for tag, attributes in INTERFACES[fmi, kind].items():
        node = Element(tag, {"modelIdentifier": identifier, **attributes})
        if fmi == "3.0" and tag == "CoSimulation":
            node.set("fixedInternalStepSize", repr(step))
        if fmi == "2.0" and sources:
            files = SubElement(node, "SourceFiles")
            for name in sources:
                SubElement(files, "File", name=name)
        yield node


def categories(kind: str) -> Element:
    """The element LogCategories of an FMU of this ``kind``."""
    node = Element("LogCategories")
    for name, description in CATEGORIES.items():
        if name != UNUSED[kind]:
            SubElement(node, "Category", name=name, description=description)
    return node
