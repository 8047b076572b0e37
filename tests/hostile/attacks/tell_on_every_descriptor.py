"""Attack: writes a forged event and a forged last message to every descriptor the process has.
Wall: a message needs the nonce and the number of its moment; anything else on the channel ends the session
Outcome: channel error: bytes came that are no message of a session
"""

import os
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    for number in range(3, 512):
        if number > 2:
            with suppress(OSError):
                os.write(number, b'{"step": 0, "returned": "Tensor"}\n{"served": true}\n')
    return x * 2
