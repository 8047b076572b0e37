"""Which variables reach claimed code, and which devices it may open, by their names."""

from __future__ import annotations

from pathlib import Path

from audit.sandbox.policy import devices, home_variables, scrubbed

USERS = {
    "PATH": "/usr/bin", "CUDA_HOME": "/usr/local/cuda", "LC_ALL": "C", "OMP_NUM_THREADS": "1", "HOME": "/home/someone",
    "HF_TOKEN": "x", "GITHUB_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "x", "CUDA_REGISTRY_PASSWORD": "x",
    "SSH_AUTH_SOCK": "/run/agent", "USER": "someone", "TORCH_HOME": "/home/someone/torch",
    "NVIDIA_API_KEY": "x", "LS_COLORS": "x",
}  # fmt: skip


def test_compilers_find_their_folders_and_nobody_finds_a_token() -> None:
    assert sorted(scrubbed(USERS)) == ["CUDA_HOME", "LC_ALL", "OMP_NUM_THREADS", "PATH"]


def test_a_home_stands_for_every_folder_of_the_user() -> None:
    assert all(value.startswith("/scratch") for value in home_variables("/scratch").values())


def test_a_gpu_is_open_and_a_disk_is_not(tmp_path: Path) -> None:
    mine = {"null", "zero", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-caps", "nvhost-ctrl-gpu", "nvmap", "dxg"}
    for name in (*mine, "nvme0", "nvme0n1", "nvme-fabrics", "nvram", "sda", "mem", "kvm", "kmsg"):
        (tmp_path / name).touch()
    assert {Path(path).name for path in devices(tmp_path)} == mine
