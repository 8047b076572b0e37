"""Audit a published GPU-kernel speedup claim: is it right, is the time real, how fast can it honestly be."""

from __future__ import annotations

from typing import Any

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Return `check`, see `audit/apps/check.py`, imported when it is asked for: the package alone takes no time."""
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("audit.apps.check").check
