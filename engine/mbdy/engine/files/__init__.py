"""Model files: TOML to a model and back, with everything that is wrong told at once."""
