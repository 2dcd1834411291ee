"""Lets an editable install import `server/` as `callwright.server`.

The folders stand at the top level of the repository and are renamed to `callwright.*` in the wheel. Hatchling refuses
such a rename for editable installs, so this build hook links the folders into `build/editable/callwright` instead.
"""

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EditableLinks(BuildHookInterface[Any]):
    """Creates a directory link for each package folder in an editable build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Replaces the links below the `dev-mode-dirs` folder. Does nothing for ordinary wheels."""
        if version != "editable":
            return
        config, root = self.build_config.target_config, Path(self.root)
        for folder, target in config["sources"].items():
            link = root / config["dev-mode-dirs"][0] / target
            link.parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(link):
                link.unlink()
            if sys.platform == "win32":  # a junction needs no privilege there, a symlink does
                import _winapi

                _winapi.CreateJunction(str(root / folder), str(link))
            else:
                link.symlink_to(os.path.relpath(root / folder, link.parent), target_is_directory=True)
