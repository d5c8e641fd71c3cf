"""One body's share of each sweep of the Order-N equations, as CasADi functions (equations.md, "Three sweeps").

A kernel depends on the body's `Structure`, not on its numbers, so a hundred hinged panels share one. Each is
called from the graph that `mbdy.engine.order_n.sweeps` lays along the tree.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

from mbdy.engine.model.limits import PIVOT_ROUNDING
from mbdy.engine.model.variables import switched
from mbdy.engine.order_n import efforts, spatial
from mbdy.engine.order_n.constants import Structure, constant_fields, frame_fields
from mbdy.engine.order_n.joints import motion
from mbdy.engine.order_n.kernels import kernel, symbols
from mbdy.engine.order_n.passages import Passage, Turn

_MATRICES = ("joint_R0", "joint_axes", "joint_Q")


def constants(kind: Structure) -> tuple[SX, dict[str, SX]]:
    """The symbol of one body's constants and its pieces; matrices in shape."""
    fields = constant_fields(kind)
    vector = SX.sym("k", fields.size)
    k = fields.split(vector)
    k["R0"] = ca.reshape(k["R0"], 3, 3)
    k["axes"] = ca.reshape(k["axes"], 3, kind.form.n_axes)
    if kind.floating:
        k["R0"], k["at"], k["axes"] = SX.eye(3), SX(3, 1), SX.eye(3)
    for name, size in frame_fields(kind):
        if size:
            k[name.removeprefix("joint_")] = ca.reshape(k[name], 3, size // 3) if name in _MATRICES else k[name]
    if kind.frame == "parent":
        k["R0"] = SX.eye(3)
    k["M"] = spatial.inertia_matrix(k["mass"], k["moment"], spatial.symmetric(k["inertia"], 3))
    return vector, k


def body_symbols(
    kind: Structure, **sizes: int | tuple[int, int] | ca.Sparsity
) -> tuple[dict[str, SX], dict[str, SX], *tuple[SX, ...]]:
    """The inputs of a body's kernel by name, its constants ``k`` among them; the pieces of these; the other symbols."""
    inputs, (vector, k) = symbols(**sizes), constants(kind)
    return {**inputs, "k": vector}, k, *inputs.values()


def own_axes(kind: Structure, k: dict[str, SX], a: SX) -> SX:
    """Components (3) in the body's own axes, of components in those that the sweeps see it in."""
    return k["Q"] @ a if kind.framed else a


def swept_axes(kind: Structure, k: dict[str, SX], a: SX) -> SX:
    """Components (3) in the axes that the sweeps see the body in, of components in its own."""
    return k["Q"].T @ a if kind.framed else a


def wrench(kind: Structure, k: dict[str, SX], forces: SX) -> SX:
    """All external forces and torques on a body, in its own axes, as one force vector about its origin."""
    points = [k["com"], *(k["nodes"][3 * i : 3 * i + 3] for i in range(kind.nodes))]
    total = SX(6, 1)
    for i, point in enumerate(points):
        f, n = forces[6 * i : 6 * i + 3], forces[6 * i + 3 : 6 * i + 6]
        total += ca.vertcat(n + ca.cross(point, f), f)
    return ca.vertcat(swept_axes(kind, k, total[:3]), swept_axes(kind, k, total[3:]))


def n_forces(kind: Structure) -> int:
    """Components of external force and torque on a body: at its mass centre, then at its nodes."""
    return 6 + 6 * kind.nodes


def outward(kind: Structure, root: bool, drifting: bool, summed: bool) -> ca.Function:
    """First sweep: the fields of `mbdy.engine.order_n.sweeps.BodyMotion` that it has, ``V_parent`` not at a root.

    ``c = S'u + V x S u``; ``p = V x* M V - F``, of wheels alone where the body is flexible; ``motors`` are inputs of
    wheels, ``wheel_torques`` all that acts on them. Where laws may be too steep for a step (`efforts.lags`) also
    ``lag`` of the joint; and of wheels ``coupling`` (3, n), by which their torques grow with the body's angular
    acceleration, and ``carried`` (21), the inertia that this adds to the body.
    ``gyro`` (3) is the moment that turning the spin of rotors takes from what carries them, axes of the body.
    ``power`` is that of all these, of efforts that store no energy and of external forces on a rigid body; what is
    ``drifting`` has the velocity ``drift`` (3) of its root too. ``summed`` asks for ``sums`` (3, 2), force and momentum
    of a rigid body.
    """
    form = kind.form
    n_u = 0 if kind.floating else form.n_u
    inputs, k, q, u, forces, actuation, rest, h, motors, *above = body_symbols(
        kind, q=form.n_q, u=form.n_u, forces=n_forces(kind), effort=n_u, rest=kind.rests, h=kind.wheels,
        motors=kind.wheels, **({} if root else {"V_parent": 6}),
    )  # fmt: skip
    carried = symbols(drift_parent=3) if drifting else {}
    at_joint, bias = _joint(kind, k, q, u)
    passage, S = passage_of(kind, k, at_joint)
    relative = S @ u
    if root:
        V, c = ca.densify(relative), bias
    else:
        V = passage.motion(*above) + relative
        c = bias + spatial.cross_motion(V, relative)
    drift = passage.rotation @ carried["drift_parent"] if drifting else SX(3, 1)
    speeds, extra = efforts.wheel_speeds(kind, k, h, V[:3]), {}
    wheel_torques = efforts.wheel_torques(kind, k, motors, speeds)
    if any(kind.bearings):  # torque = torque at rest - lag (torque / J - a . omega')
        lags, axes = efforts.wheel_lags(kind, k, speeds), ca.reshape(k["spin_axes"], 3, kind.wheels)
        wheel_torques, lags = wheel_torques / (1 + lags / k["spin"]), lags / (1 + lags / k["spin"])
        extra["wheel_speeds"] = speeds
        extra["coupling"] = axes @ ca.diag(lags)
        extra["carried"] = spatial.upper(ca.diagcat(extra["coupling"] @ axes.T, SX(3, 3)))
    p, power, sums = SX(6, 1), ca.dot(wheel_torques, speeds), SX(3, 2)
    if not kind.flex:
        load, momentum = wrench(kind, k, forces), k["M"] @ V
        p, sums = spatial.cross_force(V, momentum) - load, ca.horzcat(load[3:], momentum[3:])
        power += ca.dot(load[:3], V[:3]) + ca.dot(load[3:], V[3:] + drift)
    if not kind.floating:
        power += ca.dot(efforts.unstored(kind, k, q, u, actuation, rest), u)
    for i in range(kind.wheels):
        a = k["spin_axes"][3 * i : 3 * i + 3]
        p += ca.vertcat(ca.cross(V[:3], a * h[i]) + a * wheel_torques[i], SX(3, 1))
    tau = SX(form.n_u, 1) if kind.floating else efforts.effort(kind, k, q, u, actuation, rest)
    if kind.resistances:
        extra["lag"] = efforts.lags(kind, k, u)
    if kind.rotors:
        extra["gyro"] = passage.rotation @ ca.cross(above[0][:3], efforts.rotor_momenta(kind, k) @ u)
    outputs = at_joint | {"c": c, "V": V, "p": p, "tau": tau}
    outputs |= {"E": ca.densify(passage.rotation)} if kind.turns else {}
    outputs |= {"wheel_torques": wheel_torques, "power": power} | ({"drift": drift} if drifting else {})
    outputs |= extra | ({"sums": ca.densify(sums)} if summed else {})
    return kernel(f"outward_{kind_name(kind, root, drifting, summed)}", inputs | carried, outputs)


def _joint(kind: Structure, k: dict[str, SX], q: SX, u: SX) -> tuple[dict[str, SX], SX]:
    """What `passage_of` is made from at ``q``, with q' where that is not u; and ``S' u`` of the joint's own speeds."""
    if kind.turns:
        c, s, c0, s0 = ca.cos(q), ca.sin(q), k["turns"][0], k["turns"][1]
        return {"turn": ca.vertcat(c * c0 - s * s0, s * c0 + c * s0)}, SX(6, 1)
    joint = motion(kind.form, k["axes"], q, u)
    E, place, S, bias = joint.E @ k["R0"].T, k["at"] + k["R0"] @ joint.d, joint.S, joint.bias
    if kind.offset:  # the origin moves with the turning about the joint's place
        place, arm = place - E.T @ k["at_b"], spatial.skew(k["at_b"])
        S[3:, :] += arm @ S[:3, :]
        bias = bias + ca.vertcat(SX(3, 1), arm @ bias[:3])
    return {"E": E, "r": place, "S": S, "q_rate": joint.rate}, bias


def passage_of(kind: Structure, k: dict[str, SX], at_joint: dict[str, SX]) -> tuple[Passage, SX]:
    """The way from the parent over a joint that stands like this, and its motion subspace S."""
    if kind.frame == "parent":
        return Passage(at_joint["r"]), ca.vertcat(SX(3, kind.form.n_u), k["axes"])
    if not kind.turns:
        return Passage(at_joint["r"], at_joint["E"]), at_joint["S"]
    (c, s), constant = ca.vertsplit(at_joint["turn"]), k["turns"]
    turns = (Turn(2, constant[4], constant[5]),) if kind.turns == 3 else ()
    return Passage(k["at"], turns=(*turns, Turn(0, constant[2], constant[3]), Turn(2, c, s))), SX(subspace(kind), 1)


def joint_symbols(kind: Structure) -> dict[str, int | tuple[int, int] | ca.Sparsity]:
    """Sizes of what `passage_of` is made from."""
    if kind.turns:
        return {"turn": 2}
    return {"r": 3} if kind.frame == "parent" else {"E": (3, 3), "r": 3, "S": subspace(kind)}


def stand(floating: bool) -> ca.Function:
    """Pose of a body or node on what it sits on (``_parent``): C to inertial components, and rho.

    A floating root's own origin is where its rho begins.
    """
    inputs = symbols(E=(3, 3), r=3, C_parent=(3, 3), rho_parent=3)
    E, r, C_parent, rho_parent = inputs.values()
    rho = rho_parent if floating else rho_parent + C_parent @ r
    return kernel(f"stand_{int(floating)}", inputs, {"C": C_parent @ E.T, "rho": rho})


def drive(kind: Structure, driven: dict[str, SX], k: dict[str, SX] | None = None) -> tuple[SX, SX]:
    """Which speeds are held (1) or free (0), and the acceleration of the held ones, of a joint that is ``driven``
    (`drive_symbols`); with the body's constants ``k`` also those that friction holds."""
    n = kind.form.n_u
    constrained, forced = SX(n, 1), SX(n, 1)
    places = switched(kind.motion)
    for i, how in enumerate(kind.motion):
        if how == "prescribed":
            constrained[i], forced[i] = 1, driven["acceleration"][i]
        elif how == "switchable":
            at = places.index(i)
            prescribed, locked = driven["switches"][at], driven["switches"][len(places) + at]
            constrained[i] = 1 - (1 - prescribed) * (1 - locked)
            forced[i] = prescribed * (1 - locked) * driven["acceleration"][i]
    for i in range(kind.sticking if k else 0):
        assert k
        stuck = (1 - constrained[i]) * (k["sense"][i] == 0)
        constrained[i], forced[i] = constrained[i] + stuck, forced[i] + stuck * driven["stop"][i]
    return constrained, forced


def drive_symbols(kind: Structure) -> dict[str, SX]:
    """Symbols of the prescribed accelerations and the switches (prescribed, then locked) of a joint; and where friction
    sticks, of the accelerations of what it holds."""
    n = kind.form.n_u
    constrained = any(how != "free" for how in kind.motion)
    driven = symbols(acceleration=n if constrained else 0, switches=2 * len(switched(kind.motion)))
    return driven | (symbols(stop=n) if kind.sticking else {})


def inward(
    kind: Structure, root: bool, leaf: bool, loops: bool = False, joins: bool = False, geared: bool = False
) -> ca.Function:
    """Second sweep. ``P_below``, ``p_below`` (not at a tip) are the children's; of a flexible body those of all, its
    modes eliminated.

    ``g = D^-1 U^T`` (S^-1 = S^T of what nothing holds), ``t = D^-1 (tau - S^T p)``, a_c, u' of held speeds
    (``forced``); ``S_free``, ``solved`` = D^-1 S^T of free speeds where there are ``loops``, and ``inverse`` =
    D^-1 where it is ``geared``; and ``X^T P_a X``, ``X^T p_a`` for the parent (not at a root), added to ``P_others``
    and ``p_others`` of children before it where it ``joins`` them. ``lag`` as `outward` has it.
    """
    inputs, k, c, p_body, tau, *_ = body_symbols(kind, c=6, p=6, tau=kind.form.n_u, **joint_symbols(kind))
    passage, S = passage_of(kind, k, inputs)
    driven, below, lag = drive_symbols(kind), symbols(P_below=21, p_below=6), SX.sym("lag", kind.resistances)
    P, p = gathered(kind, leaf, k["M"], p_body, **below)
    constrained, forced = drive(kind, driven, k)
    active = [i for i, how in enumerate(kind.motion) if how != "prescribed"]
    free = 1 - constrained[active, 0]
    S_f = S[:, active] @ ca.diag(free) if active else SX(6, 0)
    effort, a_c = free * tau[active, 0] - S_f.T @ p, c + S @ forced
    inputs |= driven | ({} if leaf else below)
    U = felt = P @ S_f
    on_carrier = SX(6, 1)
    if kind.rotors:  # the carrier feels the rotors' spin, which the joint feels it turn: W = U + X^-T B
        inputs |= symbols(gyro=3)
        B = ca.vertcat(passage.rotation @ efforts.rotor_momenta(kind, k), SX(3, kind.form.n_u))
        B_f = B[:, active] @ ca.diag(free) if active else SX(6, 0)
        U, effort = U + B_f, effort + B_f.T @ a_c
        on_carrier = B @ forced + ca.vertcat(inputs["gyro"], SX(3, 1))
    if kind.unheld:
        solved = S.T @ _inverse(P, ca.horzcat(-p, *([SX.eye(6)] if loops else [])))
        g, t, of_forces = S.T, solved[:, 0], solved[:, 1:]
    else:
        D = S_f.T @ felt + ca.diag(constrained[active, 0])
        if kind.resistances:
            D += ca.diag(free * lag[active, 0])
            inputs["lag"] = lag
        if kind.reflects:
            D += ca.diag(free * efforts.reflected(kind, k)[active, 0])
        of_efforts = [SX.eye(len(active))] if geared else []
        solved = spatial.solve_ldl(D, ca.horzcat(U.T, effort, *([S_f.T] if loops else []), *of_efforts))
        g, t, of_forces = solved[:, :6], solved[:, 6], solved[:, 7 : 7 + 6 * loops]
    outputs = {"g": ca.densify(g), "t": t, "a_c": a_c, "forced": forced}
    if geared:
        outputs["inverse"] = ca.densify(solved[:, 13:])
    if loops:
        outputs |= {"S_free": S_f, "solved": of_forces}
    if not root:
        P_a = spatial.symmetric(spatial.upper(P - U @ g), 6)
        bare = not (kind.resistances or kind.sticking or kind.reflects)
        if kind.turns and kind.motion == ("free",) and bare:
            P_a[2, :], P_a[:, 2] = SX(1, 6), SX(6, 1)
        p_a = p + P_a @ a_c + U @ t + on_carrier
        P_parent, p_parent = spatial.upper(passage.inertia(P_a)), passage.force(p_a)
        if joins:
            inputs |= symbols(P_others=21, p_others=6)
            P_parent, p_parent = inputs["P_others"] + P_parent, inputs["p_others"] + p_parent
        outputs |= {"P_parent": ca.densify(P_parent), "p_parent": ca.densify(p_parent)}
    name = kind_name(kind, root, leaf, loops, joins)
    return kernel(f"inward_{'geared_' * geared}{name}", inputs, outputs)


def _inverse(P: SX, rhs: SX) -> SX:
    """``P^-1 rhs``, translations eliminated first."""
    order = [3, 4, 5, 0, 1, 2]
    return spatial.solve_ldl(P[order, order], ca.densify(rhs)[order, :])[order, :]


def pivots(kind: Structure, leaf: bool) -> ca.Function:
    """What each speed of a joint moves: its pivot in the elimination of the joint less what rounding makes of one.

    Not positive where a free speed moves no inertia. ``margin`` is 0 where the axes of three successive rotations lie
    in one plane, and 1 where they are as far from it as they come.
    """
    inputs, k, S = body_symbols(kind, S=subspace(kind))
    driven, below = drive_symbols(kind), {} if leaf and not kind.flex else symbols(P_below=21)
    P, _ = gathered(kind, leaf, k["M"], SX(6, 1), P_below=below.get("P_below", SX(21, 1)), p_below=SX(6, 1))
    constrained, _ = drive(kind, driven)  # what friction holds must move inertia too
    nt, found, first, own = kind.form.translations, SX.ones(kind.form.n_u, 1), P, efforts.reflected(kind, k)
    for i in sorted((i for i, how in enumerate(kind.motion) if how != "prescribed"), key=lambda i: (i >= nt, -i)):
        felt, size = P @ S[:, i], ca.trace(first[:3, :3] if i >= nt else first[3:, 3:])
        pivot = ca.dot(S[:, i], felt) + own[i]
        found[i] = ca.if_else(constrained[i], 1, pivot - kind.form.n_u * PIVOT_ROUNDING * size)
        P = P - ca.if_else(found[i] > 0, (1 - constrained[i]) / pivot, 0) * felt @ felt.T
    margin = SX(1)
    if kind.form.rotations == 3:
        a, b, c = (k["axes"][:, nt + i] for i in range(3))
        widest = ca.hypot(ca.dot(a, ca.cross(b, c)), ca.dot(a, ca.cross(b, ca.cross(b, c))))
        margin = ca.fabs(ca.det(S[:3, nt:])) / widest
    return kernel(f"pivots_{kind_name(kind, leaf)}", inputs | driven | below, {"pivots": found, "margin": margin})


def gathered(kind: Structure, leaf: bool, M: SX, p: SX, *, P_below: SX, p_below: SX) -> tuple[SX, SX]:
    """Articulated inertia (6, 6) and bias force (6) as they enter a joint's elimination: those of a rigid body and of
    what hangs on it; a flexible body has both in ``P_below`` and ``p_below``."""
    if kind.flex:
        return spatial.symmetric(P_below, 6), p_below
    return (M, p) if leaf else (M + spatial.symmetric(P_below, 6), p + p_below)


def accelerate(kind: Structure) -> ca.Function:
    """Third sweep: A and u'."""
    active = [i for i, how in enumerate(kind.motion) if how != "prescribed"]
    inputs, k, a_c, g, t, forced, A_parent, *_ = body_symbols(
        kind, a_c=6, g=(len(active), 6), t=len(active), forced=kind.form.n_u, A_parent=6, **joint_symbols(kind)
    )
    passage, S = passage_of(kind, k, inputs)
    carried = passage.motion(A_parent) + a_c
    if kind.unheld:
        solved = t - S.T @ carried
        A = S @ t
    else:
        solved = t - g @ carried
        A = carried + S[:, active] @ solved if active else carried
    speed_rate = SX(forced)
    for place, i in enumerate(active):
        speed_rate[i] += solved[place]
    return kernel(f"accelerate_{kind_name(kind)}", inputs, {"A": A, "u_rate": speed_rate})


def subspace(kind: Structure) -> ca.Sparsity:
    """Sparsity of S: rotations in the upper rows, translations in the lower, both where the joint is off the origin; of
    a joint frame z alone."""
    S = ca.DM(6, kind.form.n_u)
    if kind.turns:
        S[2, 0] = 1
        return ca.sparsify(S).sparsity()
    S[:3, kind.form.translations :] = 1
    S[3:, : kind.form.n_u if kind.offset else kind.form.translations] = 1
    return ca.sparsify(S).sparsity()


def kind_name(kind: Structure, *flags: bool | int) -> str:
    """A C identifier for a kernel of this structure."""
    form = kind.form
    turning = "s" if form.spherical else str(form.rotations)
    how = "".join(m[0] for m in kind.motion)
    marks = "".join(str(f) if type(f) is int else "ny"[f] for f in flags)
    laws = "".join(law[0] for law in kind.laws) + str(sum(size for _, size in kind.values))
    rotors = "".join("b" if bearing else "o" for bearing in kind.bearings)
    modes, driven = f"m{kind.modes}" if kind.flex else "", f"a{kind.rotors}" if kind.rotors else ""
    body = f"w{rotors}p{kind.nodes}{'f' * kind.floating}{'e' * kind.offset}{driven}{laws}{modes}{kind.frame[0]}"
    return f"t{form.translations}r{turning}{how}{body}_{marks}"
