"""Attack: prints what a session's messages might look like, a last one included, on both streams it has.
Wall: messages go over a socket of their own; what is printed goes into a file that nobody parses
Outcome: cleared
"""

import json
import os
import sys

import torch

FORGED = json.dumps({"step": 0, "returned": "Tensor", "differing": []})


def forward(x: torch.Tensor) -> torch.Tensor:
    for stream in (sys.stdout, sys.stderr):
        print(FORGED, file=stream)
        print('{"served": true}', file=stream, flush=True)
    os.write(1, b'{"served": true}\n')
    return x * 2
