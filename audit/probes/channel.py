"""The finding about messages that the kit's own code in a session's process did not send.

It passes no kernel and fails none: a crash may write garbage too. Such a session does not count, and its variant stays
undecided.
"""

from __future__ import annotations

from collections.abc import Sequence

from audit.model import Finding

NAME = "channel"


def finding(target: str, seen: Sequence[str]) -> Finding:
    """Return the finding about a variant, or a claim, with such sessions: an error, which has no grade.

    Args:
        target: the name of the variant or claim.
        seen: one sentence a session.
    """
    sentence = f"messages of a session that its own code did not send ({len(seen)}x): {seen[0]}"
    text = f"{sentence}; nothing of such a session counts"
    return Finding(probe=NAME, target=target, outcome="error", summary=text, evidence={"seen": [*seen]})
