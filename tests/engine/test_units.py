"""Numbers with units: what text means, and what is refused."""

from __future__ import annotations

import math

import pytest

from mbdy.engine.model.units import pint_unit, quantity


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("500 kg", "kg", 500.0),
        ("250 g", "kg", 0.25),
        ("2 lb", "kg", 0.90718474),
        ("3us", "s", 3e-6),
        ("1 ms", "s", 0.001),
        ("-1.5e-3 m", "m", -0.0015),
        ("90 deg", "rad", math.radians(90)),
        ("90°", "rad", math.radians(90)),
        ("1 turn", "rad", 2 * math.pi),
        ("60 rpm", "rad/s", 2 * math.pi),
        ("180 deg/s", "rad/s", math.pi),
        ("2 deg/s²", "rad/s2", math.radians(2)),
        ("12 kg*m^2", "kg.m2", 12.0),
        ("12 kg.m2", "kg.m2", 12.0),
        ("12 kg m**2", "kg.m2", 12.0),
        ("9.81 m/s^2", "m/s2", 9.81),
        ("9.81 m.s-2", "m/s2", 9.81),
        ("2 N.m", "N.m", 2.0),
        ("2 newton * meter", "N.m", 2.0),
        ("2 Nm", "N.m", 2.0),
        ("40 N*m/rad", "N.m/rad", 40.0),
        ("40 N*m", "N.m/rad", 40.0),
        ("3 N*m/(rad/s)", "N.m.s/rad", 3.0),
        ("0.5", "1", 0.5),
    ],
)
def test_text(text: str, unit: str, value: float) -> None:
    assert quantity(text, unit) == pytest.approx(value, rel=1e-15)


def test_numbers_are_si() -> None:
    assert (quantity(3, "kg"), quantity(0.1, "rad")) == (3.0, 0.1)
    assert isinstance(quantity(3, "kg"), float)


def test_bare_text_on_a_command_line() -> None:
    assert quantity("0.2", "N.m", bare=True) == 0.2
    assert quantity("2 mN*m", "N.m", bare=True) == 0.002


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("3 deg", "kg"), ("3 deg", "1"), ("5 Hz", "rad/s"), ("1 1/s", "rad/s"), ("1", "rad"), ("3 degC", "kg"),
        ("1 N", "N.m"), ("1 N*m*rad", "N.m/rad"), ("1 kg + 1 kg", "kg"), ("kg", "kg"), ("", "kg"), ("1,5 kg", "kg"),
        ("1 kg)", "kg"), ("1 kg**99", "kg"), ("1 m**9**9", "m"), ("nan kg", "kg"), ("1e999 kg", "kg"), (True, "kg"),
        (None, "kg"), ([1], "kg"), (math.nan, "kg"), (-math.inf, "kg"), (10**400, "kg"), ("1 " + "m*" * 99, "m"),
    ],
)  # fmt: skip
def test_refused(value: object, unit: str) -> None:
    with pytest.raises(ValueError, match=r"unit|must be"):
        quantity(value, unit)


@pytest.mark.parametrize(
    ("fmi", "pint"),
    [("kg.m2", "kg*m**2"), ("N.m.s/rad", "N*m*s/rad"), ("rad/s2", "rad/s**2"), ("1", "dimensionless"),
     ("", "dimensionless"), ("W/(m2.K)", "W/(m**2*K)"), ("kg·m²", "kg*m**2"), ("m.s-2", "m*s**-2")],
)  # fmt: skip
def test_spelling_of_fmi(fmi: str, pint: str) -> None:
    assert pint_unit(fmi) == pint
