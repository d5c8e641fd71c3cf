"""What variables tanks have: as `mbdy.engine.model.variables` has them of all else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mbdy.engine.model.owners import Owner, Quantity, name_of
from mbdy.engine.model.tanks import ROW, Tank

Rows = Callable[..., Iterator[Any]]
"""Makes the variables of one owner and quantity."""
TEXTS: Mapping[Quantity, str] = {
    "at": "Place of the middle, body axes,", "radius": "Radius", "length": "Length", "density": "Density of the liquid",
    "axis": "Axis, body axes,", "table": "Mass, mass centre and inertia (xx, yy, zz, xy, xz, yz) by mass",
    "exhaust_velocity": "Exhaust velocity at each nozzle", "thrust_axis": "Direction of each thrust, body axes,",
}  # fmt: skip


def tank_parameters(tank: Tank) -> dict[Quantity, tuple[tuple[str, ...], tuple[float, ...]]]:
    """Units and values of the parameters that a tank has, in the order of ``p``."""
    found: dict[Quantity, tuple[tuple[str, ...], tuple[float, ...]]]
    if tank.table:
        row = ("kg", *("m",) * 3, *("kg.m2",) * 6)
        found = {"table": (row * len(tank.table), tuple(number for numbers in tank.table for number in numbers))}
    else:
        found = {"at": (("m",) * 3, tank.at)}
        found |= {key: (("m",), (size,)) for key in ("radius", "length") if (size := getattr(tank, key)) is not None}
        if tank.length is not None or tank.density is not None:
            found["axis"] = ("1",) * 3, tank.axis
        if tank.density is not None:
            found["density"] = ("kg/m3",), (tank.density,)
    found["exhaust_velocity"] = ("m/s",) * len(tank.nozzle), tank.exhaust_velocity
    found["thrust_axis"] = ("1",) * 3 * len(tank.nozzle), tuple(number for axis in tank.thrust_axis for number in axis)
    return found


def inputs(tanks: Iterable[Tank], row: Rows) -> Iterator[Any]:
    for tank in tanks:
        text = f"Propellant that leaves tank {tank.name} through each nozzle"
        yield from row(Owner("tank", tank.name), "flow", ("kg/s",) * len(tank.nozzle), text, "flows", minimum=0.0)


def parameters(tanks: Iterable[Tank], row: Rows) -> Iterator[Any]:
    for tank in tanks:
        for quantity, (units, start) in tank_parameters(tank).items():
            each = {"table": ROW, "thrust_axis": 3}.get(quantity, len(units))
            places = [divmod(i, each) for i in range(len(units))]
            more = {"labels": tuple(f"[{i + 1},{k + 1}]" for i, k in places)} if each < len(units) else {}
            yield from row(
                Owner("tank", tank.name), quantity, units, start, f"{TEXTS[quantity]} of tank {tank.name}", **more
            )


def outputs(tanks: Iterable[Tank], table: Rows) -> Iterator[Any]:
    for tank in tanks:
        owner, text = Owner("tank", tank.name), f"Propellant in tank {tank.name}"
        yield from table(owner, "mass", ("kg",), text, "tanks", start=(tank.mass,), minimum=0.0)
        units, text = ("N",) * len(tank.nozzle), f"Thrust of each nozzle of tank {tank.name}"
        yield from table(owner, "thrust", units, text, "tanks", dependencies=(name_of(owner, "flow"),))
