"""The trusted parents: the fork server imports torch once and forks supervisors, each of which forks fresh processes.

The first argument is a socket over which two descriptors come for each supervisor: where its requests come from and
where its replies go. The second is the native library through which sessions send their events. A supervisor reads
requests and answers each with a `wire.Ended`, a line of JSON; a request with `keep` leaves its process for the next
one, `Release` ends it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from contextlib import suppress

import torch
import torch.fx.experimental.symbolic_shapes  # with sympy, for tensors without memory: once, not in each session

from audit.run import launches, oracle, requests, session, timing, wire
from audit.run.child import Child, Serve, inspectable
from audit.run.event_writer import EventWriter
from audit.run.session_policy import policy_of
from audit.sandbox import attempts, native, processes
from audit.sandbox.namespaces import become_first
from audit.sandbox.policy import prepare as prepare_policy

KINDS: dict[str, Serve] = {
    "session": session.run,
    "launches": launches.run,
    **oracle.KINDS,
    **timing.KINDS,
    "sandbox_check": lambda request, _: iter([{"results": attempts.run(request.targets)}]),
}


def main() -> None:
    """Fork a supervisor for every pair of descriptors until the socket ends; no process started here lives longer."""
    gc.freeze()  # no session that collects garbage looks at all of torch, nor copies its pages
    native.adopt_orphans()
    prepare_policy()  # once, for every process forked from here
    inspectable(False)  # the descriptors of its parents are closed to claimed code
    torch.set_num_threads(1)
    writer = EventWriter(sys.argv[2])
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors that have ended leave nothing behind
    while True:
        _, descriptors, _, _ = socket.recv_fds(channel, 1, 2)
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


def _serve(asked: int, replied: int, writer: EventWriter) -> None:
    """Answer requests until there are no more, as the first process of a namespace where one is offered."""
    replies = os.fdopen(replied, "w", encoding="utf-8")
    with suppress(BrokenPipeError):  # the pool was closed before it asked for anything
        replies.write(f"{os.getpid()}\n")  # by which the judge ends all of this, should no answer come
        replies.flush()
    inspectable(True)  # a user namespace is set up through files of its own that it must be able to open
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


if __name__ == "__main__":
    main()
