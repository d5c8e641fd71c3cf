"""``system.work_error`` in model exchange: where ``[ports]`` asks for it, the work is a state of the importer's."""

from __future__ import annotations

import numpy as np
import pytest
from fmpy.validation import validate_fmu

from flavours import NATIVE
from fmu.client import ERROR, WARNING, answers, only
from mbdy.blocks import Plant
from mbdy.engine import Linear, loads
from mbdy.fmu import ExportError
from systems import SPRING

pytestmark = only(NATIVE)
ASKED = SPRING + '[ports]\noutputs = ["a.*", "system.energy", "*.work_error"]\n'
EXACT = 1e-8
"""[J] What RK4 adds in some tenths of a second at 1 ms."""
STEP = 1e-3


def steps(client, n: int, h: float = STEP, rest=None, last: float | None = None) -> None:
    """Steps of RK4 as an importer makes them; the rest of the spring is ``rest(t)``, or ``last`` from the end on."""

    def rates(x, t):
        if rest:
            client["a.joint.rest"] = rest(t)
        client.set_states(x)
        return client.rates()

    client.fmu.enterContinuousTimeMode()
    x = client.states()
    for _ in range(n):
        t = client.time
        k1 = rates(x, t)
        k2 = rates(x + h / 2 * k1, t + h / 2)
        k3 = rates(x + h / 2 * k2, t + h / 2)
        k4 = rates(x + h * k3, t + h)
        x, client.time = x + h / 6 * (k1 + 2 * (k2 + k3) + k4), t + h
        client.fmu.setTime(client.time)
        rates(x, client.time)
        if last is not None:
            client["a.joint.rest"] = last
        client.fmu.completedIntegratorStep()
    client.fmu.enterEventMode()


def started(exchanged, path):
    client = exchanged(path).initialize()
    client.event()
    return client


def test_events_are_no_error_and_steps_are(exchanged, export):
    path = export(loads(ASKED))
    assert validate_fmu(str(path)) == []
    client = started(exchanged, path)
    assert client.size == 3
    for name, value in (
        ("a.joint.torque", 0.4), ("system.gravity[1]", 3.0), ("a.joint.rest", -0.2), ("a.mass", 1.5),
        ("a.joint.stiffness", 5.0), ("a.joint.locked", True), ("a.joint.locked", False),
        ("a.joint.acceleration", 7.0), ("a.joint.prescribed", True),
    ):  # fmt: skip
        client[name] = value
        assert client.event()
        steps(client, 50)
        assert abs(client["system.work_error"]) < EXACT, name
    client["a.joint.prescribed"] = False
    client.event()
    before = client["system.energy"], client["system.work"]
    steps(client, 5, h=0.05)
    added = client["system.energy"] - before[0] - (client["system.work"] - before[1])
    assert client["system.work_error"] == pytest.approx(added, abs=2 * EXACT)
    assert abs(added) > 1e-6
    saved = client.saved()
    kept = client["system.work_error"]
    steps(client, 3)
    client.restore(saved)
    assert client["system.work_error"] == kept
    steps(client, 3)
    client.free(saved)


def test_inputs_on_the_way_are_followed(exchanged, export):
    """Energy that goes into a spring whose rest the importer moves: exact to third order where that is on lines."""
    found = []
    for h in (0.004, 0.001):
        client = started(exchanged, export(loads(ASKED)))
        steps(client, round(0.4 / h), h, rest=lambda t: 0.5 * np.sin(9.0 * t))
        found.append(abs(client["system.work_error"]))
    assert found[0] < 1e-4
    assert found[1] < found[0] / 12.0


@pytest.mark.parametrize("when", ["before the step's end is told", "after it"])
def test_inputs_that_importers_hold_over_steps_are_jumps(exchanged, export, when: str) -> None:
    client = started(exchanged, export(loads(ASKED)))
    for k in range(40):
        rest = 0.5 * np.sin(k)
        if when == "after it":
            client["a.joint.rest"] = rest
        steps(client, 10, last=None if when == "after it" else rest)
    assert abs(client["system.work_error"]) < EXACT


def test_partial_derivatives(exchanged, export, fmi):
    from fmu.test_derivatives import directional

    client = started(exchanged, export(loads(ASKED)))
    steps(client, 20)
    client.fmu.enterContinuousTimeMode()
    x, known = client.states(), ["a.joint.angle", "a.joint.rate", "system.work"]
    of, seed = ["system.work_error", "der(system.work)"], np.array([0.3, -1.1, 0.7])

    def at(place: float) -> np.ndarray:
        client.set_states(x + place * seed)
        return client.get(of)

    wanted = (at(1e-4) - at(-1e-4)) / 2e-4
    client.set_states(x)
    np.testing.assert_allclose(directional(client, of, known, seed), wanted, rtol=1e-7)
    torque = directional(client, of, ["a.joint.torque"], [1.0])
    np.testing.assert_allclose(torque, [0.0, x[1]], atol=1e-14)
    if fmi == "3.0":
        places = [client.place[name] for name in of], [client.place[name] for name in known]
        gradient = client.fmu.getAdjointDerivative(*places, [1.0, 2.0], nSensitivity=3)
        assert np.dot(gradient, seed) == pytest.approx(wanted @ [1.0, 2.0], rel=1e-7)
    client.fmu.enterEventMode()
    with answers(client, ERROR, "'system.work' not set: it is a state"):
        client["system.work"] = 1.0


def test_co_simulation_of_it_is_the_plants(opened, export):
    client, plant = opened(export(loads(ASKED))).initialize(), Plant(loads(ASKED))
    for _ in range(3):
        client.step(0.05)
        assert client["system.work_error"] == float(plant.step(0.05)["system.work_error"])


def test_it_is_told_where_no_balance_is_kept(exchanged, fmu):
    client = exchanged(logging=True).initialize()
    for _ in range(2):
        assert client["system.work_error"] == 0.0
    (said,) = (said for said in client.said if "work_error" in said[2])
    assert said == (WARNING, "logStatusWarning", "'system.work_error' is 0 in this model exchange, which keeps no "
                    "balance of work: that takes one state more, which an FMU has "
                    "where [ports] of the model file asks for the "
                    'output, outputs = ["*", "system.work_error"]')  # fmt: skip


def test_linear_dynamics_have_no_such_output(export):
    floating = loads(SPRING.replace('to = "inertial"', 'to = "b"') + '[body.b]\nmass = 2\ninertia = [1, 1, 1]\n'
                     'joint = { to = "inertial", kind = "free" }\n')  # fmt: skip
    with pytest.raises(KeyError, match="linear dynamics have no such output"):
        Plant(floating, dynamics=Linear())["system.work_error"]
    asked = loads(ASKED.replace('"*.work', '"system.work'))
    with pytest.raises(ExportError, match=r"linear dynamics have no 'system\.work_error'"):
        export(asked, dynamics=Linear())
