"""Values of a model, as types for pydantic: what a key of a file and a field of a part made in Python can be.

A number is in SI, text carries its unit; what is judged of one value alone is judged here for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Discriminator, Tag

from mbdy.engine.model.arrays import Matrix3, Vector3, listed, mirrored, symmetric_tensor
from mbdy.engine.model.faults import RefusalError, shown
from mbdy.engine.model.harmonics import harmonics
from mbdy.engine.model.inertia_spellings import about_what, spelled_inertia
from mbdy.engine.model.law import JointValue
from mbdy.engine.model.units import Acceleration, Inertia, Length, Mass, Number, quantity

SHORT_AXIS, LONG_AXIS = 1e-60, 1e60
"""Axes outside these sizes are scaled to one, lest their squares leave the range of floats."""


def _sized(count: int | None, what: str) -> BeforeValidator:
    def check(value: object) -> object:
        value = listed(value)
        if not isinstance(value, list):
            raise RefusalError(f"must be a list of {what}, got {shown(value)}", f"write {what} in brackets, [..., ...]")
        if count is not None and len(value) != count:
            raise RefusalError(f"must have {count} entries, got {len(value)}", f"give {what}")
        return value

    return BeforeValidator(check)


def _direction(axis: Vector3) -> Vector3:
    size = max(map(abs, axis))
    if size == 0.0:
        raise RefusalError("must not be zero", "give a direction of any length, e.g. [0, 0, 1]")
    if SHORT_AXIS < size < LONG_AXIS:
        return axis
    return (axis[0] / size, axis[1] / size, axis[2] / size)


def _somewhere(position: Vector3) -> Vector3:
    if not any(position):
        raise RefusalError("must not be zero", "give the mass centre's place from the attracting centre")
    return position


def _truth(value: object) -> object:
    if not isinstance(value, bool | np.bool_):
        raise RefusalError(f"must be true or false, got {shown(value)}", "write true or false, without quotes")
    return bool(value)


def _bounded(unit: str, remedy: str = "give another value", *, zero: bool = True) -> AfterValidator:
    def check(value: float) -> float:
        if value < 0.0 or not (zero or value):
            raise RefusalError(f"must be {'>=' if zero else '>'} 0 {unit}, got {value}", remedy)
        return value

    return AfterValidator(check)


def _diagonal(moments: Vector3) -> Matrix3:
    x, y, z = moments
    return ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))


def _inertia_form(value: object) -> str:
    value = listed(value)
    return "tensor" if isinstance(value, list) and any(isinstance(row, list) for row in value) else "diagonal"


def _rotation_form(value: object) -> str:
    return "name" if isinstance(value, str) else "axes"


def bearing_number(value: JointValue) -> Any:
    """The type of a number of a bearing."""
    unit = value.rotation

    def number(given: object) -> float:
        if isinstance(given, Mapping):
            raise RefusalError(f"a bearing of a wheel takes a number in {unit}, no table",
                               "friction sticks at joints: make the rotor a body on a revolute joint")  # fmt: skip
        return quantity(given, unit)

    return Annotated[float, BeforeValidator(number), _bounded(unit, zero=not value.above)]


BodyMass = Annotated[Mass, _bounded("kg", "give the mass as a non-negative number")]
SpinInertia = Annotated[
    Inertia, _bounded("kg.m2", "give the rotor's moment of inertia about its spin axis", zero=False)
]
StaticImbalance = Annotated[float, BeforeValidator(partial(quantity, unit="kg.m")), _bounded("kg.m")]
DynamicImbalance = Annotated[float, BeforeValidator(partial(quantity, unit="kg.m2")), _bounded("kg.m2")]
WheelHarmonics = Annotated[Any, AfterValidator(harmonics)]
Angle = Annotated[float, BeforeValidator(partial(quantity, unit="rad"))]
Lengths = Annotated[tuple[Length, Length, Length], _sized(3, "three lengths")]
Accelerations = Annotated[tuple[Acceleration, Acceleration, Acceleration], _sized(3, "three accelerations")]
Switch = Annotated[bool, BeforeValidator(_truth)]
OrbitPosition = Annotated[tuple[Length, Length, Length], AfterValidator(_somewhere), _sized(3, "three lengths")]
GravitationalParameter = Annotated[
    float, BeforeValidator(partial(quantity, unit="m3/s2")), _bounded("m3/s2", zero=False)
]
Distance = Annotated[Length, _bounded("m", 'use kind = "ball" for places that coincide', zero=False)]
TimeConstant = Annotated[
    float, BeforeValidator(partial(quantity, unit="s")), _bounded("s", "0 leaves errors of closure as they are")
]
Axis = Annotated[tuple[Number, Number, Number], AfterValidator(_direction), _sized(3, "three numbers")]
Axes = Annotated[tuple[Axis, ...], _sized(None, "axes")]
Moments = Annotated[
    tuple[Inertia, Inertia, Inertia],
    AfterValidator(_diagonal),
    _sized(3, "three principal moments, or a 3x3 tensor"),
]
Row = Annotated[tuple[Inertia, Inertia, Inertia], _sized(3, "three numbers in each row")]
Tensor = Annotated[tuple[Row, Row, Row], _sized(3, "three rows, or three principal moments")]
InertiaTensor = Annotated[
    Annotated[Moments, Tag("diagonal")] | Annotated[Tensor, Tag("tensor")],
    Discriminator(_inertia_form),
    AfterValidator(symmetric_tensor),
]
BodyInertia = Annotated[
    Annotated[Moments, AfterValidator(symmetric_tensor), Tag("diagonal")] | Annotated[Tensor, Tag("tensor")],
    Discriminator(_inertia_form),
    AfterValidator(mirrored),
    BeforeValidator(spelled_inertia),
]
"""Of a body made in Python, which may be what is left of one: whether its tensor can be is judged where it is used."""
InertiaAbout = Annotated[str, BeforeValidator(about_what)]
Rotation = Annotated[
    Annotated[Literal["spherical"], Tag("name")] | Annotated[Axes, Tag("axes")], Discriminator(_rotation_form)
]
