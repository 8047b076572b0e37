"""Average pooling over a volume."""
import torch

batch_size = 16
channels = 32
depth = 64
height = 64
width = 64
kernel_size = 3
stride = 2
padding = 1

def module_fn(x, kernel_size, stride, padding):
    return torch.nn.functional.avg_pool3d(x, kernel_size, stride, padding)

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x, kernel_size, stride, padding)

def get_inputs():
    return [torch.randn(batch_size, channels, depth, height, width)]

def get_init_inputs():
    return []
