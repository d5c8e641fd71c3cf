"""Directional and adjoint derivatives against central differences of the FMU's own values."""

from __future__ import annotations

import numpy as np
import pytest

from flavours import NATIVE, Flavour
from fmu.client import ERROR, answers, only

pytestmark = only(NATIVE)
AGREEMENT = 1e-7
"""Relative to the larger of one and the value; central differences of fourth order are some hundred times better."""
STEP = 1e-3
STENCIL = ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0))
"""Places and weights of the first derivative by central differences of fourth order, over 12 steps."""
KNOWN_INPUTS = ("panel.joint.torque", "bus.torque[1]", "boom.force[2]", "bus.x.torque", "system.gravity[3]")
KNOWN_PARAMETERS = ("panel.mass", "panel.com[2]", "bus.inertia[1,1]", "panel.joint.stiffness", "boom.joint.damping[1]")
KNOWN_STARTS = ("panel.joint.angle", "bus.omega[2]", "bus.x.speed", "bus.attitude[3]", "boom.joint.velocity")


def unknowns(client) -> list[str]:
    return [*client.names("output"), *(name for name in client.names("local") if name.startswith("der("))]


def directional(client, unknown, known, seed) -> np.ndarray:
    """The change of scalars ``unknown`` by the FMU along ``seed`` of the scalars ``known``."""
    if not hasattr(client, "elements"):
        places = [client.place[name] for name in unknown], [client.place[name] for name in known]
        return np.array(client.fmu.getDirectionalDerivative(*places, list(seed)))
    of, by = Whole(client, unknown), Whole(client, known)
    found = client.fmu.getDirectionalDerivative(of.references, by.references, by.spread(seed), nSensitivity=of.size)
    return of.picked(found)


class Whole:
    """Scalars as elements of the whole arrays that FMI 3 has."""

    def __init__(self, client, names) -> None:
        self.at = [client.elements.get(name, (name, 0)) for name in names]
        wanted = {array: client.arrays[array] for array, _ in self.at}
        self.references = [vr for vr, _ in wanted.values()]
        self.begin, self.size = {}, 0
        for array, (_, size) in wanted.items():
            self.begin[array] = self.size
            self.size += size

    def spread(self, values) -> list[float]:
        whole = [0.0] * self.size
        for (array, k), value in zip(self.at, values, strict=True):
            whole[self.begin[array] + k] += float(value)
        return whole

    def picked(self, whole) -> np.ndarray:
        return np.array([whole[self.begin[array] + k] for array, k in self.at])


def differences(client, unknown, known, seed) -> np.ndarray:
    base, found = client.get(known), np.zeros(len(unknown))
    for place, weight in STENCIL:
        client.set(known, base + place * STEP * np.asarray(seed))
        found += weight * client.get(unknown)
    client.set(known, base)
    return found / (12 * STEP)


def close(found, wanted) -> None:
    apart = np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))
    assert apart.max() < AGREEMENT


def test_in_initialization_mode_by_inputs_parameters_and_start_values(opened):
    client = opened()
    client.enter()
    of = [*unknowns(client), "system.initial.mass", "system.initial.angular_momentum[2]"]
    known = [*KNOWN_INPUTS, *KNOWN_PARAMETERS, *KNOWN_STARTS]
    rng = np.random.default_rng(2)
    for name in known:
        close(directional(client, of, [name], [1.0]), differences(client, of, [name], [1.0]))
    seed = rng.normal(size=len(known))
    close(directional(client, of, known, seed), differences(client, of, known, seed))


def test_between_steps_by_inputs_and_parameters(opened):
    client = opened().initialize()
    for _ in range(20):
        client.step(0.01)
    of = unknowns(client)
    for name in (*KNOWN_INPUTS, *KNOWN_PARAMETERS):
        close(directional(client, of, [name], [1.0]), differences(client, of, [name], [1.0]))


def test_of_model_exchange_by_states(exchanged, plant):
    client = exchanged().initialize()
    client.event()
    client.fmu.enterContinuousTimeMode()
    of = unknowns(client)
    x = client.states()
    for at, name in enumerate(plant.state_names):
        slope = np.zeros(len(of))
        for place, weight in STENCIL:
            moved = x.copy()
            moved[at] += place * STEP
            client.set_states(moved)
            slope += weight * client.get(of) / (12 * STEP)
        client.set_states(x)
        close(directional(client, of, [name], [1.0]), slope)


@only([Flavour("native", "3.0")])
@pytest.mark.parametrize("begun", [False, True])
def test_adjoint_is_the_transpose(opened, begun):
    """``seed . (J change)`` one way equals ``(seed J) . change`` the other."""
    client = opened()
    client.enter()
    known = [*KNOWN_INPUTS, *KNOWN_PARAMETERS, *KNOWN_STARTS]
    if begun:
        client.fmu.exitInitializationMode()
        client.step(0.1)
        known = [*KNOWN_INPUTS, *KNOWN_PARAMETERS, "bus.omega[1]", "panel.joint.angle", "bus.attitude[2]"]
    of, by = Whole(client, unknowns(client)), Whole(client, known)
    rng = np.random.default_rng(4)
    for _ in range(20):
        change, seed = rng.normal(size=by.size), rng.normal(size=of.size)
        ahead = np.array(
            client.fmu.getDirectionalDerivative(of.references, by.references, change, nSensitivity=of.size)
        )
        back = np.array(client.fmu.getAdjointDerivative(of.references, by.references, seed, nSensitivity=by.size))
        assert seed @ ahead == pytest.approx(back @ change, rel=1e-11, abs=1e-11 * np.abs(seed) @ np.abs(ahead))


def test_output_derivatives_are_those_by_time(opened, plant):
    client = opened().initialize()
    client.step(0.2)
    names = ["bus.omega[1]", "panel.joint.angle", "bus.attitude[1]"]
    names += [] if client.description.fmiVersion == "2.0" else ["bus.omega[2]", "bus.omega[3]"]
    whole = Whole(client, names) if hasattr(client, "elements") else None
    for _ in range(3):
        if whole is None:
            found = client.fmu.getRealOutputDerivatives([client.place[name] for name in names], [1] * len(names))
        else:
            found = client.get([f"der({name})" for name in names])
        np.testing.assert_allclose(found, client.get([f"der({name})" for name in names]), rtol=1e-13, atol=1e-16)
        client.step(0.2)


def test_what_is_no_known_or_unknown_is_named(opened):
    client = opened().initialize()
    with answers(client, ERROR, "'panel.mass' is no unknown"):
        directional(client, ["panel.mass"], ["panel.joint.torque"], [1.0])
    with answers(client, ERROR, "'system.mass' is no known"):
        directional(client, ["bus.omega[1]"], ["system.mass"], [1.0])
