"""ResNet-18 in int8: the float model of the same seed with its norms folded, quantised on its own example picture."""

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from models.initial import randomise, seeded
from models.quantised import Grid, QuantisedLayer
from models.resnet18 import BasicBlock, ResNet18, picture
from models.spec import ModelSpec


def folded(conv: nn.Module, norm: nn.Module, source: Grid, relu: bool = False) -> QuantisedLayer:
    """A convolution and the norm after it as one quantised layer."""
    assert isinstance(conv, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d)
    return QuantisedLayer(fuse_conv_bn_eval(conv, norm), source, relu)


class QuantisedBlock(nn.Module):
    """A BasicBlock whose convolutions, and whose sum, are each on a grid of their own."""

    def __init__(self, block: BasicBlock, source: Grid) -> None:
        super().__init__()
        down = block.downsample
        self.conv1 = folded(block.conv1, block.bn1, source, relu=True)
        self.conv2 = folded(block.conv2, block.bn2, self.conv1.out)
        self.downsample = folded(down[0], down[1], source) if isinstance(down, nn.Sequential) else nn.Identity()
        self.relu, self.out = nn.ReLU(), Grid()

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.relu(self.conv2(self.conv1(x)) + self.downsample(x)))


class QuantisedResNet18(nn.Module):
    """float32 [n, 3, h, w] -> float32 [n, 1000], on a grid."""

    def __init__(self, model: ResNet18) -> None:
        super().__init__()
        self.enter = Grid()
        self.conv1 = folded(model.conv1, model.bn1, self.enter, relu=True)
        self.maxpool, self.avgpool = model.maxpool, model.avgpool
        self.blocks, source = nn.Sequential(), self.conv1.out
        for block in (b for layer in (model.layer1, model.layer2, model.layer3, model.layer4) for b in layer):
            assert isinstance(block, BasicBlock)
            quantised = QuantisedBlock(block, source)
            self.blocks.append(quantised)
            source = quantised.out
        self.pooled = Grid()
        self.fc = QuantisedLayer(model.fc, self.pooled)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(self.maxpool(self.conv1(self.enter(x))))
        return self.fc(self.pooled(self.avgpool(x).flatten(1)))


@torch.no_grad()
def build(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """ResNet-18 on one 224x224 image."""
    with seeded(seed):
        model = ResNet18().eval()
        randomise(model)
        x = picture()
    quantised = QuantisedResNet18(model).eval()
    quantised(x)
    return quantised, (x,)


SPEC = ModelSpec("resnet18_int8", "ResNet-18 in int8: QDQ, a step for each channel, sums in int32", build)
