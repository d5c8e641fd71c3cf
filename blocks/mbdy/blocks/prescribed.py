"""Degrees of freedom that follow profiles in a run: their inputs at begin, middle and end of every internal step."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from mbdy.blocks.errors import VariableError
from mbdy.blocks.plant import Plant
from mbdy.blocks.profiles import Profile
from mbdy.engine.model.faults import MbdyWarning, OptionError, shown
from mbdy.engine.model.profiles import points_of

Array = NDArray[np.float64]
KEY = re.compile(r"(?P<body>\w+)\.joint(\[(?P<index>\d+)\])?")
SAME = 1e-9
"""Starts that differ by less, in rad or m beside one, are one."""
DRIFT = 1e-5
"""A motion that ends farther from its profile than this, in rad or m beside one, is told."""
STEPS_AT_ONCE = 2000


class ProfileNote(MbdyWarning):
    """A profile that overrides a start value, or that the joint has not followed."""


@dataclass(frozen=True)
class Follower:
    """A degree of freedom and its profile; the other fields are names of scalar variables, ``""`` for none, and places
    of states."""

    key: str
    profile: Profile
    position: str
    position_at: int
    speed: str
    speed_at: int
    acceleration: str
    prescribed: str
    locked: str

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Angle, rate and acceleration at ``times``; `VariableError` names the profile that gives none."""
        try:
            angle, rate, acceleration = (np.asarray(part, dtype=float) for part in self.profile.at(times))
            if not angle.shape == rate.shape == acceleration.shape == times.shape:
                raise OptionError(f"shapes {angle.shape}, {rate.shape}, {acceleration.shape} at {times.shape} times")
        except Exception as fault:
            when = f"at {times[0]:.9g} s" if times.size == 1 else f"between {times[0]:.9g} s and {times[-1]:.9g} s"
            raise VariableError(f"profile of {self.key!r} failed {when}: {type(fault).__name__}: {fault}") from fault
        return angle, rate, acceleration


class Prescribed:
    """All profiles of a run on a plant with quadratic inputs."""

    def __init__(self, plant: Plant, profiles: Mapping[str, Profile]) -> None:
        if plant.interpolation != "quadratic":
            raise OptionError('profiles need a plant made with interpolation="quadratic"')
        if not isinstance(profiles, Mapping):
            raise OptionError(f"profiles: a mapping of joints to profiles is needed, got {shown(profiles)}")
        self.plant = plant
        self.followers = [_follower(plant, key, profile) for key, profile in profiles.items()]
        places = {name: i for i, name in enumerate(plant.input_names)}
        self.columns = [places[f.acceleration] for f in self.followers]
        self.taken: dict[str, str] = {}
        for f in self.followers:
            if f.acceleration in self.taken:
                raise VariableError(f"profiles: {f.key!r} is a degree of freedom that has a profile already")
            about = f"the profile of {f.key!r}"
            self.taken |= {name: about for name in (f.acceleration, f.prescribed, f.locked) if name}
        self._middle = plant.middle

    @property
    def breaks(self) -> Array:
        """Instants [s] at which steps have to begin."""
        return np.array([t for f in self.followers for t in f.profile.breaks], dtype=float)

    def begin(self, times: Array, close: float) -> None:
        """Set starts and switches for a run over the steps between ``times``."""
        self._sides = [_sides(times, f.profile.breaks, close) for f in self.followers]
        self._times, self._known = times, range(0)
        self._middle_times = np.append(times[:1], 0.5 * (times[:-1] + times[1:]))
        starts = []
        for f, (_, after) in zip(self.followers, self._sides, strict=True):
            start = [float(part[0]) for part in f.at(after[:1])]
            if not all(map(math.isfinite, start)):
                raise VariableError(f"profile of {f.key!r}: must be finite, got {tuple(start)} at 0 s")
            if f.locked and self.plant[f.locked]:
                raise VariableError(f"profile of {f.key!r}: {f.locked!r} is set, and a lock wins; set it to 0")
            starts += [(f, f.position, f.position_at, start[0]), (f, f.speed, f.speed_at, start[1])]
        stands = self.plant.state
        notes = [self._note(f, name, float(stands[at]), value) for f, name, at, value in starts]
        for (f, name, _, value), note in zip(starts, notes, strict=True):
            if note:
                warnings.warn(note, ProfileNote, stacklevel=3)
            if not self.plant.time:
                self.plant[name] = value
            if f.prescribed:
                self.plant[f.prescribed] = True
        self.arrive(0)

    def aim(self, i: int) -> None:
        """Inputs of the step that ends at instant ``i``: at its middle, and at its end before a jump there."""
        here = self._row(i)
        self._middle.values[self.columns] = self._middles[here]
        self.plant.inputs.values[self.columns] = self._ends[here]

    def arrive(self, i: int) -> None:
        """Inputs at instant ``i``, after a jump there."""
        here = self._row(i)
        self.plant.inputs.values[self.columns] = self._begins[here]

    def end(self) -> None:
        """Tell of joints that stand elsewhere than their profiles."""
        for f, (_, after) in zip(self.followers, self._sides, strict=True):
            stands, wanted = float(self.plant.state[f.position_at]), float(f.at(after[-1:])[0][0])
            if not abs(stands - wanted) <= DRIFT * (1.0 + abs(wanted)):
                warnings.warn(
                    f"{f.key!r} stands at {stands:.9g} in the end, its profile at {wanted:.9g}: its acceleration is "
                    "not the second derivative of its angle, jumps at an instant that is none of its breaks, or the "
                    "step is too long",
                    ProfileNote,
                    stacklevel=3,
                )

    def _note(self, f: Follower, name: str, stands: float, value: float) -> str:
        """What to say where the plant has another start than the profile; `VariableError` where it has begun."""
        if abs(stands - value) <= SAME * (1.0 + abs(value)):
            return ""
        if self.plant.time:
            raise VariableError(
                f"profile of {f.key!r}: begins with {name!r} at {value:.9g}, where the plant stands at {stands:.9g}; "
                "reset() the plant, or give a profile that begins there"
            )
        given = stands != 0.0 or self.plant.ports.find(name, starts=True)[0].name in self.plant.model.initial
        return f"{name!r} starts at {value:.9g}, as its profile does, not at {stands:.9g} as set" if given else ""

    def _row(self, i: int) -> int:
        if i not in self._known:
            try:
                self._evaluate(i, min(i + STEPS_AT_ONCE, len(self._times)))
            except VariableError:
                self._evaluate(i, i + 1)  # what lies before the instant of the fault shall run
        return i - self._known.start

    def _evaluate(self, begin: int, end: int) -> None:
        """Accelerations (end - begin, number of profiles) half a step before the instants and on both sides of them."""
        pairs = list(zip(self.followers, self._sides, strict=True))
        self._middles = np.column_stack([f.at(self._middle_times[begin:end])[2] for f in self.followers])
        self._ends = np.column_stack([f.at(before[begin:end])[2] for f, (before, _) in pairs])
        self._begins = np.column_stack([f.at(after[begin:end])[2] for f, (_, after) in pairs])
        self._known = range(begin, end)


def _follower(plant: Plant, key: str, profile: Profile) -> Follower:
    """The degree of freedom that ``key`` names; `VariableError` where it is none that a profile can move."""
    joints = {body.name: body.joint for body in plant.model.bodies if body.joint.n_u and not body.joint.floating}
    found = KEY.fullmatch(key)
    if not found or found["body"] not in joints:
        near = get_close_matches(key, [f"{name}.joint" for name in joints], n=3, cutoff=0.4)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise VariableError(f"profiles: {key!r} is no joint that can be prescribed; say 'BODY.joint'{hint}")
    if not callable(getattr(profile, "at", None)) or not hasattr(profile, "breaks"):
        raise VariableError(f"profile of {key!r}: must be a Ramp, CosineSlew, Table or Triple, got {profile!r}")
    stem, joint = f"{found['body']}.joint", joints[found["body"]]
    if found["index"] is None and joint.n_u > 1:
        raise VariableError(f"profiles: {stem!r} has {joint.n_u} degrees of freedom; name one, '{stem}[1]' ...")
    dof = int(found["index"] or 1) - 1
    if not 0 <= dof < joint.n_u:
        raise VariableError(f"profiles: {key!r}: degrees of freedom go from 1 to {joint.n_u}")
    if points_of(joint):
        raise VariableError(f"profiles: {key!r} follows the profile of its model file; take that out of one of the two")
    if joint.motion[dof] == "free":
        raise VariableError(
            f'profiles: {key!r} is free to move; give it motion = "prescribed" (or "switchable") in the model file'
        )
    turning = dof - joint.n_translations
    if turning >= 0 and joint.spherical:
        raise VariableError(f"profiles: {key!r} is spherical and has no angle to follow; set {stem}.acceleration")

    def state(name: str, element: int) -> tuple[str, int]:
        variable = plant.ports.states[f"{stem}.{name}"]
        return variable.scalar_names[element], (variable.state or 0) + element

    label = "" if joint.n_u == 1 else f"[{dof + 1}]"
    driving = [f"{stem}.acceleration{label}"]
    if joint.motion[dof] == "switchable":
        driving.append(f"{stem}.prescribed{label}")
    for name in driving:
        try:
            plant.ports.find(name)
        except KeyError as fault:
            raise VariableError(f"profile of {key!r}: {fault.args[0]}") from None
    lock = f"{stem}.locked{label}"
    position, position_at = state("displacement", dof) if turning < 0 else state("angle", turning)
    speed, speed_at = state("velocity", dof) if turning < 0 else state("rate", turning)
    return Follower(
        key=key,
        profile=profile,
        position=position,
        position_at=position_at,
        speed=speed,
        speed_at=speed_at,
        acceleration=driving[0],
        prescribed=driving[1] if len(driving) > 1 else "",
        locked=lock if lock in plant.ports.by_scalar else "",
    )


def _sides(times: Array, breaks: Sequence[float], close: float) -> tuple[Array, Array]:
    """``times``, with those at a break moved by the least there is to before it and to after it."""
    before, after = times.copy(), times.copy()
    for instant in breaks:
        at = int(np.searchsorted(times, instant - close))
        if at < len(times) and abs(times[at] - instant) <= close:
            before[at], after[at] = np.nextafter(instant, -np.inf), np.nextafter(instant, np.inf)
    return before, after
