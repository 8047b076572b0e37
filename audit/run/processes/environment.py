"""Machine, versions and sandbox of an audit, without anything that identifies a person, a host or a path."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from audit import __version__
from audit.model import Environment, SandboxLimit
from audit.run.messages.requests import SandboxCheck
from audit.run.processes.pool import Workers
from audit.sandbox import check, limits
from audit.sandbox.attempts import Targets

PACKAGES = ("torch", "numpy", "pydantic", "tree-sitter", "tree-sitter-cuda", "matplotlib", "jinja2")
OPTIONAL = ("triton",)
SANDBOX_LIMIT_S = 20.0


def describe(*, seeds: tuple[int, ...]) -> Environment:
    """Return the environment of this process; `seeds` is the entropy of the inputs."""
    return Environment(
        kit=__version__,
        started_utc=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=f"{processor_and_cores()}, {limits.memory_bytes() / limits.GIB:.0f} GiB",
        system=f"{platform.system()} {platform.machine()}, {_distribution()}",
        python=platform.python_version(),
        packages={name: metadata.version(name) for name in (*PACKAGES, *filter(find_spec, OPTIONAL))},
        seeds=seeds,
    )


def sandbox(workers: Workers) -> tuple[SandboxLimit, ...]:
    """Return every part of the sandbox around the sessions of a pool, tried from inside one."""

    def ask(targets: Targets) -> Mapping[str, str]:
        reply = workers.call(SandboxCheck(targets=targets, folder=Path(targets.folder)), limit_s=SANDBOX_LIMIT_S)
        if not reply.finished:
            raise check.CheckFailed(f"the sandbox check failed: {reply.ending}: {reply.detail}")
        found: Mapping[str, str] = reply.events[0]["results"]
        return found

    return check.results(ask)


def processor() -> str:
    """Return the processor's name from /proc/cpuinfo, else the architecture."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def processor_and_cores() -> str:
    """Return the processor's name and the number of cores this process may use."""
    return f"{processor()}, {limits.cores()} cores"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.release()
