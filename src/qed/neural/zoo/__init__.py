"""Known networks as specifications: how they are built, counted without making a weight, and small ones of the same kind to train.

>>> from qed.neural import zoo
>>> zoo.lenet().n_parameters
61706
"""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "architecture": ["Architecture"],
        "lenet": ["lenet"],
        "alexnet": ["alexnet", "small_alexnet"],
        "vgg": ["vgg", "small_vgg"],
        "inception": ["googlenet", "inception_module", "small_googlenet"],
        "receptive": ["Field", "receptive_fields"],
        "resnet": ["resnet", "residual_block", "small_resnet"],
    },
)
