"""Kernel models that come back from a file predict the same bits, and their proofs can be recomputed."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import DegenerateWarning
from qed.data.synthetic import ar1_covariance
from qed.kernels import RBF, Linear, Polynomial, QuadraticForm

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 0.1 * RNG.standard_normal((60, 2))
WEIGHT = RNG.integers(0, 4, 60).astype(float)
GRAM = RBF(0.5)(X)
MODELS = {
    "dual": (qed.KernelRidge(0.1, kernel="rbf", gamma=0.5), X, Y[:, 0], None),
    "primal": (qed.KernelRidge(0.1, kernel="poly", degree=2), X, Y[:, 0], None),
    "several outputs": (qed.KernelRidge([0.1, 2.0], kernel="laplacian"), X, Y, None),
    "weights": (qed.KernelRidge(0.1, kernel="rbf"), X, Y, WEIGHT),
    "precomputed": (qed.KernelRidge(0.1, kernel="precomputed"), GRAM, Y, None),
    "precomputed and weights": (qed.KernelRidge(0.1, kernel="precomputed"), GRAM, Y[:, 0], WEIGHT),
    "a kernel": (qed.KernelRidge(0.1, kernel=RBF(0.5) + 2 * Polynomial(2).on([0, 2])), X, Y, None),
    "sparse": (qed.KernelRidge(0.1, kernel="rbf"), sparse.csr_array(np.where(X > 0, X, 0)), Y, None),
    "float32": (qed.KernelRidge(0.1, kernel="rbf"), X.astype(np.float32), Y.astype(np.float32), None),
    "equal rows": (qed.KernelRidge(0.0, kernel="rbf"), np.vstack([X[:30]] * 2), Y, None),
    "interpolator": (qed.KernelInterpolator("laplacian", gamma=1.0), X, Y[:, 0], None),
    "interpolator, primal": (qed.KernelInterpolator("linear"), X, Y, WEIGHT),
    "interpolator, precomputed": (qed.KernelInterpolator("precomputed"), GRAM, Y, None),
    "noise of one size": (qed.GeneralizedKernelRidge(kernel="rbf"), X, Y[:, 0], None),
    "noise by row": (qed.GeneralizedKernelRidge(np.linspace(1, 2, 60), kernel="rbf"), X, Y, WEIGHT),
    "correlated noise": (
        qed.GeneralizedKernelRidge(ar1_covariance(60, 0.5), kernel=QuadraticForm(np.diag([1.0, 2.0, 3.0]))),
        X,
        Y,
        None,
    ),
    "correlated noise, precomputed": (
        qed.GeneralizedKernelRidge(ar1_covariance(60, 0.5), kernel="precomputed"),
        GRAM,
        Y[:, 0],
        None,
    ),
    "cosine": (qed.GeneralizedKernelRidge(kernel=Linear().normalized()), X, Y[:, 0], None),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_a_loaded_model_predicts_the_same_bits_and_is_certified(name, tmp_path):
    model, table, y, weight = MODELS[name]
    model.fit(table, y, sample_weight=weight)
    assert model.certificate_, model.certificate_
    qed.save(model, tmp_path / "model.qed")
    loaded = qed.load(tmp_path / "model.qed")
    # A product of a table with itself may be rounded otherwise than one with a copy of it.
    new = table.copy()
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    assert loaded.certificate_ == model.certificate_ and not loaded.fingerprint_.difference(model.fingerprint_)
    proof = qed.certify(loaded, table, y, sample_weight=weight)
    assert proof, proof
    assert [claim.says for claim in proof] == [claim.says for claim in qed.certify(model, table, y, weight)]
    wrong = qed.certify(loaded, table, y + 1.0, sample_weight=weight)
    assert not wrong, "another target is no proof"
    assert qed.certify(loaded, qed.rows(table, y, sample_weight=weight))


def test_the_models_cover_all_forms():
    forms = set()
    for name, (model, table, y, weight) in MODELS.items():
        if name == "equal rows":
            with pytest.warns(DegenerateWarning):
                model.fit(table, y)
        elif hasattr(model, "form"):
            model.fit(table, y, sample_weight=weight)
        if hasattr(model, "form_"):
            forms.add((model.form_, model.rank_ < len(model.dual_coef_)))
    assert forms >= {("dual", False), ("dual", True), ("primal", True)}
