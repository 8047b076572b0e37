"""Audits on a Ray cluster: one a worker process, a GPU each as Ray's resource; claims go and results come by value.

Nothing but the kit itself has to be on a node. Where a node is lost in the middle of an audit, Ray says so, the attempt
is kept as a failure outside the audit, and the next one goes to whatever node is left.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from audit import __version__, claims
from audit.apps.batch import parameters
from audit.apps.batch.jobs import STOPPED, LocalJobs
from audit.apps.batch.parameters import Values
from audit.apps.batch.state import End, Job
from audit.model import atomic
from audit.model.errors import AuditError, BadInput

ADDRESS = "RAY_ADDRESS"
STORE_BYTES = 80_000_000
"""Ray's own least; results are a few MB."""
MOST_CLAIM_BYTES = 100 << 20
Files = dict[str, bytes]


class RayJobs:
    """The cluster that RAY_ADDRESS names, or one of this machine alone.

    Args:
        jobs: at work at once; None for as many as the cluster has processors, or GPUs where these are used.
        device: "auto" is the GPUs of the cluster if it has any.

    Raises:
        BadInput: no cluster answers there, or it has no GPU where one is asked for.
    """

    def __init__(self, *, jobs: int | None, device: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        address = os.environ.get(ADDRESS)
        own = {} if address else {"object_store_memory": STORE_BYTES, "include_dashboard": False}
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
        except (ConnectionError, RuntimeError, ValueError) as error:
            text = " ".join(str(error).split())[:200]
            raise BadInput(f"{ADDRESS}={address}: no Ray cluster answers there ({text})") from error
        there = ray.cluster_resources()
        self.device = device if device != "auto" else "cuda" if there.get("GPU", 0) >= 1 else "emulated"
        if self.device == "cuda" and there.get("GPU", 0) < 1:
            ray.shutdown()
            raise BadInput(
                "--device cuda: the Ray cluster has no GPU; start its nodes with --num-gpus, or choose another"
            )
        gpus = 1 if self.device == "cuda" else 0
        self.slots = jobs or max(1, int(there.get("GPU" if gpus else "CPU", 1)))
        self._audit = ray.remote(num_cpus=1, num_gpus=gpus, max_calls=1, max_retries=0)(audit_there)
        self._running: list[Any] = []
        self._stopped = False

    def run(self, job: Job) -> End:
        """See `LocalJobs`; results are written beside the job's log before it counts as ended."""
        values = parameters.table(Path(job.out) / parameters.FILE)
        claim, notebook = _files(Path(values["claim"])), Path(job.notebook).read_bytes()
        if self._stopped:
            return STOPPED
        asked = self._audit.remote(job, values, claim, notebook, __version__)
        self._running.append(asked)
        try:
            end, files = ray.get(asked)
        except RayTaskError as error:
            return End(trouble=f"the Ray worker raised: {' '.join(str(error.cause).split())[:400]}")
        except RayError as error:
            return End(trouble=f"Ray lost the node or the worker in mid-audit ({type(error).__name__})")
        finally:
            self._running.remove(asked)
        _write(files, Path(job.out))
        return End.model_validate(end)

    def stop(self) -> None:
        """See `LocalJobs`."""
        self._stopped = True
        for asked in self._running:
            ray.cancel(asked, force=True)

    def close(self) -> None:
        """See `LocalJobs`; Ray ends the workers of a driver that leaves, and audits end with theirs."""
        self.stop()
        ray.shutdown()


def audit_there(job: Job, values: Values, claim: Files, notebook: bytes, kit: str) -> tuple[dict[str, Any], Files]:
    """Runs one job on the node this is called on; returns how it ended and all the files it left.

    The paths of `job`, and those of claim and results in `values`, the notebook's parameters, are of the machine that
    asks; others of this node take their place. `kit` is the version that asks.

    Raises:
        AuditError: the node has another version of the kit.
    """
    if kit != __version__:
        raise AuditError(f"the node has version {__version__} of the kit, the batch is run by {kit}")
    node = ray.get_runtime_context().get_node_id()
    with tempfile.TemporaryDirectory(prefix="audit-ray-") as scratch:
        place = Path(scratch)
        folder, out = place / "claims" / Path(str(values["claim"])).name, place / "out"
        out.mkdir()
        _write(claim, folder)
        (place / "asked.ipynb").write_bytes(notebook)
        parameters.write({**values, "claim": str(folder), "out": str(out)}, out / parameters.FILE)
        asked, where = place / "asked.ipynb", claims.ROOT / "notebooks"
        own = job.model_copy(update={"notebook": str(asked), "folder": str(where), "out": str(out)})
        with closing(LocalJobs(jobs=1, gpus=(), locks=place)) as engine:
            end = engine.run(own)
        return end.model_copy(update={"where": f"Ray node {node[:8]}"}).model_dump(mode="json"), _files(out)


def _files(folder: Path) -> Files:
    """Every plain file of a folder, by its path in it."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    total = sum(path.stat().st_size for path in paths)
    if total > MOST_CLAIM_BYTES:
        raise BadInput(f"{folder}: {total:,} bytes; at most {MOST_CLAIM_BYTES:,} are sent to a Ray node")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _write(files: Files, folder: Path) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        atomic.write(folder / name, data)
