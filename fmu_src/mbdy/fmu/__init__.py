"""A system as an FMU: the port table as modelDescription.xml, the compiled core and a slave that runs it."""

from mbdy.fmu.export import ExportError, export_fmu
from mbdy.fmu.native.platforms import NewGlibcNote
from mbdy.fmu.ssp.export import SystemNote, export_ssp

__all__ = ["ExportError", "NewGlibcNote", "SystemNote", "export_fmu", "export_ssp"]
