"""A model that is fitted again keeps nothing that only the earlier fit had a use for."""

from inspect import signature

import numpy as np
import pytest

import qed

X = np.random.default_rng(0).normal(size=(24, 3))


@pytest.mark.parametrize(
    ("model", "then"),
    [
        (qed.KernelKMeans(2, random_state=0), {}),
        (qed.KernelPCA(2, fit_inverse_transform=True), {"fit_inverse_transform": False}),
        (qed.KNeighborsClassifier(3), {}),
        (qed.PCA(2, svd_solver="randomized", random_state=0), {"svd_solver": "auto"}),
        (qed.SpectralClustering(2, random_state=0), {"affinity": "precomputed"}),
        (
            qed.GaussianRandomProjection(2, compute_inverse_components=True, random_state=0),
            {"compute_inverse_components": False},
        ),
    ],
    ids=str,
)
def test_nothing_of_an_earlier_fit_is_left(model, then):
    target = {"y": np.arange(24) % 2} if isinstance(model, qed.KNeighborsClassifier) else {}
    # The weights of other rows would not even have their number.
    takes_weights = "sample_weight" in signature(model.fit).parameters
    model.fit(X, **target, **({"sample_weight": np.arange(24) % 3} if takes_weights else {}))
    rows = X[:20] if "affinity" not in then else np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    target = {name: y[: len(rows)] for name, y in target.items()}
    fresh = type(model)(**model.get_params()).set_params(**then).fit(rows, **target)
    assert vars(model.set_params(**then).fit(rows, **target)).keys() == vars(fresh).keys()
    assert qed.certify(model, rows, **target)
    for asked in {"predict", "transform"} & set(dir(fresh)):
        np.testing.assert_array_equal(getattr(model, asked)(rows), getattr(fresh, asked)(rows))
