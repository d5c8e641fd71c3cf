"""The versions of FMI, one row each: all that an FMU of one has otherwise than an FMU of another.

A further one is a row here, its shell in C (``native/``), and its slave and front for pythonfmu (``python/``), all
called by its ``stem``. This file loads nothing of mbdy, so that commands can read it as they start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Attributes = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of FMI.

    ``name``        as it is asked for, and the attribute ``fmiVersion``.
    ``stem``        how its files begin: C shell and headers, slave, front.
    ``builder``     the package that builds its FMUs of kind ``python``.
    ``interfaces``  by kind, attributes of the elements ModelExchange and CoSimulation but for the identifier, with
                    ``{step}`` for the internal step.
    ``root``        by kind, attributes of modelDescription.xml's root that others do not have.
    ``token``       the attribute that has the token, or GUID.
    ``arrays``      whether a variable can have several elements.
    ``time``        whether the time is a variable.
    ``index``       whether what ModelStructure and derivatives refer to is a variable's index, from 1; else its value
                    reference.
    ``variable``    the element around that of a variable's type; empty where the latter is the variable.
    ``real``        the type of real variables.
    ``unknowns``    elements of ModelStructure for outputs, derivatives, initial unknowns and, where it has such, event
                    indicators.
    ``unknown``     the element of each in these; empty where each has one of ``unknowns``.
    ``build``       whether buildDescription.xml says how sources are compiled; else modelDescription.xml lists them.
    ``tuples``      whether folders of binaries are called by architecture and system (``x86_64-linux``).
    ``terminals``   the version of terminalsAndIcons.xml.
    ``picture``     whether importers look for the icon as ``model.png``.
    """

    name: str
    stem: str
    builder: str
    interfaces: Mapping[str, Mapping[str, Attributes]]
    root: Mapping[str, Attributes]
    token: str
    arrays: bool
    time: bool
    index: bool
    variable: str
    real: str
    unknowns: tuple[str, ...]
    unknown: str
    build: bool
    tuples: bool
    terminals: str
    picture: bool

    @property
    def adjoint(self) -> bool:
        """Whether native FMUs give derivatives of outputs times a vector from the left."""
        return "providesAdjointDerivatives" in self.interfaces["native"]["ModelExchange"]

    def intermediate(self, kind: str) -> bool:
        """Whether continuous inputs can be set and outputs be read within a step."""
        return "providesIntermediateUpdate" in self.interfaces[kind]["CoSimulation"]


STATES_2 = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true"}
STATES_3 = {"canGetAndSetFMUState": "true", "canSerializeFMUState": "true"}
NATIVE_2 = {
    **STATES_2, "providesDirectionalDerivative": "true", "canNotUseMemoryManagementFunctions": "true",
    "canBeInstantiatedOnlyOncePerProcess": "false",
}  # fmt: skip
NATIVE_3 = {
    **STATES_3, "providesDirectionalDerivatives": "true", "providesAdjointDerivatives": "true",
    "canBeInstantiatedOnlyOncePerProcess": "false",
}  # fmt: skip
ANY_STEP = {"canHandleVariableCommunicationStepSize": "true"}
PYTHON = {"needsExecutionTool": "true", **ANY_STEP, "canBeInstantiatedOnlyOncePerProcess": "false"}
"""The host must run Python already."""
ROWS = (
    Version(
        name="2.0",
        stem="fmi2",
        builder="pythonfmu",
        interfaces={
            "python": {"CoSimulation": {
                **PYTHON, **STATES_2, "canInterpolateInputs": "false", "canNotUseMemoryManagementFunctions": "true",
            }},
            "native": {
                "ModelExchange": {**NATIVE_2, "completedIntegratorStepNotNeeded": "false"},
                "CoSimulation": {
                    **NATIVE_2, **ANY_STEP, "canInterpolateInputs": "true", "maxOutputDerivativeOrder": "1",
                    "canRunAsynchronuously": "false",
                },
            },
        },
        root={"python": {}, "native": {"numberOfEventIndicators": "{indicators}"}},
        token="guid",
        arrays=False,
        time=False,
        index=True,
        variable="ScalarVariable",
        real="Real",
        unknowns=("Outputs", "Derivatives", "InitialUnknowns"),
        unknown="Unknown",
        build=False,
        tuples=False,
        terminals="3.0",
        picture=True,
    ),
    Version(
        name="3.0",
        stem="fmi3",
        builder="pythonfmu3",
        interfaces={
            "python": {"CoSimulation": {**PYTHON, **STATES_3, "fixedInternalStepSize": "{step}"}},
            "native": {
                "ModelExchange": {**NATIVE_3, "needsCompletedIntegratorStep": "true"},
                "CoSimulation": {
                    **NATIVE_3, **ANY_STEP, "maxOutputDerivativeOrder": "1", "providesIntermediateUpdate": "true",
                    "canReturnEarlyAfterIntermediateUpdate": "true", "mightReturnEarlyFromDoStep": "false",
                    "hasEventMode": "true", "fixedInternalStepSize": "{step}",
                },
            },
        },
        root={"python": {}, "native": {}},
        token="instantiationToken",
        arrays=True,
        time=True,
        index=False,
        variable="",
        real="Float64",
        unknowns=("Output", "ContinuousStateDerivative", "InitialUnknown", "EventIndicator"),
        unknown="",
        build=True,
        tuples=True,
        terminals="3.0",
        picture=False,
    ),
)  # fmt: skip
VERSIONS = {row.name: row for row in ROWS}
KINDS = ("native", "python")
"""What an FMU is made of, the usual first."""
