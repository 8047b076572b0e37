"""What was seen of messages that the kit's own code in a session's process did not send.

It passes no kernel and fails none: a crash may write garbage as well as a purpose. But nothing of such a session
counts, and a variant about which one was seen stays undecided.
"""

from __future__ import annotations

from collections.abc import Sequence

from audit.model import Finding

NAME = "channel"


def finding(target: str, seen: Sequence[str]) -> Finding:
    """The finding about a variant, or a claim, in whose sessions that was seen; an error, which has no grade.

    Args:
        target: the name of what the sessions were about.
        seen: one sentence a session.
    """
    sentence = f"messages of a session that its own code did not send ({len(seen)}x): {seen[0]}"
    text = f"{sentence}; nothing of such a session counts"
    return Finding(probe=NAME, target=target, outcome="error", summary=text, evidence={"seen": [*seen]})
