"""The trusted parents: the fork server imports torch once and forks supervisors, each of which forks sessions.

The argument is a socket that receives two descriptors for each supervisor, for requests and for replies. A supervisor
answers each request with a `wire.Ended`, a line of JSON; a request with `keep` leaves its process to the next request,
`Release` ends it.
"""

from __future__ import annotations

import gc
import importlib

if __name__ == "__main__":
    gc.disable()  # until all is imported: a fifth of the time that it takes
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import torch
import torch.fx.experimental.symbolic_shapes  # imports sympy once, not in each session with meta tensors
import torch.utils.serialization  # which `torch.load` would import in each session

from audit.build.settings import FOLDERS, CheckedSettings, CudaPythonSettings
from audit.run.messages import requests, wire
from audit.run.messages.event_writer import EventWriter
from audit.run.messages.requests import Request
from audit.run.processes.child import Child, Serve, inspectable
from audit.run.sessions import launches, oracle, session
from audit.run.timing import sampling
from audit.sandbox import attempts, limits, native, processes
from audit.sandbox.namespaces import become_first
from audit.sandbox.policy import Policy, system
from audit.sandbox.policy import prepare as prepare_policy

KINDS: dict[str, Serve] = {
    "session": session.run,
    "launches": launches.run,
    **oracle.KINDS,
    **sampling.KINDS,
    "sandbox_check": lambda request, _: iter([{"results": attempts.run(request.targets)}]),
}


def main() -> None:
    """Fork a supervisor for every pair of descriptors until the socket closes; then end all descendants, as at `SETTLE`
    too, which the judge sends between two audits."""
    gc.freeze()  # a session's garbage collector neither visits torch's objects nor copies their pages
    gc.enable()
    native.adopt_orphans()
    prepare_policy()  # once, for every process forked from here
    inspectable(False)  # claimed code cannot open this process's descriptors
    torch.set_num_threads(1)
    writer = EventWriter()
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps supervisors
    while True:
        asked, descriptors, _, _ = socket.recv_fds(channel, 1, 2)
        if asked == wire.SETTLE:
            while processes.descendants():  # the judge's wait has a limit
                processes.end_all(first=False)
            channel.send(wire.SETTLE)
            continue
        if asked == wire.COMPILER:
            _import_compiler()
            continue
        if not descriptors:
            break
        if os.fork() == 0:
            native.die_with_parent(signal.SIGKILL)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            channel.close()
            _serve(descriptors[0], descriptors[1], writer)
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
    processes.end_all(first=False)


def _import_compiler() -> None:
    """Import torch.compile for the timing processes forked from now on: 4 to 8 s."""
    asks, torch.cuda.is_available = torch.cuda.is_available, lambda: True  # as is known where times are taken
    try:
        with suppress(ImportError):  # which the session that compiles reports
            # a CUDA call here would leave no forked process a GPU
            importlib.import_module("torch._inductor.compile_fx")
    finally:
        torch.cuda.is_available = asks
    gc.freeze()


def _serve(asked: int, replied: int, writer: EventWriter) -> None:
    """Answer requests until there are no more, as the first process of a PID namespace where one is offered."""
    replies = os.fdopen(replied, "w", encoding="utf-8")
    with suppress(BrokenPipeError):  # the pool was closed before its first request
        replies.write(f"{os.getpid()}\n")  # the judge kills this process if no answer comes
        replies.flush()
    inspectable(True)  # to set up a user namespace, the process opens files of its own in /proc
    first = become_first()
    inspectable(False)
    kept: Child | None = None
    asking = socket.socket(fileno=asked)
    while (got := wire.receive(asking)) is not None:
        request, descriptors = got
        child, kept = kept, None
        if isinstance(request, requests.Release):
            answer = wire.Ended(finished=True)
        else:
            if child is None:
                child = Child(KINDS, writer, policy_of(request), hidden=(asked, replied), first=first)
            answer = child.serve(request, descriptors)
            if request.keep and answer.finished:
                child, kept = None, child
        if child is not None:
            child.end()
        for descriptor in descriptors:
            os.close(descriptor)
        replies.write(answer.model_dump_json() + "\n")
        replies.flush()
    if kept is not None:
        kept.end()


_SLACK_S = 30.0


def policy_of(request: Request) -> Policy:
    """Return the policy for the process that serves a request, and later ones if it is kept."""
    shared, devices = request.shared_folders, request.devices
    checkers = [one.sanitizer for one in devices if isinstance(one, CheckedSettings)]
    reads = [
        *(shared.reads if shared else request.inputs),
        *([] if request.reference is None else [request.reference.parent]),
        *(file.parent for one in devices for file in one.digests),  # a build has a folder of its own
        *(Path(os.path.realpath(checker)).parents[1] for checker in checkers),
    ]
    writes = [str(path) for path in ((shared.results,) if shared else request.writes)]
    caches = shared.caches if shared else request.caches
    environments = [one.environment for one in devices if isinstance(one, CudaPythonSettings)]
    compilers = [environment[name] for environment in environments for name in FOLDERS if name in environment]
    return Policy(
        rules=system(),
        limit=limits.of_this_machine(),
        reads=list(dict.fromkeys(map(str, reads))),
        writes=writes,
        caches=[*([str(caches)] if caches else []), *compilers],  # of a `.py` variant: no other source uses them
        network=bool(checkers),
        processor_s=None if request.keep else (request.limit_s + _SLACK_S) * limits.cores(),
        home=next(iter(writes), None),
    )


if __name__ == "__main__":
    main()
