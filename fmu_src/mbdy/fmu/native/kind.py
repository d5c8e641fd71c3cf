"""FMUs of kind ``native``: the compiled core and the C runtime of this folder as one library, with its sources."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mbdy.engine.core.build import Progress
from mbdy.engine.core.library import generated, sources
from mbdy.engine.files.read import dumps
from mbdy.engine.model.system import Model
from mbdy.engine.order_n import derivatives as sensitivities
from mbdy.engine.order_n.equations import Equations
from mbdy.fmu.description.build import build_description
from mbdy.fmu.native.platforms import Platform, binaries, build
from mbdy.fmu.native.tables import Identity, fmu_config, tables
from mbdy.fmu.package import Package, Settings, digest, identifier
from mbdy.fmu.pages.documentation import page
from mbdy.fmu.pages.terminals import terminal_files
from mbdy.fmu.table import Scalar, arrays

HERE = Path(__file__).parent
RUNTIME = ("plant.c", "values.c", "steps.c", "state.c", "partial.c", "closing.c", "plant.h", "partial.h")
"""Files of the runtime that both versions of FMI share; each has ``fmi2.c`` or ``fmi3.c`` of its own."""
HIDDEN = "#define MBDY_API /* the core's functions are the library's own */\n"


def package(
    model: Model,
    made: Equations,
    table: Sequence[Scalar],
    settings: Settings,
    platforms: Sequence[Platform],
    progress: Progress,
) -> Package:
    """All files of an FMU of ``model`` but its modelDescription.xml, with a library for each of ``platforms``.

    ``table``     rows by value reference, with derivatives and, in FMI 3.0, the time.
    ``progress``  called with what begins and the fraction done.

    Raises `CompilerError` where a compiler refuses the sources or there is none.
    """
    fmi, step, integrator = settings.fmi, settings.step, settings.integrator
    variables = arrays(table, scalars=settings.flat)
    code = dict(_code(made, fmi, implicit=settings.implicit))
    code["fmu_config.h"] = fmu_config(fmi, variables)
    nameless = Identity(token="", step=step, integrator=integrator)
    code["tables.c"] = tables(nameless, variables, made)
    toml = dumps(model).encode()
    mark = digest(
        {"": repr(settings).encode(), "model.toml": toml, **{name: text.encode() for name, text in code.items()}}
    )
    identity = replace(nameless, token=f"{{{uuid.UUID(bytes=mark[:16])}}}")
    code["tables.c"] = tables(identity, variables, made)
    name = identifier(model.name, mark)
    files = {f"sources/{file}": text.encode() for file, text in code.items()}
    compiled = [file for file in code if file.endswith(".c")]
    if fmi == "3.0":
        files["sources/buildDescription.xml"] = build_description(name, compiled, {})
    built = {one: build(one, code, progress=_part(progress, one, k, len(platforms))) for k, one in enumerate(platforms)}
    files |= {f"binaries/{path}": library for path, library in binaries(built, name, fmi).items()}
    manual = page(model, table, step, integrator, fmi=fmi, kind="native", flat=settings.flat)
    files["documentation/index.html"] = manual.encode()
    files["resources/model.toml"] = toml
    files |= terminal_files(model, variables, fmi)
    return Package(name, identity.token, files, tuple(compiled))


def _code(made: Equations, fmi: str, *, implicit: bool) -> Mapping[str, str]:
    """C files by name but those that say which model and FMU it is."""
    own = f"fmi{fmi[0]}.c"
    code = {name: (HERE / name).read_text(encoding="utf-8") for name in (own, *RUNTIME)}
    for header in sorted((HERE / "headers").glob(f"fmi{fmi[0]}*.h")):
        code[header.name] = header.read_text(encoding="utf-8")
    code |= sources(made, implicit=implicit)
    code["config.h"] += HIDDEN
    code["forward.c"] = generated(sensitivities.forward(made), "forward.c")
    if fmi == "3.0":
        code["reverse.c"] = generated(sensitivities.reverse(made), "reverse.c")
    return code


def _part(progress: Progress, platform: Platform, k: int, count: int) -> Progress:
    """The progress of one build of several."""
    return lambda stage, done: progress(f"{platform.name}: {stage}", (k + done) / count)
