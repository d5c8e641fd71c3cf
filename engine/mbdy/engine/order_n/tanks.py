"""Bodies that lose propellant: their inertia by the mass that is left, and what flows and thrust do to them.

The propellant rests in its body, which is taken with it as one rigid body of the inertia ``M(m)``; a flow f takes it
from where it is missed, ``r_s`` (the derivative of its first moment by its mass), to the nozzle at ``r_e``,
where it leaves with the velocity of that point and the exhaust velocity ``-c a`` against it. What craft and exhaust
have together of linear momentum, and of angular momentum about the mass centre of the craft, stays:

    M V' + V x* M V = F + W,   W = [n; w],   w = f (c a - omega x (r_e - r_s)),
    n = f (r_e x (c a - omega x r_e) + J_s omega - (r_e - r_s) x (v - v_r)),

with ``J_s`` the derivative of the tensor about the body's origin, so that jet damping is exact (W. T. Thomson,
Introduction to Space Dynamics, 1961, ch. 8, for one body about its mass centre). v_r is the velocity of the mass centre
of the body's tree and of all that closed loops join to it, as far as no root and no loop to inertial holds them; so
nothing depends on the frame that velocities are seen from, nor on whether joints or loops hold a craft together. Left
out is the momentum of the flow inside the body, f times the way to the nozzle, which is there only while it flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from math import nan, pi
from operator import add
from sys import float_info
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from casadi import MX, SX

from mbdy.engine.model.ports import Ports
from mbdy.engine.model.system import Model
from mbdy.engine.model.tank_variables import tank_parameters
from mbdy.engine.model.tanks import ROW, Tank, volume
from mbdy.engine.order_n import spatial
from mbdy.engine.order_n.constants import Fields, Structure, constant_fields, no_negative_moment
from mbdy.engine.order_n.joined_trees import mean_velocity
from mbdy.engine.order_n.kernels import Kernels, kernel, symbols
from mbdy.engine.order_n.loop_forces import Closing
from mbdy.engine.order_n.mass_centre import mass_centre
from mbdy.engine.order_n.sweeps import BodyMotion, Pose, System

if TYPE_CHECKING:
    from mbdy.engine.order_n.layout import Layout

NEAR = 1e-12
"""Part of a sphere's content from empty and full within which moments go on along the line of that place: the level of
a sphere has no slope there."""


@dataclass(frozen=True)
class TankForm:
    """What is compiled of a tank."""

    shape: str
    settled: bool
    rows: int
    nozzles: int
    sizes: tuple[tuple[str, int], ...]
    """Its parameters in their order, with how many numbers each has."""

    @property
    def constants(self) -> Fields:
        """Its share of ``k``: its parameters, directions of length one, places of its nozzles, and what it holds."""
        return Fields((*self.sizes, ("nozzles", 3 * self.nozzles), ("capacity", 1)))


def tank_form(tank: Tank) -> TankForm:
    """What is compiled of ``tank``."""
    sizes = tuple((name, len(start)) for name, (_, start) in tank_parameters(tank).items())
    return TankForm(tank.shape, tank.density is not None, len(tank.table), len(tank.nozzle), sizes)


def tank_key(model: Model) -> tuple[object, ...]:
    """What equations depend on of the tanks of ``model``."""
    return tuple((tank.name, tank.body, tank.nozzle, tank_form(tank)) for tank in model.tanks)


def tank_words(form: TankForm) -> Iterator[tuple[str, int, int, str]]:
    """What parameters must keep: the name of each, its first element, how many these are, and that in words."""
    for name, _ in form.sizes:
        if name in ("radius", "length", "density"):
            yield name, 0, 1, "must be > 0"
        elif name == "exhaust_velocity":
            for i in range(form.nozzles):
                yield name, i, 1, "must be > 0"
        elif name == "axis":
            yield name, 0, 3, "must not be zero"
        elif name == "thrust_axis":
            for i in range(form.nozzles):
                yield name, 3 * i, 3, "must not be zero"
        elif name == "table":
            for i in range(form.rows):
                yield name, ROW * i, 1, "masses must rise from >= 0 kg"
                yield name, ROW * i + 4, 6, "must have no negative principal moment (xx, yy, zz, xy, xz, yz)"


def prepare_tank(form: TankForm) -> ca.Function:
    """Kernel: a tank's parameters and the places of its ``nozzles`` (3 each) to its constants."""
    fields = form.constants
    vector, nozzles = SX.sym("p", sum(size for _, size in form.sizes)), SX.sym("nozzles", 3 * form.nozzles)
    p = fields.split(ca.vertcat(vector, nozzles, SX(float_info.max)))
    for name in ("radius", "length", "density", "exhaust_velocity"):
        if name in p:
            p[name] = ca.if_else(p[name] > 0, p[name], nan)
    for name in ("axis", "thrust_axis"):
        if name in p:
            axes = (p[name][i : i + 3] for i in range(0, p[name].numel(), 3))
            p[name] = ca.vertcat(*(axis / ca.norm_2(axis) for axis in axes))
    if "table" in p:
        least = SX(0)
        for i in range(form.rows):
            mass = p["table"][ROW * i]
            p["table"][ROW * i] = ca.if_else(mass > least if i else mass >= 0, mass, nan)
            own = slice(ROW * i + 4, ROW * (i + 1))
            tensor = _tensor(p["table"][own])
            p["table"][own] = ca.if_else(no_negative_moment(tensor, ca.trace(tensor)), p["table"][own], nan)
            least = mass
        p["capacity"] = least
    elif form.settled:
        p["capacity"] = p["density"] * volume(p["radius"], p.get("length"))
    return kernel(
        "prepare_tank", {"p": vector, "nozzles": nozzles}, {"k": ca.vertcat(*(p[n] for n, _ in fields.sizes))}
    )


def propellant(form: TankForm, c: Mapping[str, SX], m: SX) -> tuple[SX, SX, SX, SX]:
    """First moment (3) and tensor (3, 3) about the body's origin of propellant of mass ``m``, and their derivatives by
    m; body axes."""
    if form.rows:
        return _tabled(form, c["table"], m)
    R, at = c.get("radius", SX(0)), c["at"]
    along = c.get("axis", SX([0, 0, 1]))
    if not form.settled:
        length = c.get("length", SX(0))
        axial, across = {"sphere": (2 / 5, 2 / 5), "cylinder": (1 / 2, 1 / 4), "point": (0, 0)}[form.shape]
        tensor = _about_axis(along, axial * R**2, across * R**2 + length**2 / 12)
        return _moved(at, m, SX(3, 1), m * tensor, SX(3, 1), tensor)
    level, mean, axial, across, kept = (_cap if form.shape == "sphere" else _column)(c, R, m)
    radius = R**2 - level**2 if form.shape == "sphere" else R**2
    surface, slope = level * along, _about_axis(along, radius / 2, radius / 4 + level**2)
    moment, tensor = mean * along + (m - kept) * surface, _about_axis(along, axial, across) + (m - kept) * slope
    return _moved(at, m, moment, tensor, surface, slope)


def _cap(c: Mapping[str, SX], R: SX, m: SX) -> tuple[SX, SX, SX, SX, SX]:
    """Of a liquid in a sphere: the level from the middle, first moment along the axis and moments along and across it
    about the middle, and the mass that these are of."""
    full = c["density"] * volume(R)
    kept = ca.fmax(ca.fmin(m, (1 - NEAR) * full), NEAR * full)
    x = 2 * ca.sin(ca.asin(2 * kept / full - 1) / 3)
    scale = c["density"] * pi * R**5
    axial = scale / 2 * (8 / 15 + x - 2 * x**3 / 3 + x**5 / 5)
    square = scale * (x**3 / 3 - x**5 / 5 + 2 / 15)
    return R * x, -scale / R * (1 - x**2) ** 2 / 4, axial, axial / 2 + square, kept


def _column(c: Mapping[str, SX], R: SX, m: SX) -> tuple[SX, SX, SX, SX, SX]:
    """The same as `_cap` in a cylinder."""
    height, bottom = m / (c["density"] * pi * R**2), -c["length"] / 2
    middle = bottom + height / 2
    return bottom + height, m * middle, m * R**2 / 2, m * (R**2 / 4 + height**2 / 12 + middle**2), m


def _about_axis(axis: SX, axial: SX, across: SX) -> SX:
    return across * SX.eye(3) + (axial - across) * axis @ axis.T


def _moved(at: SX, m: SX, moment: SX, tensor: SX, surface: SX, slope: SX) -> tuple[SX, SX, SX, SX]:
    """What is about the middle of a tank, about the body's origin."""

    def shifted(mass: SX | int, first: SX, about: SX) -> tuple[SX, SX]:
        cross = at @ first.T
        square = mass * ca.dot(at, at) + 2 * ca.dot(at, first)
        return mass * at + first, about + square * SX.eye(3) - mass * at @ at.T - cross - cross.T

    return *shifted(m, moment, tensor), *shifted(1, surface, slope)


def _tabled(form: TankForm, table: SX, m: SX) -> tuple[SX, SX, SX, SX]:
    rows = [table[ROW * i : ROW * (i + 1)] for i in range(form.rows)]
    low, high = rows[0], rows[1]
    for below, above in pairwise(rows[1:]):
        beyond = m > below[0]
        low, high = ca.if_else(beyond, below, low), ca.if_else(beyond, above, high)
    slope = (high - low)[1:] / (high[0] - low[0])
    now = low[1:] + slope * (m - low[0])
    com, drift = now[:3], slope[:3]
    own, change = _tensor(now[3:]), _tensor(slope[3:])

    def spread(a: SX, b: SX) -> SX:
        return ca.dot(a, b) * SX.eye(3) - (a @ b.T + b @ a.T) / 2

    tensor = own + m * spread(com, com)
    return m * com, tensor, com + m * drift, change + spread(com, com) + 2 * m * spread(com, drift)


def _tensor(entries: SX) -> SX:
    """(3, 3) of a table's xx, yy, zz, xy, xz, yz."""
    return spatial.symmetric(ca.vertcat(*(entries[i] for i in (0, 3, 4, 1, 5, 2))), 3)


def corners(model: Model, at: Layout, x: MX, k: MX) -> Iterator[tuple[str, MX]]:
    """Where moments bend by the mass that is left, at rows of tables, by name."""
    for tank, mass, places in zip(model.tanks, at.tanks, at.tank_constants, strict=True):
        form = tank_form(tank)
        for i in range(1, form.rows - 1):
            row = places.start + form.constants.places("table").start + ROW * i
            yield f"tank.{tank.name}.table_{i + 1}", x[mass, 0] - k[row]


def held(form: TankForm) -> ca.Function:
    """Kernel: first ``moment`` (3) and ``tensor`` (6) of a mass m of propellant about the body's origin."""
    inputs = symbols(c=form.constants.size, m=1)
    moment, tensor, _, _ = propellant(form, form.constants.split(inputs["c"]), inputs["m"])
    return kernel("held", inputs, {"moment": ca.densify(moment), "tensor": ca.densify(spatial.upper(tensor))})


def fill(kind: Structure) -> ca.Function:
    """Kernel: a body's constants ``k`` with propellant of mass m, ``moment`` and ``tensor`` in it."""
    fields = constant_fields(kind)
    inputs = symbols(k=fields.size, m=1, moment=3, tensor=6)
    k = fields.split(inputs["k"])
    mass, moment = k["mass"] + inputs["m"], k["moment"] + inputs["moment"]
    filled = {
        **k, "mass": mass, "moment": moment, "inertia": k["inertia"] + inputs["tensor"],
        "com": ca.if_else(mass > 0, moment / ca.if_else(mass > 0, mass, 1), k["com"]),
    }  # fmt: skip
    return kernel("fill", inputs, {"filled": ca.vertcat(*(filled[name] for name, size in fields.sizes if size))})


def expel(form: TankForm) -> ca.Function:
    """Kernel: what flows do to a body that moves with V beside ``mean`` v_r, body axes: ``wrench`` W (6) about its
    origin, ``thrust`` of each nozzle, ``leaving`` flow in all, ``surface`` r_s, and ``jet``, the force on the mass
    centre of all."""
    inputs = symbols(c=form.constants.size, m=1, flow=form.nozzles, V=6, mean=3)
    vector, m, flow, V, mean = inputs.values()
    c = form.constants.split(vector)
    _, _, r, J = propellant(form, c, m)
    omega, v = V[:3], V[3:]
    flow = ca.if_else(m > 0, flow, 0)
    leaving, thrusts = ca.sum1(flow), flow * c["exhaust_velocity"]
    force, torque, jet = leaving * ca.cross(omega, r), leaving * (J @ omega), SX(3, 1)
    for i in range(form.nozzles):
        part = slice(3 * i, 3 * i + 3)
        place, thrust = c["nozzles"][part], thrusts[i] * c["thrust_axis"][part]
        pushed = thrust - flow[i] * ca.cross(omega, place)
        force += pushed
        torque += ca.cross(place, pushed) - flow[i] * ca.cross(place - r, v - mean)
        jet += pushed - flow[i] * (v - mean)
    return kernel("expel", inputs, {
        "wrench": ca.vertcat(torque, force), "thrust": thrusts, "leaving": leaving, "surface": ca.densify(r),
        "jet": jet,
    })  # fmt: skip


def energy_of_mass(form: TankForm) -> ca.Function:
    """Kernel: derivative of a body's kinetic ``energy`` by the mass of propellant, at a velocity of V and ``drift``."""
    inputs = symbols(c=form.constants.size, m=1, V=6, drift=3)
    vector, m, V, drift = inputs.values()
    _, _, r, J = propellant(form, form.constants.split(vector), m)
    omega, v = V[:3], V[3:] + drift
    energy = (ca.dot(v, v) + ca.dot(omega, J @ omega)) / 2 + ca.dot(v, ca.cross(omega, r))
    return kernel("energy_of_mass", inputs, {"energy": energy})


@dataclass(frozen=True)
class Feed:
    """A tank of a system at an instant: its form, the place of its body, constants, mass and flows."""

    form: TankForm
    body: int
    constants: MX
    mass: MX
    flow: MX


def loaded(model: Model, masses: Mapping[str, float]) -> Model:
    """``model`` without its tanks, with ``masses`` [kg] of propellant, by tank, in its bodies."""
    bodies = {body.name: body for body in model.bodies}
    for tank in model.tanks:
        body, form, mass = bodies[tank.body], tank_form(tank), masses[tank.name]
        own = [number for _, numbers in tank_parameters(tank).values() for number in numbers]
        c = prepare_tank(form)(p=own, nozzles=[0.0] * (3 * form.nozzles))["k"]
        results = held(form)(c=c, m=mass)
        upper = np.array(results["tensor"]).ravel()
        about = np.array(
            [[upper[0], upper[1], upper[2]], [upper[1], upper[3], upper[4]], [upper[2], upper[4], upper[5]]]
        )
        com, whole = np.array(body.com), body.mass + mass
        moment = body.mass * com + np.array(results["moment"]).ravel()
        about += np.array(body.inertia) + body.mass * (com @ com * np.eye(3) - np.outer(com, com))
        com = moment / whole if whole else com
        inertia = about - whole * (com @ com * np.eye(3) - np.outer(com, com))
        bodies[tank.body] = replace(body, mass=whole, com=tuple(com), inertia=(inertia + inertia.T) / 2)
    return replace(model, bodies=tuple(bodies.values()), tanks=(), initial={}, guess={}, chosen_outputs=())


def prepared(model: Model, ports: Ports, p: MX, kernels: Kernels) -> list[MX]:
    """The constants of each tank."""
    pieces = []
    for tank in model.tanks:
        own = ca.vertcat(*(p[ports.by_name[f"tank.{tank.name}.{name}"].places] for name in tank_parameters(tank)))
        nozzles = ca.vertcat(*(p[ports.by_name[f"{tank.body}.{node}.at"].places] for node in tank.nozzle))
        pieces.append(kernels.call(prepare_tank, tank_form(tank), p=own, nozzles=nozzles)["k"])
    return pieces


def filled(feeds: Sequence[Feed], structures: Sequence[Structure], constants: list[MX], kernels: Kernels) -> list[MX]:
    """The bodies' ``constants`` with the propellant in them."""
    for feed in feeds:
        moments = kernels.call(held, feed.form, c=feed.constants, m=feed.mass)
        results = kernels.call(fill, structures[feed.body], k=constants[feed.body], m=feed.mass, **moments)
        constants[feed.body] = results["filled"]
    return constants


def discharge(system: System, moves: list[BodyMotion], closings: Sequence[Closing]) -> None:
    """Adds what the flows of ``system.feeds`` do to their bodies, after the first sweep."""
    for feed in system.feeds:
        m = moves[feed.body]
        mean = m.pose[0].T @ mean_velocity(system, moves, closings, system.tree.root[feed.body])
        results = system.kernels.call(
            expel, feed.form, c=feed.constants, m=feed.mass, flow=feed.flow, V=m.V, mean=mean,
        )  # fmt: skip
        m.p = m.p - results["wrench"]
        m.discharges.append(results)


def mass_rates(system: System, moves: list[BodyMotion]) -> list[MX]:
    """What the masses in all tanks change by."""
    return [-results["leaving"] for _, results in _results(system, moves)]


def of_mass_centre(system: System, moves: list[BodyMotion], mass: MX) -> tuple[MX, MX]:
    """What flows do to the mass centre of a system with an ``attitude`` root: force (3), and the velocity (3) with
    which it goes away from what leaves; inertial axes."""
    centre = mass_centre(system, [m.pose for m in moves])
    jets, shifts = [], []
    for feed, results in _results(system, moves):
        C, rho = moves[feed.body].pose
        jets.append(C @ results["jet"])
        shifts.append(results["leaving"] / mass * (rho + C @ results["surface"] - centre))
    return reduce(add, jets), reduce(add, shifts)


def power(system: System, moves: list[BodyMotion], poses: Sequence[Pose], origin: MX, rest: MX, gravity: MX) -> MX:
    """Power [W] of what flows do, less the energy that leaves with the propellant from where it was.

    ``poses`` are seen from ``origin``; what moves with the sweeps has the velocity ``rest`` besides, where no body has
    a drift.
    """
    powers = []
    for feed, results in _results(system, moves):
        m, (C, rho) = moves[feed.body], poses[feed.body]
        drift = C.T @ rest if m.drift is None else m.drift
        force, height = results["wrench"], origin + rho + C @ results["surface"]
        energy = system.kernels.call(energy_of_mass, feed.form, c=feed.constants, m=feed.mass, V=m.V, drift=drift)
        powers.append(ca.dot(force, m.V) + ca.dot(force[3:], drift))
        powers.append(results["leaving"] * (ca.dot(gravity, height) - energy["energy"]))
    return reduce(add, powers)


def see(model: Model, system: System, moves: list[BodyMotion], outputs: dict[str, MX]) -> None:
    """Adds what is seen of tanks to the outputs by name."""
    for tank, (feed, results) in zip(model.tanks, _results(system, moves), strict=True):
        outputs[f"tank.{tank.name}.mass"], outputs[f"tank.{tank.name}.thrust"] = feed.mass, results["thrust"]
        outputs["system.work_residual"] -= ca.dot(results["wrench"], moves[feed.body].V)


def _results(system: System, moves: list[BodyMotion]) -> Iterator[tuple[Feed, dict[str, MX]]]:
    """Each tank with what `discharge` found of it."""
    places = [0] * len(moves)
    for feed in system.feeds:
        yield feed, moves[feed.body].discharges[places[feed.body]]
        places[feed.body] += 1
