"""Product of a 3D tensor, along its last dimension, and a matrix."""
import torch

N = 16
M = 1024
K = 2048
L = 768

def module_fn(a, b):
    return torch.matmul(a, b)

class Model(torch.nn.Module):
    def forward(self, a, b, fn=module_fn):
        return fn(a, b)

def get_inputs():
    return [torch.randn(N, M, K), torch.randn(K, L)]

def get_init_inputs():
    return []
