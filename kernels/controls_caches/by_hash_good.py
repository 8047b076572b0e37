"""by_hash_good: keeps answers by a hash of every byte of the inputs.

mechanism  each call copies the inputs to the host, hashes them and looks the answer up.
why fine   the answer is right for whatever inputs come. The timer gives new contents to each call, which are computed.
"""

import hashlib

import torch

MOST = 64
_answers = {}


def forward(x, parameters):
    """Y = x W + b."""
    given = (x, parameters["weight"], parameters["bias"])
    key = hashlib.blake2b(b"".join(one.contiguous().cpu().numpy().tobytes() for one in given)).digest()
    if key not in _answers:
        if len(_answers) >= MOST:
            _answers.clear()
        _answers[key] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _answers[key].clone()
