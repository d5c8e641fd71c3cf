"""The slave inside an FMU of kind ``python``: FMI's calls on one plant of the compiled core.

An FMU carries ``fmi2.py`` or ``fmi3.py`` under its own name, which holds the hash of the contents, and the other files
of this folder with the engine's ``binding.py`` as a package of that name and ``_parts``, so that FMUs of different
models can live in one process. They need the standard library and the pythonfmu that travels with them. Beside them lie
``ports.json`` (what each value reference means), ``core-PLATFORM`` and ``model.toml``.

Nothing here raises once an instance exists: pythonfmu turns an exception into fmi2Fatal, after which the instance
cannot even be freed. A value that cannot be used is kept where it was set, the next step names it and is discarded, and
a good value in its place lets the one after it go on.
"""
