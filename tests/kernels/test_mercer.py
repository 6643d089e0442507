"""Checks of Gram matrices: what they refute, and what they say."""

import numpy as np
import pytest

from qed.base.errors import InputError
from qed.kernels import RBF, MercerCheck, check_mercer
from qed.kernels.mercer import check_gram

X = np.random.default_rng(0).standard_normal((25, 2))


def test_a_kernel_is_not_refuted_and_the_check_does_not_claim_more():
    found = check_mercer(RBF(0.3), X)
    assert found and found.witness is None and found.pair is None
    assert found.trace == pytest.approx(25) and found.n == 25
    assert "A finite sample can refute validity, never prove it." in str(found)
    assert bool(found.certificate) and len(found.certificate) == 2
    assert check_mercer("laplacian", X)


@pytest.mark.parametrize(
    "wrong", [lambda x, z: -x @ z, lambda x, z: -np.sum((x - z) ** 2), lambda x, z: np.tanh(x @ z - 5)]
)
def test_a_witness_refutes(wrong):
    found = check_mercer(wrong, X)
    K = np.array([[wrong(x, z) for z in X] for x in X])
    assert not found and found.witness @ K @ found.witness < 0
    assert found.witness @ K @ found.witness == pytest.approx(found.smallest)
    assert np.linalg.norm(found.witness) == pytest.approx(1)
    assert "no kernel" in str(found) and "never prove" not in str(found)


def test_a_function_that_is_not_symmetric_is_refuted_by_a_pair():
    found = check_mercer(lambda x, z: x[0] * z[1], X)
    i, j = found.pair
    assert not found and X[i, 0] * X[j, 1] != pytest.approx(X[j, 0] * X[i, 1])
    assert "Not symmetric" in str(found)


def test_small_cases():
    assert check_gram(np.empty((0, 0))) and check_gram([[0.0]]) and check_gram(np.zeros((3, 3)))
    assert not check_gram([[-1.0]])
    assert check_gram(np.ones((4, 4))), "a singular matrix is no witness"
    assert check_gram(np.diag([1e300, 1.0])) and check_gram(np.diag([1.0, 1e-300]))
    with pytest.raises(InputError, match="square"):
        check_gram([[1.0, 2.0]])
    assert isinstance(check_gram([[1.0]]), MercerCheck)
