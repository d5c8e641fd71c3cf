"""Linear models, operating points, modes; linear plants."""
