"""A notebook without a network from here on: the kernel and all it starts afterwards, and nothing puts it back.

The sockets the kernel has already stay, over which it talks to the browser. No rights are needed for it.
"""

from __future__ import annotations

import platform

from audit.model.errors import BadInput
from audit.sandbox import filters


def cut() -> None:
    """Takes the network from this thread and all it starts from now on.

    Raises:
        BadInput: this machine has no such filter.
    """
    try:
        filters.install(filters.offline(platform.machine()))
    except KeyError:
        raise BadInput(f"parameter network_off: not known how on {platform.machine()}; leave it off") from None
    except OSError as error:
        why = f"this machine offers no filter of system calls ({error.strerror})"
        raise BadInput(f"parameter network_off: {why}; leave it off") from error
