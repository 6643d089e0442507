"""Neighbours: what a row is, its nearest rows tell; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "bias_variance": ["neighbor_bias_variance"],
        "classifier": ["KNeighborsClassifier"],
        "nearest": ["NearestNeighbors"],
        "regressor": ["KNeighborsRegressor"],
    },
)
