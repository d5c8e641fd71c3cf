"""A system as an FMU: the port table as modelDescription.xml, the compiled core and a slave that runs it."""

from mbdy.fmu.export import ExportError, export_fmu

__all__ = ["ExportError", "export_fmu"]
