"""Which devices everything contained may open, by their names."""

from __future__ import annotations

from pathlib import Path

from audit.sandbox import surroundings


def test_a_gpu_is_open_and_a_disk_is_not(tmp_path: Path) -> None:
    mine = {"null", "zero", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-caps", "nvhost-ctrl-gpu", "nvmap", "dxg"}
    for name in (*mine, "nvme0", "nvme0n1", "nvme-fabrics", "nvram", "sda", "mem", "kvm", "kmsg"):
        (tmp_path / name).touch()
    assert {Path(path).name for path in surroundings.devices(tmp_path)} == mine
