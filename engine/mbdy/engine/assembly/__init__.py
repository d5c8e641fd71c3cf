"""Closing loops at the start."""
