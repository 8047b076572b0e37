"""Depthwise 2D convolution, then a pointwise one."""
import torch

batch_size = 16
in_channels = 3
out_channels = 64
kernel_size = 3
width = 256
height = 256

def module_fn(x, depthwise_weight, pointwise_weight, depthwise_bias, pointwise_bias, stride, padding, dilation):
    groups = x.size(1)
    x = torch.nn.functional.conv2d(x, depthwise_weight, depthwise_bias, stride, padding, dilation, groups)
    return torch.nn.functional.conv2d(x, pointwise_weight, pointwise_bias)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.depthwise = torch.nn.Conv2d(in_channels, in_channels, kernel_size, groups=in_channels, bias=False).weight
        self.pointwise = torch.nn.Conv2d(in_channels, out_channels, 1, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.depthwise, self.pointwise, None, None, 1, 0, 1)

def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
