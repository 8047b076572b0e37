"""The trusted parents: a root imports torch once and forks the pool's zygotes, each of which forks fresh processes.

The root gets two descriptors for each zygote over the socket that is its first argument: where requests come from and
where replies go. The second is the native library that sessions tell their events through. A zygote reads requests (see
`requests`) and answers with one JSON reply a line; a request with `keep` leaves its process for the next one,
`Release` ends it.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
from dataclasses import replace

import torch

from audit.run import launches, oracle, requests, session, timing, wire
from audit.run.allowed import walls
from audit.run.child import Child, Serve, looked_at
from audit.run.event_writer import Teller
from audit.sandbox import native, tree, trial
from audit.sandbox.namespaces import become_first
from audit.sandbox.walls import prepare as prepare_walls

KINDS: dict[str, Serve] = {
    "session": session.run,
    "launches": launches.run,
    **oracle.KINDS,
    **timing.KINDS,
    "trial": lambda request, _: iter([{"walls": trial.run(request.targets)}]),
}
OPEN = "open"
"""The last argument where no walls are raised, which only `bench/containment.py` wants."""


def main() -> None:
    """Forks a zygote for every pair of descriptors until the socket ends; nothing that was started lives longer."""
    gc.freeze()  # no session that collects garbage looks at all of torch, nor copies its pages
    native.adopt_orphans()
    prepare_walls()  # once, for every process forked from here
    looked_at(False)  # claimed code has no business with the descriptors of its parents
    torch.set_num_threads(1)
    teller = Teller(sys.argv[2])
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # zygotes that have ended leave nothing behind
    while True:
        _, descriptors, _, _ = socket.recv_fds(channel, 1, 2)
        if not descriptors:
            break
        if os.fork() == 0:
            native.die_with_parent(signal.SIGKILL)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            channel.close()
            _serve(descriptors[0], descriptors[1], teller, walled=OPEN not in sys.argv)
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
    tree.end_all(first=False)


def _serve(asked: int, replied: int, teller: Teller, *, walled: bool) -> None:
    """Answers requests until there are no more, as the first process of a namespace where one is offered."""
    looked_at(True)  # a user namespace is set up through files of its own that it must be able to open
    first = walled and become_first()
    looked_at(False)
    replies = os.fdopen(replied, "w", encoding="utf-8")
    kept: Child | None = None
    asking = socket.socket(fileno=asked)
    while (got := wire.receive(asking)) is not None:
        request, descriptors = got
        child, kept = kept, None
        if isinstance(request, requests.Release):
            answer = {"released": child is not None}
        else:
            if child is None:
                around = replace(walls(request), raised=walled)
                child = Child(KINDS, teller, around, hidden=(asked, replied), first=first)
            answer = child.serve(request, descriptors)
            if request.keep and answer["finished"]:
                child, kept = None, child
        if child is not None:
            child.end()
        for descriptor in descriptors:
            os.close(descriptor)
        replies.write(json.dumps(answer) + "\n")
        replies.flush()
    if kept is not None:
        kept.end()


if __name__ == "__main__":
    main()
