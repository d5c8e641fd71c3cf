"""The slave inside an FMU of kind ``python``: pythonfmu's calls on the plant in C.

An FMU carries ``fmi2.py`` or ``fmi3.py`` under its own name, which holds the hash of the contents, and the other files
of this folder with the engine's ``binding.py`` as a package of that name and ``_parts``, so that FMUs of different
models can live in one process. They need the standard library and the pythonfmu that travels with them. Beside them lie
the plant's library ``plant-PLATFORM``, its header ``plant.h`` and ``model.toml``.

No rule is kept here: values, phases, limits, times, states and words of faults are the plant's. Nothing here raises
once an instance exists: pythonfmu turns an exception into fmi2Fatal, after which the instance cannot even be freed.
"""
