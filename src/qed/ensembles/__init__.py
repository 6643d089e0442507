"""Ensembles: one model made of many, whatever they are; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "adaboost.classifier": ["AdaBoostClassifier"],
        "adaboost.regressor": ["AdaBoostRegressor"],
        "bagging.classifier": ["BaggingClassifier"],
        "bagging.regressor": ["BaggingRegressor"],
        "stacking.classifier": ["StackingClassifier"],
        "stacking.regressor": ["StackingRegressor"],
        "voting": ["VotingClassifier", "VotingRegressor"],
    },
)
