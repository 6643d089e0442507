"""Features: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "text.count_vectorizer": ["CountVectorizer"],
        "text.tfidf_transformer": ["TfidfTransformer"],
        "text.tfidf_vectorizer": ["TfidfVectorizer"],
        "tables.encoder": ["ColumnEncoder"],
        "maps.feature_map": ["FeatureMap"],
        "maps.fourier": ["RandomFourierFeatures"],
        "scaling.minmax_scaler": ["MinMaxScaler"],
        "maps.nystroem": ["Nystroem"],
        "tables.one_hot": ["OneHotEncoder"],
        "maps.polynomial": ["PolynomialFeatures", "monomial_count"],
        "missing.simple_imputer": ["SimpleImputer"],
        "scaling.standard_scaler": ["StandardScaler"],
    },
)
