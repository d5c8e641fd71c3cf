"""``mbdy check``: what a model is, and everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbdy.app.common import attributes, counted, guarded, load_model, note, said_warnings, say, show_json, terminal
from mbdy.app.options import ModelFile

if TYPE_CHECKING:
    from rich.tree import Tree

    from mbdy.app.totals import Totals
    from mbdy.app.tree import TreeEntry
    from mbdy.blocks import Plant
    from mbdy.engine import Model

FAULT = ("line", "path", "message", "remedy")
"""What JSON has of what a newer format reads otherwise."""


@guarded
def check(model: ModelFile, as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False) -> None:
    """Load a model: print its bodies and totals, or every fault with its place and what would be right.

    Exit status 2 for a model with faults.
    """
    from mbdy.app.totals import totals
    from mbdy.blocks import Plant
    from mbdy.engine.files.formats import read_otherwise
    from mbdy.engine.model.contents import contents, recorded, text_of

    with recorded():
        loaded = load_model(model)
        later = read_otherwise(text_of(contents(model), model))
    plant = Plant(loaded)
    whole = plant if loaded.whole is loaded else Plant(loaded.whole)
    properties = totals(loaded, whole.outputs())
    if as_json:
        show_json({**_facts(model, plant, properties), "later": [attributes(f, *FAULT) for f in later]})
    else:
        _show(model, plant, properties)
        for fault in later:
            note(f"later: {fault}")


def counts(plant: Plant) -> dict[str, int]:
    """How many bodies, degrees of freedom and variables there are."""
    from mbdy.app.tree import degrees_of_freedom

    return {
        "bodies": len(plant.model.bodies),
        "degrees_of_freedom": degrees_of_freedom(plant.model),
        "states": len(plant.state_names),
        "inputs": len(plant.input_names),
        "outputs": len(plant.output_names),
        "parameters": len(plant.parameter_names),
    }


def _facts(path: Path, plant: Plant, properties: Totals) -> dict[str, Any]:
    from mbdy.app.modes_and_loops import element_facts, flexible_facts, loop_facts

    return {
        "ok": True,
        "file": path,
        "name": plant.model.name,
        "bodies": [
            {
                "name": body.name,
                "to": body.joint.to,
                "node": body.joint.node,
                "kind": body.joint.kind,
                "degrees_of_freedom": body.joint.n_u,
                "mass": body.mass,
                "wheels": list(body.wheels),
                "nodes": list(body.nodes),
                "modes": body.modes,
            }
            for body in plant.model.bodies
        ],
        **flexible_facts(plant.model),
        **loop_facts(plant.model),
        "tanks": [
            {"name": tank.name, "body": tank.body, "mass": tank.mass, "nozzles": list(tank.nozzle)}
            for tank in plant.model.tanks
        ],
        "between_bodies": element_facts(plant.model),
        "outputs": [{"name": output.name, **output.given} for output in plant.model.chosen_outputs],
        "counts": counts(plant),
        "totals": {
            "mass": properties.mass,
            "centre_of_mass": properties.centre.tolist(),
            "inertia": properties.inertia.tolist(),
            "principal_moments": properties.principal.tolist(),
            "axes": properties.axes,
        },
        "sources": [source.facts() for source in plant.model.files],
        "warnings": said_warnings,
    }


def _show(path: Path, plant: Plant, properties: Totals) -> None:
    from rich.table import Table

    from mbdy.app.modes_and_loops import lines

    console = terminal()
    console.print(_tree(plant.model))
    grid = Table(show_header=False, box=None, pad_edge=False)
    axes = f"{properties.axes} axes"
    grid.add_row("mass", f"{properties.mass:g} kg")
    grid.add_row("mass centre", f"{_row(properties.centre)} m ({_origin(properties.axes)})")
    for i, row in enumerate(properties.inertia):
        grid.add_row("" if i else "inertia at start", _row(row) + ("" if i else f" kg.m2 (about it, {axes})"))
    grid.add_row("principal moments", f"{_row(properties.principal)} kg.m2")
    for what, number in counts(plant).items():
        besides = _besides(plant.model) if what == "degrees_of_freedom" else ""
        grid.add_row(what.replace("_", " "), f"{number}{besides}")
    for what, words in lines(plant.model):
        grid.add_row(what, words)
    console.print(grid)
    troubles = len(said_warnings)
    verdict = counted(troubles, "warning") if troubles else "no faults"
    say(f"{path}: {verdict}")


def _besides(model: Model) -> str:
    """What moves besides the joints."""
    wheels, modes = sum(len(body.wheels) for body in model.bodies), sum(body.modes for body in model.bodies)
    said = [
        counted(number, what)
        for number, what in ((wheels, "wheel"), (modes, "mode"), (len(model.tanks), "tank"))
        if number
    ]
    return f", and {' and '.join(said)}" if said else ""


def _tree(model: Model) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    from mbdy.app.tree import branches
    from mbdy.engine.model.text import visible

    def grow(trunk: Tree, below: tuple[TreeEntry, ...]) -> None:
        for branch in below:
            label = Text.assemble((branch.name, "bold"), f"  {branch.joint}  ", ("; ".join(branch.details), "dim"))
            grow(trunk.add(label), branch.below)

    root = Tree(Text.assemble((visible(model.name), "bold cyan"), ("  on the inertial frame", "dim")))
    grow(root, branches(model))
    return root


def _row(values: Any) -> str:
    return "  ".join(f"{value:11.6g}" for value in values)


def _origin(axes: str) -> str:
    return "inertial axes" if axes == "inertial" else f"from the origin of {axes}, its axes"
