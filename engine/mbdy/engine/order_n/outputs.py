"""What is seen of a system: attitudes, positions, loads, and the totals that are checked on every run.

Follows the sweeps of `mbdy.engine.order_n.sweeps` from base to tips. Bodies are placed relative to the origin and the
velocity of the first floating root, so that momentum keeps its digits far from the inertial origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add

import casadi as ca
from casadi import MX

from mbdy.engine.model.owners import constraint, joint_of, name_of, rate_of
from mbdy.engine.model.system import Model
from mbdy.engine.model.topology import ROOT
from mbdy.engine.model.variables import WORK_ERROR, switched
from mbdy.engine.order_n import gravity_gradient, joint_rotors
from mbdy.engine.order_n import output_kernels as observe
from mbdy.engine.order_n import sweeps as order_n
from mbdy.engine.order_n.constants import constant_fields
from mbdy.engine.order_n.loop_forces import Loops
from mbdy.engine.order_n.mass_centre import mass_centre
from mbdy.engine.order_n.sweeps import BodyMotion, Pose, System, root_frame_speeds


class View:
    """Positions, velocities and totals of ``system`` after its first sweep (``moves``)."""

    def __init__(self, model: Model, system: System, moves: list[BodyMotion]) -> None:
        self.model, self.system, self.moves = model, system, moves
        self.masses = [k[0] for k in system.constants]
        self.mass = reduce(add, self.masses)
        roots = [j for j in system.tree.outward if system.tree.parent[j] == ROOT]
        self.reference = next((j for j in roots if system.structures[j].floating), roots[0])
        self._shift = {j: self._against_reference(j, slice(0, 3), coordinates=True) for j in roots}
        self._slip = {j: self._against_reference(j, slice(0, 3), coordinates=False) for j in roots}
        self.origin, self.speed = (self._root_part(self.reference, slice(0, 3), coordinates=c) for c in (True, False))
        self.centred = system.structures[self.reference].attitude
        self.centre = mass_centre(system, [self.pose(j) for j in range(len(moves))])
        slips = (self.masses[j] * self._slip[system.tree.root[j]] for j in system.tree.outward)
        self.drift = (reduce(add, self._momenta()) + reduce(add, slips)) / ca.if_else(self.mass > 0, self.mass, 1)

    @property
    def base(self) -> Pose:
        """Position and velocity of the reference, inertial axes."""
        if self.centred:
            return self.origin - self.centre, self.speed - self.drift
        return self.origin, self.speed

    def slip(self, body: int) -> MX:
        """Velocity (3) of the root of a body, in the frame that moves with the reference."""
        return self._slip[self.system.tree.root[body]]

    def _root_part(self, root: int, part: slice, *, coordinates: bool) -> MX:
        """Position or velocity of a floating root; zero for others, whose frame is inertial."""
        state = self.system.states[root]
        return (state.q if coordinates else state.u)[part] if self.system.structures[root].floating else MX.zeros(3)

    def _against_reference(self, root: int, part: slice, *, coordinates: bool) -> MX:
        if root == self.reference:
            return MX.zeros(3)
        value = self._root_part(root, part, coordinates=coordinates)
        return value - self._root_part(self.reference, part, coordinates=coordinates)

    def pose(self, body: int, node: int | None = None) -> Pose:
        """C (to inertial components) of a body or one of its nodes, and its place from the reference."""
        m, shift = self.moves[body], self._shift[self.system.tree.root[body]]
        C, rho = m.pose
        if node in m.nodes:
            C, rho = m.nodes[node].pose
        elif node is not None:  # of a rigid body, where nothing sits
            kind, k = self.system.structures[body], self.system.constants[body]
            fields = constant_fields(kind)
            if kind.framed:
                C = C @ ca.reshape(k[fields.places("joint_Q")], 3, 3).T
            rho = rho + C @ k[fields.places("nodes")][3 * node : 3 * node + 3]
        return C, shift + rho

    def _momenta(self) -> Iterator[MX]:
        """Linear momentum of each body, inertial axes."""
        for j, (m, state) in enumerate(zip(self.moves, self.system.states, strict=True)):
            motion = {"V": m.V, "eta": state.eta, "eta_rate": state.eta_rate}
            yield self._call(observe.momentum, j, C=m.pose[0], **motion)["momentum"]

    def _turn(self) -> None:
        """Attitudes of bodies and of their nodes."""
        for j in self.system.tree.outward:
            m, state = self.moves[j], self.system.states[j]
            above = order_n.of_seat(j, self.system, self.moves, "quaternion", MX([1, 0, 0, 0]))
            m.quaternion = self._call(observe.attitude, j, q=state.q, quaternion_parent=above)["quaternion"]
            for i, node in m.nodes.items():
                node.quaternion = m.quaternion
                if m.flexing:
                    turned = {"eta": state.eta, "quaternion_body": m.quaternion}
                    node.quaternion = self.system.kernels.call(
                        observe.node_attitude, self.system.structures[j], i, **turned
                    )["quaternion"]

    def _call(self, make: Callable[..., ca.Function], body: int, *flags: int, **inputs: MX) -> dict[str, MX]:
        """Calls a kernel of a body with its constants."""
        system = self.system
        return system.kernels.call(make, system.structures[body], *flags, k=system.constants[body], **inputs)

    def outputs(self, gravity: MX, swept_gravity: MX) -> dict[str, MX]:
        """Every output by name, after all three sweeps.

        ``gravity`` (3) as it is, ``swept_gravity`` (3) as the sweeps had it.
        """
        origin, drift = self.base
        self._turn()
        outputs: dict[str, MX] = {}
        for j in range(len(self.moves)):
            self._see_states(j, outputs)
            self._see_points(j, origin, drift, gravity, outputs)
        self._see_totals(origin, drift, gravity, swept_gravity, outputs)
        return outputs

    def _see_states(self, j: int, outputs: dict[str, MX]) -> None:
        body, state, kind = self.model.bodies[j], self.system.states[j], self.system.structures[j]
        outputs[f"{body.name}.attitude"] = self.moves[j].quaternion
        outputs[f"{body.name}.flex.displacement"], outputs[f"{body.name}.flex.rate"] = state.eta, state.eta_rate
        if kind.floating:
            return
        stem, slides = joint_of(body), kind.form.translations
        outputs[f"{stem}.displacement"], outputs[f"{stem}.velocity"] = state.q[:slides, 0], state.u[:slides, 0]
        turned, turning = ("attitude", "omega") if kind.form.spherical else ("angle", rate_of(body))
        outputs[f"{stem}.{turned}"], outputs[f"{stem}.{turning}"] = state.q[slides:, 0], state.u[slides:, 0]

    def _see_points(self, j: int, origin: MX, drift: MX, gravity: MX, outputs: dict[str, MX]) -> None:
        body, m = self.model.bodies[j], self.moves[j]
        slip = self._slip[self.system.tree.root[j]]
        reference = {"origin": origin, "drift": drift + slip, "gravity": gravity}
        C, rho = self.pose(j)
        seen = self._call(observe.points, j, V=m.V, A=m.A, C=C, rho=rho, **reference)
        stacked, outputs[f"{body.name}.omega"] = seen["points"], seen["omega"]
        if body.flex:
            pieces = [stacked]
            for i, node in enumerate(body.nodes):
                moved, (C, rho) = m.nodes[i], self.pose(j, i)
                results = self.system.kernels.call(observe.point, V=moved.V, A=moved.A, C=C, rho=rho, **reference)
                pieces.append(results["points"])
                outputs[f"{body.name}.{node}.omega"] = moved.V[:3]
                outputs[f"{body.name}.{node}.attitude"] = moved.quaternion
            stacked = ca.vertcat(*pieces)
        for i, point in enumerate([body.name, *(f"{body.name}.{node}" for node in body.nodes)]):
            for place, what in enumerate(("position", "velocity", "acceleration", "specific_force")):
                at = 12 * i + 3 * place
                outputs[f"{point}.{what}"] = stacked[at : at + 3]
        if field := self.system.field:
            for i, node in enumerate(body.nodes):
                C, rho = self.pose(j, i)
                results = self.system.kernels.call(
                    gravity_gradient.differential, C=C, rho=rho, centre=self.centre, **field
                )
                outputs[f"{body.name}.{node}.specific_force"] -= results["differential"]

    def _see_totals(self, origin: MX, drift: MX, gravity: MX, swept: MX, outputs: dict[str, MX]) -> None:
        system = self.system
        angular, energy, residual = [], [], []
        for j, body in enumerate(self.model.bodies):
            m, state, inputs, (C, rho) = self.moves[j], system.states[j], system.inputs[j], self.pose(j)
            slip = self._slip[self.system.tree.root[j]]
            motion = {"V": m.V, "eta": state.eta, "eta_rate": state.eta_rate, "h": state.h, "C": C}
            spin = self._call(observe.spin, j, **motion, rho=rho, centre=self.centre, drift=self.drift - slip)
            speeds, loads, flexing = spin["speeds"], reactions(system, self.moves, j), m.flexing
            results = self._call(
                observe.energy, j, **motion, q=state.q, u=root_frame_speeds(system.structures[j], state.u), A=m.A,
                modal_rate=m.modal_rate, push=flexing.push if flexing else MX.zeros(0),
                modal_push=flexing.modal_push if flexing else MX.zeros(0), speeds=speeds, forces=inputs.forces,
                tau=m.tau, reaction=loads["reaction"], wheel_torques=m.wheel_torques, rest=inputs.rest,
                drift=drift + slip, origin=origin + rho, gravity=gravity, swept_gravity=swept,
            )  # fmt: skip
            outputs[f"{body.name}.flex.strain_energy"] = results["strain_energy"]
            outputs |= {name_of(joint_of(body), name): value for name, value in loads.items()}
            outputs[name_of(joint_of(body), "impulse")] = MX.zeros(
                len(switched(body.joint.motion))
            )  # the stepper's own
            if body.rotor:
                outputs[name_of(joint_of(body), "momentum")] = self._call(observe.spun, j, V=m.V)["momentum"]
            for i, wheel in enumerate(body.wheels):
                outputs[f"{body.name}.{wheel}.speed"], outputs[f"{body.name}.{wheel}.momentum"] = speeds[i], state.h[i]
            angular.append(spin["angular_momentum"])
            energy.append(results["energy"])
            residual.append(results["work_residual"])
            if m.gradient is not None:
                residual[-1] -= ca.dot(m.gradient, ca.vertcat(m.V, state.eta_rate))
        angular += [momentum for _, momentum in joint_rotors.spins(system, self.moves)]
        for rotor in joint_rotors.energies(system, self.moves):
            energy.append(rotor["energy"])
            residual.append(rotor["growth"])
        root = system.states[self.reference]
        velocity = root.u[:3] if self.centred else drift + self.drift
        outputs["system.mass"] = self.mass
        outputs["system.centre_of_mass"] = root.q[:3] if self.centred else origin + self.centre
        outputs["system.centre_of_mass_velocity"] = velocity
        outputs["system.momentum"] = self.mass * velocity
        outputs["system.angular_momentum"] = reduce(add, angular)
        outputs["system.energy"] = reduce(add, energy)
        outputs["system.work_residual"] = reduce(add, residual)
        outputs[WORK_ERROR] = MX(0)  # the stepper's own


def see_loops(model: Model, loops: Loops, outputs: dict[str, MX]) -> None:
    """Adds what is seen of loops and gears to the outputs by name, after all sweeps."""
    for i, (loop, motion) in enumerate(zip(model.constraints, loops.motions, strict=True)):
        stem = constraint(loop)
        outputs |= {f"{stem}.{name}": value for name, value in loops.forces(i).items()}
        outputs[f"{stem}.residual"], outputs[f"{stem}.residual_rate"] = motion.phi, motion.rate
        outputs[f"{stem}.impulse"] = MX.zeros(loop.size)  # the stepper's own
    if model.loops:
        outputs["system.work_residual"] -= loops.power()


def reactions(system: System, moves: list[BodyMotion], body: int) -> dict[str, MX]:
    """``load`` (6) through a body's joint and efforts (n_u) of its constraint, ``reaction``, after all three sweeps."""
    m, inputs, kind = moves[body], system.inputs[body], system.structures[body]
    turned = {"u_rate": m.u_rate} if kind.reflects else {}
    if kind.rotors:
        turned["A_seat"] = order_n.of_seat(body, system, moves, "A", MX())
    return system.kernels.call(
        observe.loads, kind, not m.below, **turned,
        S=m.S, k=system.constants[body], p=m.p, tau=m.tau, A=m.A, closing=m.closing, **inputs.driven, **m.below,
    )  # fmt: skip


def wheel_momenta(view: View, body: int, speeds: MX) -> MX:
    """Absolute spin momenta ``h = J (Omega + a . omega)`` of a body's wheels from their relative speeds."""
    kind, k = view.system.structures[body], view.system.constants[body]
    fields = constant_fields(kind)
    axes = ca.reshape(k[fields.places("spin_axes")], 3, kind.wheels)
    return k[fields.places("spin")] * (speeds + axes.T @ view.moves[body].V[:3])
