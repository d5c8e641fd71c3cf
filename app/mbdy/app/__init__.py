"""What a person types and sees: the commands of ``mbdy``, and `mbdy.app.report` for the report of a run."""

from mbdy.app.demo import example_folder
from mbdy.app.main import main

__all__ = ["example_folder", "main"]
