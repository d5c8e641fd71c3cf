"""Limits that the reader of files and the equations share."""

MOST_LETTERS = 100
"""Of a name, which begins the names of variables."""
MOST_DEPTH = 16
"""Of tables and lists in each other."""
MOST_PARTS = 10_000
"""Bodies and loops of a model, wheels and nodes of a body: beyond it tables of variables do not fit into memory."""
MOST_MODES = 128
"""Of one body: its second-order integrals are 18 m² numbers, and the equations of a step as many."""

PARALLEL = 1e-9
"""Sine of the angle below which two axes count as parallel."""
PIVOT_ROUNDING = 4 * 2.0**-52
"""What each step of an elimination may add to the error of an inertia, relative to its size."""
NEGATIVE_MINOR = 1e-9
"""What rounding of a file's decimals may do to a principal moment or minor, relative to the largest entry."""
