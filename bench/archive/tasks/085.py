"""Depthwise 2D convolution with unequal sides of image and kernel."""
import torch

batch_size = 16
in_channels = 3
kernel_size_h = 3
kernel_size_w = 5
width = 256
height = 128

def module_fn(x, weight, bias, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w, groups):
    stride, padding, dilation = (stride_h, stride_w), (padding_h, padding_w), (dilation_h, dilation_w)
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, groups)

class Model(torch.nn.Module):
    def __init__(self, in_channels, kernel_size_h, kernel_size_w):
        super().__init__()
        kernel_size = (kernel_size_h, kernel_size_w)
        self.weight = torch.nn.Conv2d(in_channels, in_channels, kernel_size, groups=in_channels, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, 1, 1, 0, 0, 1, 1, len(self.weight))

def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]

def get_init_inputs():
    return [in_channels, kernel_size_h, kernel_size_w]
