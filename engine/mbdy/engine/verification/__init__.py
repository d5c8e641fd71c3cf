"""Second opinions and laws of mechanics."""
