"""Attack: asks the kernel for what a kernel of mathematics never needs, each with arguments that do nothing.
Wall: seccomp: calls about the machine are refused before their arguments are looked at
Outcome: cleared
"""

import ctypes
import errno
import platform

import torch

X86 = {
    "init_module": 175, "delete_module": 176, "kexec_load": 246, "add_key": 248, "keyctl": 250, "unshare": 272,
    "perf_event_open": 298, "setns": 308, "process_vm_writev": 311, "bpf": 321, "userfaultfd": 323,
    "io_uring_setup": 425, "mount": 165, "umount2": 166, "swapon": 167, "pivot_root": 155, "open_by_handle_at": 304,
}  # fmt: skip
ARM = {
    "init_module": 105, "delete_module": 106, "kexec_load": 104, "add_key": 217, "keyctl": 219, "unshare": 97,
    "perf_event_open": 241, "setns": 268, "process_vm_writev": 271, "bpf": 280, "userfaultfd": 282,
    "io_uring_setup": 425, "mount": 40, "umount2": 39, "swapon": 224, "pivot_root": 41, "open_by_handle_at": 265,
}  # fmt: skip
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EACCES)


def forward(x: torch.Tensor) -> torch.Tensor:
    libc = ctypes.CDLL(None, use_errno=True)
    let = []
    for name, number in (X86 if platform.machine() == "x86_64" else ARM).items():
        ctypes.set_errno(0)
        answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
        if answer >= 0 or ctypes.get_errno() not in REFUSED:
            let.append(name)
    if let:
        raise RuntimeError(f"let through: {', '.join(let)}")
    return x * 2
