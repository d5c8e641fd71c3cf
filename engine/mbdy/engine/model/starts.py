"""Start values of a run, by the names of `mbdy.engine.model.ports`, in SI."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mbdy.engine.model.arrays import listed
from mbdy.engine.model.faults import Findings, nearest, shown
from mbdy.engine.model.frames import frame_of, is_turn, normalized, warn_of_angles
from mbdy.engine.model.owners import name_of
from mbdy.engine.model.units import odd_angle, quantity
from mbdy.engine.model.variables import Variable


def respelled(name: str, value: object, variables: Mapping[str, Variable]) -> tuple[str, object]:
    """The name and value that a start goes by: the angles of a spherical joint, a rotation vector, are its attitude."""
    for v in variables.values() if name not in variables else ():
        if (v.owner.kind, v.quantity) == ("joint", "attitude") and name == name_of(v.owner, "angle"):
            return v.name, {"rotation_vector": value}
    return name, value


def start_of(
    name: str, value: object, path: str, bodies: Collection[str], variables: Mapping[str, Variable], findings: Findings
) -> tuple[float, ...] | None:
    """What ``value``, found at ``path``, means for the one of ``variables`` called ``name``.

    What is refused has zeros; None where there is no such variable of the ``bodies``.
    """
    if beside := _beside(name, variables):
        return findings.refuse(path, f"is given beside {beside}, which says the same", "keep one of them")
    if name not in variables:
        return findings.refuse(path, "is no start value of this system", _nearest(name, bodies, variables))
    variable, value = variables[name], findings.attempt(path, listed, value)
    size = variable.size
    if variable.quantity == "attitude" and is_turn(value):
        warn_of_angles(value, path, findings)
        return frame_of(value, path, findings)
    entries = value if isinstance(value, list) else [value]
    if len(entries) != size:
        got = f"{len(entries)} entries" if isinstance(value, list) else shown(value)
        findings.refuse(path, f"must be a list of {size} numbers, got {got}", f"give {size} in brackets")
        return (0.0,) * size
    before, numbers = len(findings.faults), []
    for k, (entry, unit) in enumerate(zip(entries, variable.units, strict=True)):
        place = f"{path}[{k + 1}]" if isinstance(value, list) else path
        numbers.append(findings.attempt(place, quantity, entry, unit, instead=0.0))
        if odd := odd_angle(entry, unit):
            findings.warn(place, odd.message, odd.remedy)
    if variable.quantity == "attitude" and len(findings.faults) == before:
        return normalized(tuple(numbers), path, findings, "a quaternion")
    return tuple(numbers)


def _beside(name: str, variables: Mapping[str, Variable]) -> str:
    """The momentum of a wheel that starts by it, where ``name`` is that wheel's speed; else nothing."""
    momenta = (v for v in variables.values() if v.owner.kind == "wheel" and v.quantity == "momentum")
    return next((v.name for v in momenta if name == name_of(v.owner, "speed")), "")


def _nearest(name: str, bodies: Collection[str], variables: Mapping[str, Variable]) -> str:
    """A remedy: the nearest body where there is none of this name, the body's own names otherwise."""
    if name.partition("[")[0] in variables:
        return f"set all of it, {name.partition('[')[0]} = [...]"
    stem = name.partition(".")[0]
    if stem == "tank" and any(v.startswith("tank.") for v in variables):
        return nearest(name, [v for v in variables if v.startswith("tank.")])
    if stem not in bodies:
        return f"there is no body '{stem}': {nearest(stem, bodies)}"
    if (speed := f"{name.rpartition('.')[0]}.speed") in variables and name.endswith(".momentum"):
        return f"a wheel whose angle counts starts by its speed: give '{speed}'"
    siblings = [v for v in variables if v.startswith(f"{stem}.")]
    return nearest(name, siblings) if siblings else f"body '{stem}' has no states; remove it"
