"""graph_replay_good: the twin of graph_replay_bad, copies every input to where its graph reads.

mechanism  a CUDA graph is recorded once for each shape and replayed.
why fine   the input is copied into the graph's own first, and the result is a copy of the graph's. On a GPU only.
"""

import torch

_graphs = {}


def forward(x):
    """Y = 2 x + 1."""
    if x.shape not in _graphs:
        own = x.clone()
        own * 2 + 1  # loads the kernels, which may not happen while recording
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = own * 2 + 1
        _graphs[x.shape] = graph, own, y
    graph, own, y = _graphs[x.shape]
    own.copy_(x)
    graph.replay()
    return y.clone()
