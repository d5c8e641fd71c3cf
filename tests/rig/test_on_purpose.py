"""Faults on purpose: what they do to outputs, inputs and packets, by time and by packet, and that they are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mbdy.blocks import Plant, VariableError
from mbdy.blocks.rig import (
    Bias,
    DelayPackets,
    DropPackets,
    Force,
    Freeze,
    Jam,
    LoseWheel,
    OpenLoop,
    Rig,
    RigFault,
    RigResult,
)
from mbdy.engine import Model, OptionError, loads
from mechanisms import FOUR_BAR_FILE
from rig.client import ON_PURPOSE, Outputs, UdpClient

MODEL = """
mbdy = 1
name = "faults"
[body.bus]
mass = 50
inertia = [4, 5, 6]
joint = { to = "inertial", kind = "attitude" }
[body.bus.wheel.x]
axis = [1, 0, 0]
inertia = 0.05
[body.panel]
mass = 5
com = [0, 0.5, 0]
inertia = [1, 0.2, 1]
joint = { to = "bus", kind = "revolute", axis = [1, 0, 0], at = [0, 0.3, 0], motion = "switchable" }
[initial]
panel.joint.rate = 0.3
bus.omega = [0.1, 0.2, 0.3]
"""
STEPS, BEGIN, END = 30, 10, 20
RATE = 100


@pytest.fixture(scope="module")
def model() -> Model:
    return loads(MODEL)


def driven(
    model: Model, *faults: RigFault, by_packet: bool = False, torque: str = "bus.x.torque", **options: Any
) -> tuple[RigResult, list[Outputs]]:
    """A lock-step run with a ``torque`` that grows, and what its controller saw."""
    rig = Rig(model, rate=RATE, step="10 ms", keeper="lockstep", udp="127.0.0.1:0", faults=faults, **options)
    with rig:
        assert rig.address
        client, operator = (UdpClient(rig.layout, rig.address, timeout=0.05) for _ in range(2))
        place = rig.plant.input_names.index(torque)
        u = rig.plant.inputs.values.copy()
        rig.start(STEPS / RATE)
        heard = [client.greet()]
        operator.heard = heard[:1]
        for k in range(STEPS):
            if by_packet and k in (BEGIN, END):
                operator.send(operator.packet([0.0, float(k == BEGIN)], kind=3))
            u[place] = 0.01 * k
            heard.append(client.step(u))
        result = rig.wait()
        client.close()
        operator.close()
    return result, heard


def unhurt(
    model: Model, change: Callable[[int, Plant], None] = lambda k, plant: None, torque: str = "bus.x.torque"
) -> list[np.ndarray]:
    """Outputs of the same run of a `Plant`; ``change`` may set its inputs before step ``k``."""
    plant = Plant(model, step="10 ms")
    rows = [plant.outputs().values]
    for k in range(STEPS):
        plant[torque] = 0.01 * k
        change(k, plant)
        rows.append(plant.step(1 / RATE).values)
    return rows


def acts(k: int) -> bool:
    return BEGIN <= k < END


def _delayed(k: int, plant: Plant) -> None:
    plant["bus.x.torque"] = 0.01 * (max(k - 3, 0) if acts(k) else k)


FORCES: dict[str, tuple[Callable[..., RigFault], Callable[[int, Plant], None]]] = {
    "force": (
        lambda **when: Force("bus.torque[2]", 0.4, **when),
        lambda k, plant: plant.__setitem__("bus.torque[2]", 0.4 * acts(k)),
    ),
    "jam": (
        lambda **when: Jam("panel.joint", **when),
        lambda k, plant: plant.__setitem__("panel.joint.locked", acts(k)),
    ),
    "lost wheel": (
        lambda **when: LoseWheel("bus.x", **when),
        lambda k, plant: plant.__setitem__("bus.x.torque", 0.0 if acts(k) else 0.01 * k),
    ),
    "late inputs": (lambda **when: DelayPackets("inputs", 3, **when), _delayed),
}


@pytest.mark.parametrize("by_packet", [False, True])
@pytest.mark.parametrize("name", FORCES)
def test_faults_of_inputs_act_and_are_recorded(model: Model, name: str, by_packet: bool) -> None:
    make, change = FORCES[name]
    fault = make() if by_packet else make(at="100 ms", until=END / RATE)
    result, heard = driven(model, fault, by_packet=by_packet)
    np.testing.assert_array_equal([one.values for one in heard], unhurt(model, change))
    assert [(round(RATE * one.time), one.fault, one.on) for one in result.events] == [
        (BEGIN, fault, True),
        (END, fault, False),
    ]
    assert result.counters["commanded"] == 2 * by_packet
    flagged = [bool(one.flags & ON_PURPOSE) for one in heard]
    assert flagged[BEGIN + 1 : END] == [True] * (END - BEGIN - 1)
    assert sum(flagged) == END - BEGIN
    assert str(fault) in result.report()


def test_a_loop_opens() -> None:
    linkage = loads(f"{FOUR_BAR_FILE}switchable = true\n[initial]\ncrank.joint.angle = 1\ncrank.joint.rate = 2")
    _, heard = driven(linkage, OpenLoop("closure", at=BEGIN / RATE), torque="crank.joint.torque")

    def opened(k: int, plant: Plant) -> None:
        plant["loop.closure.closed"] = k < BEGIN

    wanted = unhurt(linkage, opened, torque="crank.joint.torque")
    np.testing.assert_array_equal([one.values for one in heard], wanted)
    held = Plant(linkage, step="10 ms")
    apart = held.output_names.index("rocker.joint.angle")
    for k in range(STEPS):
        held["crank.joint.torque"] = 0.01 * k
        held.step(1 / RATE)
    assert abs(heard[-1].values[apart] - held.outputs().values[apart]) > 1e-3


@pytest.mark.parametrize("name", ["freeze", "bias", "late outputs"])
def test_faults_of_outputs_are_seen_and_do_not_move_the_plant(model: Model, name: str) -> None:
    when = {"at": BEGIN / RATE, "until": END / RATE}
    fault = {
        "freeze": Freeze("bus.omega", **when), "bias": Bias("bus.omega", 0.5, 2.0, **when),
        "late outputs": DelayPackets("outputs", 2, **when),
    }[name]  # fmt: skip
    _, heard = driven(model, fault)
    wanted, true = np.array(unhurt(model)), np.array(unhurt(model))
    variable = Plant(model, step="10 ms").ports.by_name["bus.omega"]
    omega = slice(variable.offset, variable.offset + variable.size)
    if name == "freeze":
        wanted[BEGIN:END, omega] = true[BEGIN, omega]
    elif name == "bias":
        wanted[BEGIN:END, omega] = 2.0 * true[BEGIN:END, omega] + 0.5
    else:
        wanted[BEGIN:END] = true[BEGIN - 2 : END - 2]
    np.testing.assert_array_equal([one.values for one in heard], wanted)
    assert [bool(one.flags & ON_PURPOSE) for one in heard] == [acts(k) for k in range(STEPS + 1)]


def test_an_output_freezes_as_it_was_shown(model: Model) -> None:
    faults = Bias("bus.omega", 0.5, at=0.0), Freeze("bus.omega", at=BEGIN / RATE, until=END / RATE)
    _, heard = driven(model, *faults)
    variable = Plant(model).ports.by_name["bus.omega"]
    wanted = np.array(unhurt(model))[:, variable.offset : variable.offset + variable.size] + 0.5
    wanted[BEGIN:END] = wanted[BEGIN]
    shown = [one.values[variable.offset : variable.offset + variable.size] for one in heard]
    np.testing.assert_array_equal(shown, wanted)


def test_a_biased_output_has_noise_and_digits_as_sensors_have_them(model: Model) -> None:
    _, heard = driven(model, Bias("bus.omega", deviation=0.2, at=0.0), Bias("bus.attitude", resolution=0.25, at=0.0))
    true = np.array(unhurt(model))
    omega, attitude = (
        slice(v.offset, v.offset + v.size)
        for v in map(Plant(model).ports.by_name.__getitem__, ("bus.omega", "bus.attitude"))
    )
    values = np.array([one.values for one in heard])
    noise = values[:, omega] - true[:, omega]
    assert 0.1 < noise.std() < 0.3  # of 93: seven standard errors off at these bounds
    assert abs(noise.mean()) < 0.15
    np.testing.assert_array_equal(values[:, attitude], 0.25 * np.round(true[:, attitude] / 0.25))


@pytest.mark.parametrize("packets", ["inputs", "outputs"])
def test_lost_packets_are_asked_for_again_and_change_nothing(model: Model, packets: Any) -> None:
    result, heard = driven(model, DropPackets(packets, 0.4, at=0.0, until=0.25))  # the last packet comes
    assert result.counters["dropped"] > 3
    assert result.counters["cycles"] == STEPS
    np.testing.assert_array_equal([one.values for one in heard], unhurt(model))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Jam("bus.joint"), "switchable"),
        (LoseWheel("bus.q"), "body.wheel"),
        (OpenLoop("ring"), "switchable"),
        (Freeze("bus.omgea"), "bus.omega"),
        (Freeze("bus.x.torque"), "no output"),
        (Force("panel.joint.locked", 0.5), "0 or 1"),
        (DropPackets("inputs", 1.5), "share"),
        (DropPackets("all"), "'inputs'"),  # type: ignore[arg-type]
        (DelayPackets("inputs", 0), "cycles"),
        (Bias("bus.omega", 1.0, at=2.0, until=1.0), "after"),
        (Bias("bus.omega", deviation=-1.0), "deviation must not be negative"),
    ],
)
def test_faults_that_cannot_be_are_refused_by_name(model: Model, fault: RigFault, words: str) -> None:
    with pytest.raises((VariableError, OptionError), match=words):
        Rig(model, rate=RATE, faults=[fault])


def test_only_wheels_are_lost_as_wheels(model: Model) -> None:
    with pytest.raises(VariableError, match="'bus' is no wheel"):
        Rig(model, rate=RATE, step="10 ms", faults=[LoseWheel("bus", at=0)])
