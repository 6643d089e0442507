"""Trees: questions about one column at a time; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "boosting.classifier": ["GradientBoostingClassifier"],
        "boosting.regressor": ["GradientBoostingRegressor"],
        "classifier": ["DecisionTreeClassifier"],
        "forests.classifier": ["RandomForestClassifier"],
        "forests.extra": ["ExtraTreesClassifier", "ExtraTreesRegressor"],
        "forests.regressor": ["RandomForestRegressor"],
        "impurity": ["impurity", "information_gain"],
        "qed.plots.tree": ["export_svg", "plot_tree"],
        "regressor": ["DecisionTreeRegressor"],
        "words.drawing": ["export_rules", "export_text"],
    },
)
