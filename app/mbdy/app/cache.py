"""``mbdy cache``: what is kept of compiled models, and its end."""

from __future__ import annotations

from typing import Annotated

import typer

from mbdy.app.common import counted, guarded, note, say, show_json


@guarded
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all that is kept.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON, sizes in bytes.")] = False,
) -> None:
    """Show the folder in which compiled models are kept and its size, or clear it; all of it can be made again."""
    from mbdy.engine.core import cache as folder

    freed = folder.clear() if clear else 0
    kept, limit, where = folder.kept(), folder.limit(), folder.wanted_folder()
    size = sum(about.st_size for about in kept.values())
    if as_json:
        said = {"folder": where, "files": len(kept), "size": size, "limit": limit, "freed": freed}
        show_json({"ok": True, **said})
        return
    if clear:
        say(f"cleared {where}: {freed / folder.MIB:.1f} MiB")
    else:
        say(f"{where}: {counted(len(kept), 'file')}, {size / folder.MIB:.1f} of {limit / folder.MIB:g} MiB")
        note(f"{folder.CACHE_VARIABLE} names another folder, {folder.LIMIT_VARIABLE} another limit in MiB")
