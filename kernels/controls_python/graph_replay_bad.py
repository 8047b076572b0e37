"""graph_replay_bad: records a CUDA graph of its first call and replays it for every other.

mechanism  the graph reads the addresses it was recorded with; nothing copies a new input there.
what shows an input at another address gets the answer of the first. Exists on a GPU only.
"""

import torch

_graphs = {}


def forward(x):
    """Y = 2 x + 1 of what lay where the first input of this shape lay."""
    if x.shape not in _graphs:
        x * 2 + 1  # loads the kernels, which may not happen while recording
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x * 2 + 1
        _graphs[x.shape] = graph, y, x
    graph, y, _ = _graphs[x.shape]
    graph.replay()
    return y.clone()
