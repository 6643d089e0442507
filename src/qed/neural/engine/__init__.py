"""The graph of operations, and the slopes that go back through it; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "activations": ["activation", "softmax"],
        "convolution": ["Convolve"],
        "dense": ["Affine"],
        "losses": ["CrossEntropy", "LogLoss", "Loss", "SquaredError"],
        "node": ["Node", "Operation", "Tally", "apply", "constant", "gradients"],
        "normalising": ["LocalNormalise", "Normalise"],
        "paths": ["PathSum", "path_sum"],
        "pooling": ["AveragePool", "ChannelPool", "MaxPool"],
        "shaping": ["Concatenate", "Keep", "Reshape"],
        "windows": ["Windows"],
    },
)
