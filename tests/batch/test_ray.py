"""A real Ray cluster of two nodes on this machine; one is lost in mid-audit, and the audit goes to the other."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.apps import bundle, cli
from audit.apps.batch import state as states
from audit.apps.batch.jobs import python_path
from audit.apps.batch.state import ItemState, Job
from audit.model.errors import AuditError
from tests.batch import made, tiny

pytestmark = pytest.mark.audits

pytest.importorskip("ray", reason="ray is not installed: pip install 'kernel-claim-audit[ray]'")
ray_jobs = pytest.importorskip("audit.apps.batch.ray_jobs")

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_gcs_server_request_timeout_seconds": "180"}


def wait_for(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 90
    while not what():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def tried(out: Path, name: str) -> list[str]:
    path = out / "items" / f"{name}.json"
    return [attempt.outcome for attempt in states.read(ItemState, path).attempts] if path.exists() else []


def test_a_node_lost_in_mid_audit_costs_an_attempt_and_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, out, names = tmp_path / "mark", tmp_path / "out", ("waits1", "waits2")
    mark.mkdir()
    monkeypatch.setenv(tiny.MARK, str(mark))
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", python_path())
    from ray.cluster_utils import Cluster

    for name in names:
        made.claim(tmp_path / "claims", name)
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        lost = cluster.add_node(**NODE)
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        asked = tiny.batch(
            tmp_path / "claims", "--out", out, "--notebook", tiny.notebook(tmp_path / "tiny.ipynb"), "--engine", "ray",
            "--device", "emulated",
        )  # fmt: skip
        wait_for(lambda: all((mark / name).exists() for name in names), asked)
        cluster.remove_node(lost, allow_graceful=False)
        wait_for(lambda: any(tried(out, name) for name in names), asked)
        (mark / "go").touch()
        printed, errors = asked.communicate(timeout=120)
    finally:
        cluster.shutdown()
    assert asked.returncode == 0, printed + errors
    assert sorted(tried(out, name) for name in names) == [["finished"], ["infrastructure", "finished"]]
    assert "tried again: Ray lost the node or the worker in mid-audit" in printed
    for name in names:
        entry = states.read(ItemState, out / "items" / f"{name}.json")
        (*_, last) = entry.attempts
        assert last.end is not None
        assert (last.end.where or "").startswith("Ray node ")
        assert bundle.verify(out / f"{name}.zip").record.verdict.name == entry.verdict


def test_no_cluster_where_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "not an address")
    assert cli.main(["batch", "triangular_mm", "--engine", "ray", "--out", str(tmp_path)]) == 2
    assert "no Ray cluster answers there" in capfd.readouterr().err


def test_a_node_with_another_version_of_the_kit_is_told() -> None:
    job = Job(notebook="", folder="", out="", limit_s=1.0)
    with pytest.raises(AuditError, match=r"the batch is run by 0\.0"):
        ray_jobs.audit_there(job, {}, {}, b"", "0.0")
