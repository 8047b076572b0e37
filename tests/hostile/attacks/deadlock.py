"""Attack: two threads that wait for each other's lock, and a third that waits for both.
Wall: wall-clock limit of a session
Outcome: contract error: did not finish within 2 s
Outcome on cuda: contract error: did not finish within 10 s
"""

import threading

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    one, other, ready = threading.Lock(), threading.Lock(), threading.Barrier(2)

    def take(first: threading.Lock, second: threading.Lock) -> None:
        with first:
            ready.wait()
            with second:
                pass

    threads = [threading.Thread(target=take, args=pair) for pair in ((one, other), (other, one))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return x * 2
