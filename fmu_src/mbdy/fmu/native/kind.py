"""FMUs of kind ``native``: the plant under the standard's names as one library, with its sources."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mbdy.blocks.plant.library import plant_sources
from mbdy.engine.core.build import Progress
from mbdy.engine.core.library import sources
from mbdy.engine.files.write import dumps
from mbdy.engine.model.system import Model
from mbdy.engine.order_n.equations import Equations
from mbdy.fmu.description.build import build_description
from mbdy.fmu.native.platforms import Platform, binaries, build
from mbdy.fmu.native.prefix import HEADER, prefixed
from mbdy.fmu.native.variables import FILES, Identity, tables, variables
from mbdy.fmu.package import Package, Settings, digest, identifier, source_list
from mbdy.fmu.pages.documentation import page
from mbdy.fmu.pages.terminals import terminal_files
from mbdy.fmu.table import Scalar, arrays
from mbdy.fmu.versions import VERSIONS, Version

HERE = Path(__file__).parent


def package(
    model: Model,
    equations: Equations,
    table: Sequence[Scalar],
    settings: Settings,
    platforms: Sequence[Platform],
    progress: Progress,
) -> Package:
    """All files of an FMU of ``model`` but its modelDescription.xml, with a library for each of ``platforms``.

    ``table``     rows by value reference, with derivatives, and the time where the version has it.
    ``progress``  called with what begins and the fraction done.

    Raises `CompilerError` where a compiler refuses the sources or there is none.
    """
    version, step, integrator = VERSIONS[settings.fmi], settings.step, settings.integrator
    rows = arrays(table, scalars=settings.flat)
    code = dict(_code(equations, version, implicit=settings.implicit))
    nameless = Identity(token="", step=step, integrator=integrator)
    own = tables(rows, equations)
    code["variables.c"] = variables(nameless, own)
    toml = dumps(model).encode()
    mark = digest(
        {"": repr(settings).encode(), "model.toml": toml, **{name: text.encode() for name, text in code.items()}}
    )
    identity = replace(nameless, token=f"{{{uuid.UUID(bytes=mark[:16])}}}")
    code["variables.c"] = variables(identity, own)
    name = identifier(model.name, mark)
    shipped = code | {HEADER: prefixed(code, name)}
    files = {f"sources/{file}": text.encode() for file, text in shipped.items()}
    compiled = [file for file in code if file.endswith(".c")]
    if version.build:
        files["sources/buildDescription.xml"] = build_description(version.name, name, compiled, {})
    built = {one: build(one, code, progress=_part(progress, one, k, len(platforms))) for k, one in enumerate(platforms)}
    files |= {f"binaries/{path}": library for path, library in binaries(built, name, version.name).items()}
    manual = page(model, table, step, integrator, fmi=version.name, kind="native", flat=settings.flat)
    files["documentation/index.html"] = manual.encode()
    files["resources/model.toml"] = toml
    files |= source_list(model)
    files |= terminal_files(model, rows, version.name)
    return Package(name, identity.token, files, tuple(compiled))


def _code(equations: Equations, version: Version, *, implicit: bool) -> Mapping[str, str]:
    """C files by name but those that say which model and FMU it is."""
    shell = f"{version.stem}.c"
    code = {shell: (HERE / shell).read_text(encoding="utf-8")}
    for header in sorted((HERE / "headers").glob(f"{version.stem}*.h")):
        code[header.name] = header.read_text(encoding="utf-8")
    return (
        code
        | FILES
        | plant_sources()
        | sources(equations, implicit=implicit, directional=True, adjoint=version.adjoint, adaptive=False)
    )


def _part(progress: Progress, platform: Platform, k: int, count: int) -> Progress:
    """The progress of one build of several."""
    return lambda stage, done: progress(f"{platform.name}: {stage}", (k + done) / count)
