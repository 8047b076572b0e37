"""Puts claims and notebooks into the wheel, where the code looks for them: `audit/bundled/` (`audit.claims`)."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("kernels", "notebooks")


class WithClaims(build_py):
    """Copies the folders at the top level into the package, except into an editable installation, which reads them."""

    def run(self) -> None:
        """Build, then copy."""
        super().run()
        if not self.editable_mode:
            for name in FOLDERS:
                target = Path(self.build_lib) / "audit" / "bundled" / name
                shutil.copytree(name, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "out"))


setup(cmdclass={"build_py": WithClaims})
