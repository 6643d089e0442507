"""Features: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "column_encoder": ["ColumnEncoder"],
        "feature_map": ["FeatureMap"],
        "fourier": ["RandomFourierFeatures"],
        "minmax_scaler": ["MinMaxScaler"],
        "nystroem": ["Nystroem"],
        "one_hot": ["OneHotEncoder"],
        "polynomial": ["PolynomialFeatures", "monomial_count"],
        "simple_imputer": ["SimpleImputer"],
        "standard_scaler": ["StandardScaler"],
    },
)
