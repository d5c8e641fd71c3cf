"""What a system is, as frozen data, and the table of its variables."""
