"""Normalization over groups of channels."""
import torch

batch_size = 16
features = 64
num_groups = 8
dim1 = 256
dim2 = 256

def module_fn(x, weight, bias, num_groups, eps):
    return torch.nn.functional.group_norm(x, num_groups, weight, bias, eps)

class Model(torch.nn.Module):
    def __init__(self, num_features, num_groups):
        super().__init__()
        self.gn = torch.nn.GroupNorm(num_groups, num_features)

    def forward(self, x, fn=module_fn):
        return fn(x, self.gn.weight, self.gn.bias, self.gn.num_groups, self.gn.eps)

def get_inputs():
    return [torch.randn(batch_size, features, dim1, dim2)]

def get_init_inputs():
    return [features, num_groups]
