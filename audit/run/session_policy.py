"""In a supervisor: the parts of the machine that a session needs, read from its request. Nothing else is open to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from audit.build.names import FOLDERS
from audit.build.settings import (
    CheckedSettings,
    CudaPythonSettings,
    DeviceSettings,
    EmulatedPythonSettings,
    EmulatedSettings,
)
from audit.run.requests import Request
from audit.sandbox import machine
from audit.sandbox.policy import Policy

_SLACK_S = 30.0


def policy_of(request: Request) -> Policy:
    """Return the policy for the process that serves a request, the first where it serves several."""
    place, devices = request.place, request.devices
    reads = place.reads if place else request.inputs
    writes = [str(path) for path in ((place.results,) if place else request.writes)]
    caches = place.caches if place else request.caches
    beside = [] if request.reference is None else [request.reference.parent]
    return Policy(
        reads=[str(path) for path in (*reads, *beside, *(path for one in devices for path in _read_for(one)))],
        writes=writes,
        caches=[*([str(caches)] if caches else []), *(path for one in devices for path in _kept_by(one))],
        network=any(isinstance(one, CheckedSettings) for one in devices),
        processor_s=None if request.keep else (request.limit_s + _SLACK_S) * machine.cores(),
        home=next(iter(writes), None),
    )


def _read_for(settings: DeviceSettings) -> Iterator[Path]:
    """Give the folders of the files that a device loads: those of a build lie in a folder of their own."""
    if isinstance(settings, EmulatedSettings):
        yield from (settings.library.parent, settings.runtime.parent)
    elif isinstance(settings, EmulatedPythonSettings):
        yield from (settings.runtime.parent, settings.python.parent)
        yield from (library.parent for library, _ in settings.libraries.values())
    elif isinstance(settings, CudaPythonSettings):
        yield settings.python.parent
        if settings.folder is not None:
            yield settings.folder
    else:
        yield from (file.parent for file in (settings.library, settings.binding) if file is not None)
        if isinstance(settings, CheckedSettings):
            yield Path(os.path.realpath(settings.sanitizer)).parents[1]


def _kept_by(settings: DeviceSettings) -> list[str]:
    """Return the folders in which a `.py` variant keeps what it compiles; they belong to this source alone."""
    environment = settings.environment if isinstance(settings, CudaPythonSettings) else {}
    return [environment[name] for name in FOLDERS if name in environment]
