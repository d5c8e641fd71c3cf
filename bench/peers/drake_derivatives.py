"""Drake's MultibodyPlant as a peer: time derivatives of a new state, less what setting the state takes."""

from __future__ import annotations

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia
from system import given, processor_seconds, rotation, serve

system = given()
plant = MultibodyPlant(0.0)
plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, 0.0])
bodies, joints = [], []
for i, (mass, com, inertia) in enumerate(zip(system.mass, system.com, system.inertia, strict=True)):
    about_origin = inertia / mass + com @ com * np.eye(3) - np.outer(com, com)
    unit = UnitInertia(*np.diag(about_origin), about_origin[0, 1], about_origin[0, 2], about_origin[1, 2])
    bodies.append(plant.AddRigidBody(f"body{i}", SpatialInertia(mass, com, unit)))
    if i:
        parent = bodies[system.parent[i]].body_frame()
        seat = plant.AddFrame(FixedOffsetFrame(f"seat{i}", parent, RigidTransform(system.at[i])))
        joints.append(plant.AddJoint(RevoluteJoint(f"joint{i}", seat, bodies[i].body_frame(), system.axis[i])))
        plant.AddJointActuator(f"motor{i}", joints[-1])
plant.Finalize()
context, found = plant.CreateDefaultContext(), plant.AllocateTimeDerivatives()
plant.get_actuation_input_port().FixValue(context, system.torques)
turn = rotation(system.attitude)
at, speed = bodies[0].floating_positions_start(), bodies[0].floating_velocities_start_in_v()
q, v = np.zeros(plant.num_positions()), np.zeros(plant.num_velocities())
q[at : at + 4], q[at + 4 : at + 7] = system.attitude, system.position
v[speed : speed + 3], v[speed + 3 : speed + 6] = turn @ system.omega, system.velocity
hinges = [joint.velocity_start() for joint in joints]
q[[joint.position_start() for joint in joints]], v[hinges] = system.angles, system.rates
state = np.concatenate([q, v])


def accelerations() -> np.ndarray:
    """Those that system.h asks for."""
    context.SetContinuousState(state)
    plant.CalcTimeDerivatives(context, found)
    rates = found.CopyToVector()[len(q) :]
    return np.concatenate([turn.T @ rates[speed : speed + 3], rates[speed + 3 : speed + 6], rates[hinges]])


def evaluated() -> None:
    """A state and its derivatives."""
    context.SetContinuousState(state)
    plant.CalcTimeDerivatives(context, found)


serve(
    accelerations,
    lambda count: (
        processor_seconds(evaluated, count) - processor_seconds(lambda: context.SetContinuousState(state), count)
    ),
)
