"""O-KM-APPS: an image in few colours, and distances to centres as features."""

import numpy as np
import pytest

import qed


def test_an_image_in_few_colours():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (40, 50, 3)).astype(float)
    pixels = image.reshape(-1, 3)
    errors = []
    for k in (4, 16):
        model = qed.KMeans(k, random_state=0, tol=1e-3).fit(pixels)
        quantised = model.cluster_centers_[model.labels_]
        assert len(np.unique(quantised, axis=0)) <= k
        errors.append(((quantised - pixels) ** 2).mean())
        assert errors[-1] == pytest.approx(model.inertia_ / pixels.size, rel=1e-9)
    assert errors[1] < errors[0]


def test_distances_to_centres_are_features_for_a_line():
    # Rings: no line parts them, one does in the distances to a few centres.
    X, ring = qed.data.synthetic.rings(300, radii=(1.0, 3.0), noise=0.1, random_state=0)
    away = qed.KMeans(8, random_state=0).fit_transform(X)
    assert qed.LogisticRegression().fit(X, ring).score(X, ring) < 0.7
    assert qed.LogisticRegression(C=100.0).fit(away, ring).score(away, ring) > 0.99
