"""Networks whose weights are written down, not trained: what one hidden layer can do, and what a linear one can not."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "collapse": ["Collapsed", "collapse"],
        "one_hidden": ["hidden_layer", "largest_error"],
        "approximation": ["relu_network", "sigmoid_network", "step_network"],
        "random_features": ["random_feature_network"],
    },
)
