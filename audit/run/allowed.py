"""In a zygote: what of the machine a session needs, read from its request. Nothing else is open to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.build.names import FOLDERS
from audit.sandbox.walls import Walls

_FILES = ("library", "runtime", "binding", "python")
_SLACK_S = 30.0


def walls(request: Mapping[str, Any]) -> Walls:
    """The walls around the process that serves a request.

    Args:
        request: the first that the process serves. Where it serves several, `place` has the folders that hold for all:
            `reads`, `results` and `caches`.
    """
    place = request.get("place")
    results = [place["results"]] if place else _results(request)
    reads = place["reads"] if place else request.get("inputs", [])
    devices = _devices(request)
    return Walls(
        reads=[*reads, *_beside(request.get("reference")), *(path for one in devices for path in _read_for(one))],
        writes=results,
        caches=[*_caches(request, place), *(path for one in devices for path in _kept_by(one))],
        network=any("sanitizer" in one for one in devices),
        processor_s=None if request["keep"] else (request["limit_s"] + _SLACK_S) * (os.cpu_count() or 1),
        home=next(iter(results), None),
    )


def _results(request: Mapping[str, Any]) -> list[str]:
    """The folder of a session's files; other inputs for a case are written beside the first."""
    if "folder" in request:
        return [request["folder"]]
    return [*dict.fromkeys(str(Path(one["inputs"]).parent) for one in request.get("vary", []))]


def _caches(request: Mapping[str, Any], place: Mapping[str, Any] | None) -> list[str]:
    return [place["caches"]] if place else [request["caches"]] if "caches" in request else []


def _devices(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The settings of every device a session opens; the oracle's is a name only."""
    every = [request.get("device"), *(one["device"] for one in request.get("variants", []))]
    return [one for one in every if isinstance(one, dict)]


def _read_for(settings: Mapping[str, Any]) -> Iterator[str]:
    """The folders of what a device loads: a build's files lie in a folder of their own."""
    files = [settings.get(key) for key in _FILES]
    files += [library for library, _ in settings.get("libraries", {}).values()]
    yield from (str(Path(file).parent) for file in files if file)
    if Path(settings.get("folder") or "").is_absolute():
        yield settings["folder"]
    if "sanitizer" in settings:
        yield str(Path(os.path.realpath(settings["sanitizer"])).parents[1])


def _kept_by(settings: Mapping[str, Any]) -> Iterable[str]:
    """Where a `.py` variant keeps what it compiles: folders of this source alone."""
    told = settings.get("environment", {})
    return [told[name] for name in FOLDERS if name in told]


def _beside(file: str | None) -> list[str]:
    return [] if file is None else [str(Path(file).parent)]
