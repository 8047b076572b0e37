"""Products of matrices, one for each batch index."""
import torch

batch_size = 128
m = 128
k = 256
n = 512

def module_fn(a, b):
    return torch.bmm(a, b)

class Model(torch.nn.Module):
    def forward(self, a, b, fn=module_fn):
        return fn(a, b)

def get_inputs():
    return [torch.randn(batch_size, m, k), torch.randn(batch_size, k, n)]

def get_init_inputs():
    return []
