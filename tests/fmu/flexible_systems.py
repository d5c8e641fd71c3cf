"""Systems with modes and loops for FMUs: a bus with a flexible boom, two that dock, a flexible four-bar."""

from __future__ import annotations

from dataclasses import replace

from mbdy.blocks import Plant
from mbdy.engine import Body, Joint, Loop, Model, Node, Side
from mbdy.engine.flexible.beam import beam
from mechanisms import COUPLER, ROCKER, four_bar
from systems import diagonal, floating

WELD = (1, 2, 3, 4, 5, 6)
DOCK = "loop.dock.closed"


def boom(name: str, joint: Joint, *, modes: tuple[int, ...] = (1, 1, 1), length: float = 2.0) -> Body:
    """A boom that bends both ways and twists."""
    made = beam(length=length, mass_per_length=1.5, bending_stiffness=40.0, torsional_stiffness=25.0, modes=modes,
                polar_inertia=0.01, damping_ratio=0.01)  # fmt: skip
    return Body(name=name, joint=joint, mass=made.mass, com=made.com, inertia=made.inertia, flex=made.flex,
                nodes=made.nodes)  # fmt: skip


def with_boom(*, modes: tuple[int, ...] = (1, 1, 1), kind: str = "free") -> Model:
    """A free bus with a wheelless flexible boom, and a sprung dish on the boom's tip; all move."""
    bus = Body(name="bus", mass=60.0, inertia=diagonal(9.0, 12.0, 15.0), joint=floating(kind),
               nodes={"port": Node(at=(-0.5, 0.1, 0.0))})  # fmt: skip
    hinge = Joint(to="boom", node="tip", kind="revolute", rotations=((0.0, 1.0, 0.0),), stiffness=(3.0,),
                  damping=(0.1,), motion=("switchable",))  # fmt: skip
    dish = Body(name="dish", mass=2.0, com=(0.3, 0.0, 0.1), inertia=diagonal(0.2, 0.3, 0.25), joint=hinge)
    start = {
        "bus.omega": (0.05, -0.1, 0.2), "bus.velocity": (0.1, 0.0, -0.05), "dish.joint.angle": (0.4,),
        "boom.flex.displacement": tuple(0.02 / (k + 1) for k in range(sum(modes))),
        "boom.flex.rate": (0.05,) * sum(modes),
    }  # fmt: skip
    arm = boom("boom", Joint(to="bus", kind="fixed", at=(0.5, 0.0, 0.0)), modes=modes)
    return Model(name="boom and dish", bodies=(bus, arm, dish), initial=start)


def docking(*, gap: float = 0.0, closed: bool = False, modes: tuple[int, ...] = (1, 0, 0)) -> Model:
    """Two free bodies whose ports meet at the start but for a ``gap`` [m] along x; the second carries a boom."""
    first = Body(name="chaser", mass=50.0, inertia=diagonal(9.0, 7.0, 11.0), joint=floating(),
                 nodes={"port": Node(at=(1.0, 0.0, 0.0))})  # fmt: skip
    second = Body(name="target", mass=20.0, com=(0.3, 0.0, 0.1), inertia=diagonal(3.0, 4.0, 2.0), joint=floating(),
                  nodes={"port": Node(at=(-0.5, 0.0, 0.0))})  # fmt: skip
    hinge = Joint(to="target", kind="revolute", rotations=((0.0, 0.0, 1.0),), at=(0.5, 0.0, 0.0), stiffness=(20.0,),
                  motion=("switchable",))  # fmt: skip
    start = {
        "chaser.velocity": (0.2, 0.0, 0.01), "chaser.omega": (0.02, 0.0, 0.05),
        "target.position": (1.5 + gap, 0.0, 0.0), "target.omega": (0.0, -0.03, 0.01),
    }  # fmt: skip
    dock = Loop(name="dock", a=Side(body="chaser", node="port"), b=Side(body="target", node="port"), rows=WELD,
                kind="weld", closed=closed, switchable=True)  # fmt: skip
    bodies = (first, second, boom("boom", hinge, modes=modes, length=1.0))
    return Model(name="docking", bodies=bodies, initial=start, loops=(dock,))


def flexible_four_bar(*, crank: float = 1.0, rate: float = 0.5) -> Model:
    """A crank and rocker under gravity with a flexible coupler, whose pin to the rocker can be opened."""
    rigid = four_bar(crank=crank, rate=rate, gravity=(0.0, -9.81, 0.0))
    made = beam(length=COUPLER, mass_per_length=1.0, bending_stiffness=60.0, modes=(1, 0, 0), polar_inertia=1e-3)
    first, coupler, rocker = rigid.bodies
    coupler = replace(coupler, mass=made.mass, com=made.com, inertia=made.inertia, flex=made.flex, nodes=made.nodes)
    a, b = Side(body="coupler", node="tip"), Side(body="rocker", at=(ROCKER, 0.0, 0.0))
    loops = (replace(rigid.loops[0], a=a, b=b, switchable=True),)
    return replace(rigid, name="flexible four-bar", bodies=(first, coupler, rocker), loops=loops)


def like(client, model: Model) -> Plant:
    """A plant of ``model`` that starts where ``client`` does."""
    plant = Plant(model)
    for name in plant.ports.start_names:
        plant[name] = client[name]
    return plant
