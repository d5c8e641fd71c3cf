"""Flexible bodies in systems: booms against closed forms, tables and chains of rigid segments; conservation."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import simpson

from mbdy.blocks import Plant, simulate
from mbdy.engine import Body, Joint, Model, Node, linearize, loads
from mbdy.engine.flexible.beam import beam
from mbdy.engine.linear.error_coordinates import rotation
from mbdy.engine.model.faults import ModelWarning
from systems import diagonal, floating

LENGTH, MASS, STIFFNESS = 2.0, 3.0, 50.0
"""[m], [kg], [N.m2] of the booms here."""
UNIT = np.sqrt(STIFFNESS / (MASS / LENGTH * LENGTH**4))
"""[rad/s] Unit of their frequencies, sqrt(EI / (m L^4))."""
CANTILEVER = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613]) ** 2
FREE = np.array([4.730040744862704, 7.853204624095838]) ** 2
FLAPPING = {0: 3.5160, 1: 3.6817, 2: 4.1373, 4: 5.5850, 8: 9.2568, 12: 13.1702}
"""Lowest frequency across the plane of spin by spin rate, both in units of sqrt(EI / (m L^4)), hub of no radius
(A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, J. Appl. Mech. 49 (1982) 197, Table 1)."""


def boom(name: str, joint: Joint, *, modes: int | tuple[int, ...] = 3, damping: float = 0.0, **more) -> Body:
    made = beam(length=LENGTH, mass_per_length=MASS / LENGTH, bending_stiffness=STIFFNESS, modes=modes,
                damping_ratio=damping, **more)  # fmt: skip
    return Body(name=name, joint=joint, mass=made.mass, com=made.com, inertia=made.inertia, flex=made.flex,
                nodes=made.nodes)  # fmt: skip


def segments(n: int, joint: Joint) -> list[Body]:
    """A boom in the plane x, y as ``n`` rigid rods with springs between them, half a spring length at the root."""
    h, spring = LENGTH / n, STIFFNESS * n / LENGTH
    inertia = MASS / n * h**2 / 12
    made = []
    for k in range(n):
        root = joint if not k else Joint(
            to=f"s{k - 1}", kind="revolute", rotations=((0.0, 0.0, 1.0),), at=(h, 0.0, 0.0), stiffness=(spring,)
        )  # fmt: skip
        made.append(Body(name=f"s{k}", mass=MASS / n, com=(h / 2, 0.0, 0.0), inertia=diagonal(1e-4, inertia, inertia),
                         joint=root))  # fmt: skip
    return made


def frequencies(model: Model, **more) -> np.ndarray:
    """[rad/s] of what oscillates, lowest first."""
    found = linearize(model, inputs=[], outputs=["system.mass"], **more).modes()
    return np.array([mode.frequency for mode in found if mode.oscillates])


def test_a_cantilever_has_the_frequencies_of_the_closed_form() -> None:
    model = Model(name="boom", bodies=(boom("boom", Joint(to="inertial", kind="fixed")),))
    np.testing.assert_allclose(frequencies(model), np.repeat(CANTILEVER, 2) * UNIT, rtol=1e-9)


def test_a_floating_boom_has_the_frequencies_of_the_free_one() -> None:
    """With modes that move the frame, and with clamped ones, which only come near."""
    free = boom("boom", floating(), modes=2, ends="free", origin=LENGTH / 2, polar_inertia=1e-7)
    np.testing.assert_allclose(frequencies(Model(name="boom", bodies=(free,))), np.repeat(FREE, 2) * UNIT, rtol=1e-9)
    held = Model(name="boom", bodies=(boom("boom", floating(), modes=8, polar_inertia=1e-7),))
    np.testing.assert_allclose(frequencies(held)[:2], FREE[0] * UNIT, rtol=1e-4)


@pytest.mark.parametrize("spin", FLAPPING)
def test_a_spinning_boom_has_the_frequencies_of_the_table(spin: int) -> None:
    """Across the plane of spin those of the table, in it ``sqrt(flap^2 - spin^2)``."""
    joint = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), motion=("prescribed",))
    model = Model(name="boom", bodies=(boom("boom", joint, modes=8),), initial={"boom.joint.rate": (spin * UNIT,)})
    found = frequencies(model) / UNIT
    lagging = np.sqrt(FLAPPING[spin] ** 2 - spin**2)
    for expected in (FLAPPING[spin], lagging):
        assert np.abs(found - expected).min() < 2e-4 * expected + 1e-3 * (expected == lagging)


def test_without_stiffening_spin_makes_it_softer() -> None:
    joint = Joint(to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), motion=("prescribed",))
    soft = Model(
        name="boom", bodies=(boom("boom", joint, modes=3, stiffening=()),), initial={"boom.joint.rate": (UNIT,)}
    )
    assert frequencies(soft)[0] / UNIT == pytest.approx(np.sqrt(CANTILEVER[0] ** 2 - 1), rel=1e-6)


@pytest.mark.parametrize(("root", "expected"), [("hinge", CANTILEVER[0]), ("free", FREE[0])])
def test_chains_of_rigid_segments_come_to_the_boom(root: str, expected: float) -> None:
    """Errors fall at least with the square of the segments' length; 50 are within a part in a thousand."""
    errors = []
    for n in (25, 50):
        first = floating() if root == "free" else Joint(
            to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), stiffness=(2 * STIFFNESS * n / LENGTH,)
        )  # fmt: skip
        chain = Model(name="chain", bodies=tuple(segments(n, first)))
        errors.append(abs(frequencies(chain)[0] / (expected * UNIT) - 1))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] > 3.8


def test_a_boom_that_is_spun_up_follows_the_chain() -> None:
    """The hub is spun up beyond the boom's first frequency in 10 s: only stiffening keeps the boom near straight.

    (T. R. Kane, R. R. Ryan, A. K. Banerjee, J. Guidance 10 (1987) 139.)
    """
    hub = Body(name="hub", mass=1.0, inertia=diagonal(1.0, 1.0, 1.0), joint=Joint(
        to="inertial", kind="revolute", rotations=((0.0, 0.0, 1.0),), motion=("prescribed",)))  # fmt: skip
    root = Joint(to="hub", kind="revolute", rotations=((0.0, 0.0, 1.0),), at=(0.2, 0.0, 0.0),
                 stiffness=(2 * STIFFNESS * 12 / LENGTH,))  # fmt: skip
    chain = [hub, *segments(12, root)]
    chain[-1] = replace(chain[-1], nodes={"tip": Node(at=(LENGTH / 12, 0.0, 0.0))})
    flexible = (hub, boom("boom", Joint(to="hub", kind="fixed", at=(0.2, 0.0, 0.0)), modes=(4, 0)))
    plants = [Plant(Model(name=n, bodies=b), step=0.001) for n, b in (("chain", tuple(chain)), ("boom", flexible))]
    tips = []
    for plant, tip in zip(plants, ("s11.tip", "boom.tip"), strict=True):
        seen = []
        for k in range(120):
            plant["hub.joint.acceleration"] = 0.8 * UNIT if k < 50 else 0.0
            y = plant.step(0.1)
            angle = float(y["hub.joint.angle"])
            x, across = np.array(y[f"{tip}.position"])[:2]
            seen.append(-np.sin(angle) * x + np.cos(angle) * across)
        tips.append(np.array(seen))
    assert float(plants[1]["hub.joint.rate"]) > 1.1 * CANTILEVER[0] * UNIT
    assert np.abs(tips[0]).max() > 0.05 * LENGTH
    assert np.abs(tips[1] - tips[0])[:50].max() < 0.05 * np.abs(tips[0]).max()
    assert np.abs(tips[1]).max() == pytest.approx(np.abs(tips[0]).max(), rel=0.02)


def flyer(*, damping: float = 0.0) -> Model:
    """A free bus with a fixed boom and a hinged one, which carries a body on a ball joint at its tip; all moving."""
    bus = Body(name="bus", mass=40.0, inertia=diagonal(9.0, 7.0, 11.0), joint=floating())
    hinge = Joint(to="bus", kind="revolute", rotations=((0.0, 1.0, 1.0),), at=(0.3, 0.0, 0.1), stiffness=(20.0,),
                  damping=(damping,))  # fmt: skip
    end = Body(name="end", mass=1.0, com=(0.1, 0.0, 0.05), inertia=diagonal(0.02, 0.03, 0.04),
               joint=Joint(to="left", node="tip", kind="spherical", spherical=True))  # fmt: skip
    left = boom("left", hinge, modes=1, damping=damping / 20)
    start = {"left.joint.angle": (0.2,), "end.joint.omega": (0.3, 0.2, -0.1)}
    return Model(name="flyer", bodies=(bus, left, end, opposite()), initial={**moving(), **start})


def calm_flyer() -> Model:
    """A free bus with two fixed booms and a hinged plate, whose frequencies lie close together."""
    bus = Body(name="bus", mass=40.0, inertia=diagonal(9.0, 7.0, 11.0), joint=floating())
    left = boom("left", Joint(to="bus", kind="fixed", at=(0.3, 0.0, 0.0)), modes=1)
    plate = Body(name="plate", mass=2.0, com=(0.0, 0.3, 0.0), inertia=diagonal(0.1, 0.2, 0.3), joint=Joint(
        to="bus", kind="revolute", rotations=((1.0, 0.0, 0.2),), at=(0.0, 0.4, 0.1), stiffness=(3.0,)))  # fmt: skip
    start = {"plate.joint.rate": (0.2,)}
    return Model(name="flyer", bodies=(bus, left, opposite(), plate), initial={**moving(), **start})


def opposite() -> Body:
    """A boom fixed to the other side of the bus."""
    return boom("right", Joint(to="bus", kind="fixed", at=(-0.3, 0.0, 0.0), frame=(0.0, 0.0, 0.0, 1.0)), modes=1)


def moving() -> dict[str, tuple[float, ...]]:
    """Start values of bus and booms."""
    return {
        "bus.omega": (0.1, -0.05, 0.2), "bus.velocity": (0.2, 0.1, -0.1),
        "left.flex.displacement": (0.2, -0.1), "right.flex.rate": (0.3, -0.2),
    }  # fmt: skip


@pytest.mark.slow
def test_momentum_of_a_free_flyer_stays_for_1000_s() -> None:
    """Linear and angular momentum to 1e-10, energy to the integrator's order."""
    drifts = []
    for step in (0.004, 0.002):
        run = simulate(calm_flyer(), until=1000, every=50, step=step)
        for name in ("momentum", "angular_momentum"):
            vectors = run[f"system.{name}"]
            drift = np.abs(vectors - vectors[0]).max() / np.linalg.norm(vectors[0])
            assert drift < (1e-10 if step == 0.002 else 2e-9)
        energy = run["system.energy"]
        drifts.append(np.abs(energy - energy[0]).max() / energy[0])
    assert drifts[1] < 1e-8
    assert drifts[0] / drifts[1] > 12


def test_energy_balances_with_the_work_of_inputs_and_dampers() -> None:
    """The change of energy is the integral of the inputs' power less the dampers', by Simpson's rule."""
    every, damping = 0.002, 0.4
    plant = Plant(flyer(damping=damping), step=0.001)
    plant["left.joint.torque"], plant["left.tip.force[2]"] = TORQUE, FORCE
    modal = {name: np.array(plant[f"{name}.flex.damping"]) for name in ("left", "right")}
    times, powers, energies = np.arange(0, 6 + every / 2, every), [], []
    for t in times:
        y = plant.step(every) if t else plant.outputs()
        lost = damping * float(y["left.joint.rate"]) ** 2
        lost += sum(float(C @ np.array(y[f"{name}.flex.rate"]) ** 2) for name, C in modal.items())
        powers.append(power_of_inputs(y) - lost)
        energies.append(float(y["system.energy"]))
    work = simpson(np.array(powers), x=times)
    assert abs(work) > 0.01 * energies[0]
    assert energies[-1] - energies[0] == pytest.approx(work, abs=1e-7 * energies[0])


TORQUE, FORCE = 0.2, -0.1


def power_of_inputs(y) -> float:
    """Power of the hinge's torque and of the force on the boom's tip, node axes."""
    to_inertial = rotation(np.array(y["left.tip.attitude"]))
    return TORQUE * float(y["left.joint.rate"]) + FORCE * float(to_inertial[:, 1] @ np.array(y["left.tip.velocity"]))


def test_a_stiff_boom_moves_as_a_rigid_one() -> None:
    model = flyer()
    stiff = tuple(
        replace(b, flex=replace(b.flex, stiffness=tuple(tuple(1e6 * x for x in row) for row in b.flex.stiffness)))
        if b.flex else b for b in model.bodies
    )  # fmt: skip
    rigid = tuple(replace(b, flex=None, nodes={n: replace(p, shape=(), bend=()) for n, p in b.nodes.items()})
                  for b in model.bodies)  # fmt: skip
    start = {name: value for name, value in model.initial.items() if ".flex." not in name}
    flexible = simulate(
        replace(model, bodies=stiff, initial=start), until=2, every=0.5, step=0.005, integrator="rosenbrock"
    )
    plain = simulate(replace(model, bodies=rigid, initial=start), until=2, every=0.5, step=0.002)
    np.testing.assert_allclose(flexible["bus.omega"], plain["bus.omega"], atol=2e-6)


@pytest.mark.parametrize("ends", ["cantilever", "free"])
def test_the_second_order_form_has_the_modes(ends: str) -> None:
    """Of a boom its modal mass and stiffness; of a system at rest what the first-order form has."""
    still = replace(flyer(damping=0.1), initial={})
    bent = boom("boom", floating(), modes=2, ends="free", origin=0.7, polar_inertia=0.01)
    model = still if ends == "cantilever" else Model(name="boom", bodies=(bent,))
    linear = linearize(model, inputs=["*.flex.force"], outputs=["system.energy"])
    form = linear.second_order
    assert form
    n, inverse = len(form.M), np.linalg.inv(form.M)
    first = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ form.K, -inverse @ (form.D + form.G)]])
    expected = np.sort(np.abs(linear.eigenvalues()))
    np.testing.assert_allclose(np.sort(np.abs(np.linalg.eigvals(first)))[-8:], expected[-8:], rtol=1e-9)
    modal = [form.coordinates.index(name.replace("force", "displacement")) for name in linear.inputs]
    np.testing.assert_allclose(form.B[modal], np.eye(len(modal)), atol=1e-9)
    if ends == "free":
        np.testing.assert_allclose(form.M[np.ix_(modal, modal)], np.eye(4), atol=1e-9)


def test_modal_forces_work_on_their_modes() -> None:
    """A constant one on a boom at rest moves its mode to ``f / k`` when damped."""
    plant = Plant(Model(name="boom", bodies=(boom("boom", Joint(to="inertial", kind="fixed"), modes=1, damping=0.7),)))
    plant["boom.flex.force"] = (0.3, -0.2)
    plant.step(20.0)
    np.testing.assert_allclose(
        plant["boom.flex.displacement"], np.array([0.3, -0.2]) / np.array(plant["boom.flex.stiffness"]), rtol=1e-9
    )


BENT = """
mbdy = 1
[body.boom]
joint = { to = "inertial", kind = "fixed" }
flex.beam = { length = 6, mass_per_length = 0.5, bending_stiffness = 40, modes = 2, damping_ratio = 0.3 }
node.tip = { at = [6, 0, 0] }
"""


def test_a_boom_that_bends_far_is_told_once() -> None:
    """By the load of its tip that moves it a tenth of its length, F L^3 / 3 EI, and one that moves it a third."""
    few, much = ((part * 6.0) * 3 * 40.0 / 6.0**3 for part in (0.1, 0.33))
    plant = Plant(loads(BENT), step=5e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant["boom.tip.force"] = [0.0, few, 0.0]
        plant.step(60.0)
    for _ in range(2):
        plant.reset()
        plant["boom.tip.force"] = [0.0, much, 0.0]
        with pytest.warns(ModelWarning, match=r"^boom: its modes bend it far, its material by 0\.1") as told:
            plant.step(60.0)
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plant.step(1.0)
        assert plant["boom.tip.position"][1] == pytest.approx(2.0, rel=0.1)
    with pytest.warns(ModelWarning, match="^boom: its modes bend it far"):
        Plant(loads(BENT + "[initial]\nboom.flex.displacement = [0, 2, 0, 0]\n"))
