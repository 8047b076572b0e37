"""3D convolution of a cube with unequal sides of the kernel."""
import torch

batch_size = 16
in_channels = 3
out_channels = 64
kernel_size = (3, 5, 7)
width = 64
height = 64
depth = 64

def module_fn(x, weight, bias, stride, padding, dilation, groups):
    return torch.nn.functional.conv3d(x, weight, bias, stride, padding, dilation, groups)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.weight = torch.nn.Conv3d(in_channels, out_channels, kernel_size, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, 1, 0, 1, 1)

def get_inputs():
    return [torch.randn(batch_size, in_channels, width, height, depth)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
