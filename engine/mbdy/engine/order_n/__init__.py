"""The equations that run: kernels of a body, sweeps along the tree, forces of loops, outputs."""
