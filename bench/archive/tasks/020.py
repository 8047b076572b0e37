"""LeakyReLU of each element."""
import torch

batch_size = 16
dim = 16384
negative_slope = 0.01

def module_fn(x, negative_slope):
    return torch.nn.functional.leaky_relu(x, negative_slope)

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x, negative_slope)

def get_inputs():
    return [torch.randn(batch_size, dim)]

def get_init_inputs():
    return []
