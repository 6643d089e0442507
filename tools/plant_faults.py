"""Plant small faults in a copy of the library, one at a time, and see that the entry's own test catches each.

A test of theory is worth something when it fails where the theory is broken. Run ``python tools/plant_faults.py``, or with parts of the
names of files to be changed, such as ``clustering trees``. It takes a few minutes, touches nothing in the repository, and ends with an
error where a fault was not caught.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Fault:
    """What is changed where, and the test that has to notice."""

    file: str
    right: str
    wrong: str
    test: str


FAULTS = [
    Fault(
        "optim/solvers/momentum.py",
        "* step.velocity + length * direction",
        "* step.velocity - length * direction",
        "test_hb.py",
    ),
    Fault("stats/distributions/gaussian.py", "standard @ self.root.T", "standard @ self.root", "test_errata.py"),
    Fault("stats/distributions/gaussian.py", "determinant = 2 * np.log", "determinant = np.log", "test_mvn_pdf.py"),
    Fault("trees/impurity.py", "-share * np.log2(share)", "-share * np.log(share)", "test_c7_impurity.py"),
    Fault("kernels/polynomial.py", "products += self.coef0", "products += 2 * self.coef0", "test_poly_kernel.py"),
    Fault(
        "association/rules.py",
        "lift = confidence / support[then]",
        "lift = confidence / support[given]",
        "test_o_assoc.py",
    ),
    Fault(
        "association/candidates.py", "found[_among(parts, known)]", "found[~_among(parts, known)]", "test_o_assoc.py"
    ),
    Fault("classification/rectangle.py", "held.max(axis=0)", "rows.max(axis=0)", "test_o_rect.py"),
    Fault(
        "reinforcement/world.py", "gamma * (self.onwards @ values)", "(self.onwards @ values)", "test_o_gridworld.py"
    ),
    Fault("reinforcement/episodes.py", "goal += gamma * best", "goal += best", "test_o_qlearn.py"),
    Fault(
        "reinforcement/bandits/upper_confidence.py",
        "2 * np.log(max(pull, 1))",
        "0 * np.log(max(pull, 1))",
        "test_o_bandit.py",
    ),
    Fault("selection/diagnosis/risk.py", "of_class - oracle", "of_class", "test_o_erm.py"),
    Fault(
        "optim/sparse/sweeps.py",
        "return value - limit",
        "return value - 2 * limit",
        "test_lasso_cd.py",
    ),
    Fault(
        "classification/discriminant/gaussian_classes.py",
        "mean @ inverse @ mean / 2",
        "mean @ inverse @ mean",
        "test_gda_bound.py",
    ),
    Fault(
        "classification/naive_bayes/bernoulli.py",
        "weight[:, None] + alpha + beta",
        "weight[:, None] + alpha",
        "test_o_nb.py",
    ),
    Fault(
        "neighbors/measures.py",
        "np.maximum(total, np.abs(gap))",
        "np.minimum(total, np.abs(gap))",
        "test_knn_distances.py",
    ),
    Fault(
        "clustering/means/soft.py",
        "square *= -beta",
        "square *= beta",
        "test_c6_softkm.py",
    ),
    Fault(
        "clustering/means/seeding.py",
        "closest = np.minimum(closest, fresh)",
        "closest = np.maximum(closest, fresh)",
        "test_o_kmpp.py",
    ),
    Fault(
        "clustering/mixtures/bound.py",
        "shares.sum(axis=1, keepdims=True)",
        "shares.max(axis=1, keepdims=True)",
        "test_c6_em.py",
    ),
    Fault(
        "reduction/pairs/whitening.py",
        "(vectors / np.sqrt(values))",
        "(vectors / values)",
        "test_whiten.py",
    ),
    Fault(
        "reduction/pairs/latent.py",
        "math.sqrt(1 - abs(rho))",
        "math.sqrt(1 - rho)",
        "test_scalar_latent.py",
    ),
    Fault(
        "reduction/hidden/probabilistic.py",
        "np.maximum(values - self.noise_variance_, 0.0)",
        "np.maximum(values, 0.0)",
        "test_ppca.py",
    ),
    Fault(
        "trees/pruning.py",
        "/ (leaves[asking] - 1)",
        "/ leaves[asking]",
        "test_c7_tree.py",
    ),
    Fault(
        "ensembles/adaboost/classifier.py",
        "weight * np.exp(-say)",
        "weight * np.exp(say)",
        "test_c7_adaboost.py",
    ),
    Fault(
        "neural/engine/activations.py",
        "return value * (1 - value)",
        "return value * (1 + value)",
        "test_cgraph.py",
    ),
    Fault(
        "neural/engine/pooling.py",
        "flat.argmax(axis=-1)",
        "flat.argmin(axis=-1)",
        "test_c8_pool.py",
    ),
    Fault(
        "neural/zoo/receptive.py",
        "r + (k - 1) * j",
        "r + k * j",
        "test_c8_receptive.py",
    ),
    Fault(
        "selection/metrics/ranking.py",
        "(below + beside / 2)",
        "below",
        "test_roc.py",
    ),
    Fault(
        "selection/splitting/splits.py",
        'return generator(seed_of(self.random_state), "folds").permutation(folds) if self.shuffle else folds',
        "return np.minimum(np.arange(n) // (smaller + 1), self.n_splits - 1)",
        "test_kfold_cv.py",
    ),
    Fault(
        "selection/diagnosis/bias_variance.py",
        "self.predictions.var(axis=0)",
        "self.predictions.var(axis=0, ddof=1)",
        "test_bias_variance.py",
    ),
    Fault(
        "regression/total/errors_in_variables.py",
        "variance = slope**2 + 1",
        "variance = slope**2 + 2",
        "test_errata.py",
    ),
    Fault(
        "regression/total/directions.py",
        "inner = -np.linalg.solve",
        "inner = np.linalg.solve",
        "test_tls.py",
    ),
    Fault(
        "regression/linear/noise_augmentation.py",
        "alpha / len(target) if variance is None",
        "alpha if variance is None",
        "test_errata.py",
    ),
    Fault(
        "regression/gaussian/linear_gaussian.py",
        "center + R @ v, R @ half",
        "center + R @ v, half",
        "test_joint_conditioning.py",
    ),
    Fault(
        "data/synthetic/autoregressive.py",
        "np.cumsum(r ** (2 * steps))",
        "np.cumsum(r**steps)",
        "test_ar1_noise.py",
    ),
    Fault(
        "stats/distributions/nested.py",
        "float(weight @ (values - mean) ** 2 / weight.sum())",
        "float(weight @ (values - mean) ** 2 / weight.sum()) + 0.1",
        "test_errata.py",
    ),
    Fault(
        "stats/distributions/divergence.py",
        "-xlogy(p, q)",
        "-xlogy(q, p)",
        "test_o_estimation.py",
    ),
    Fault(
        "stats/distributions/bernoulli.py",
        "Beta(self.a + ones, self.b + zeros)",
        "Beta(self.a + zeros, self.b + ones)",
        "test_o_estimation.py",
    ),
    Fault(
        "optim/functions/losses.py",
        "inner * (size - 0.5 * inner)",
        "inner * (size - 0.6 * inner)",
        "test_o_huber.py",
    ),
    Fault(
        "optim/functions/losses.py",
        "small / (1.0 + small) ** 2",
        "small / (1.0 + small)",
        "test_hess.py",
    ),
    Fault(
        "optim/solvers/newton.py",
        "step.point + length * direction",
        "step.point + 0.9 * length * direction",
        "test_newton.py",
    ),
    Fault(
        "optim/solvers/stochastic.py",
        "place * self.batch : (place + 1) * self.batch",
        "place : place + self.batch",
        "test_epoch.py",
    ),
    Fault(
        "optim/duality/constrained.py",
        "np.abs(above * slack)",
        "np.abs(above)",
        "test_strongdual.py",
    ),
    Fault(
        "clustering/means/kmedians.py",
        "[weighted_median(column, weight[mine]) for column in X[mine].T]",
        "X[mine].mean(axis=0)",
        "test_c6_kmedians.py",
    ),
    Fault(
        "reduction/pairs/canonical.py",
        "vectors[:, kept] / np.sqrt(values[kept])",
        "vectors[:, kept] / values[kept]",
        "test_cca.py",
    ),
    Fault(
        "neural/layers/activation.py",
        "x.value.dtype.type(1 - self.rate)",
        "x.value.dtype.type(1)",
        "test_c8_pool.py",
    ),
    Fault(
        "neural/engine/convolution.py",
        "np.matmul(slope, columns.swapaxes(2, 3)).sum(axis=0)",
        "np.matmul(slope, columns.swapaxes(2, 3)).mean(axis=0)",
        "test_c8_conv.py",
    ),
    Fault(
        "optim/solvers/gauss_newton.py",
        "move = self.step * plane.step()",
        "move = -self.step * plane.step()",
        "test_gn.py",
    ),
    Fault(
        "kernels/centring.py",
        "rows - means - own + mean",
        "rows - means - own",
        "test_o_kcenter.py",
    ),
    Fault(
        "trees/boosting/losses/objectives.py",
        "curvature = shares * (1.0 - shares)",
        "curvature = shares",
        "test_c7_gboost.py",
    ),
    Fault(
        "trees/forests/lots.py",
        "times = np.bincount(place, minlength=len(self.order))",
        "times = np.minimum(np.bincount(place, minlength=len(self.order)), 1)",
        "test_c7_forest.py",
    ),
    Fault(
        "regression/greedy/subset_search.py",
        "gain.argmax()",
        "gain.argmin()",
        "test_l0_ls.py",
    ),
    Fault(
        "optim/svm/smo.py",
        "beta[j] -= step",
        "beta[j] -= 0.9 * step",
        "test_svm.py",
    ),
    Fault("reduction/pca.py", "values[:kept] / (seen.weight - 1)", "values[:kept] / (seen.weight + 1)", "test_pca.py"),
    Fault("reduction/kernel_pca.py", "1 / np.sqrt(values), 0.0)", "1 / values, 0.0)", "test_o_kpca.py"),
    Fault("clustering/mixtures/shapes.py", "k - 1 + k * p +", "k + k * p +", "test_o_gmm1d.py"),
    Fault("clustering/spectral/kernel_kmeans.py", "self.norms_ - 2 * sums", "self.norms_ - sums", "test_o_kernkm.py"),
    Fault("kernels/radial.py", "scale = 1 / self.sigma", "scale = 2 / self.sigma", "test_o_kernels.py"),
    Fault(
        "classification/naive_bayes/multinomial.py", "count + self._alpha(", "count + 2 * self._alpha(", "test_o_nb.py"
    ),
    Fault(
        "classification/discriminant/linear.py",
        "(self.means_[0] + self.means_[1]) / 2",
        "(self.means_[0] + self.means_[1]) / 3",
        "test_gda_bound.py",
    ),
    Fault("classification/svm/svc.py", "margins = 1 / np.sqrt(", "margins = 2 / np.sqrt(", "test_svm.py"),
    Fault("neural/engine/dense.py", "rows.T @ slope if", "rows.T @ (2 * slope) if", "test_stepnet.py"),
    Fault(
        "optim/solvers/momentum.py",
        "velocity = momentum * step.velocity - length * gradient",
        "velocity = step.velocity - length * gradient",
        "test_nag.py",
    ),
    Fault("reinforcement/bandits/thompson.py", "1 + counts - sums", "1 + counts", "test_o_bandit.py"),
    Fault("association/counting.py", "is_sparse(X) else X > 0", "is_sparse(X) else X >= 0", "test_o_assoc.py"),
    Fault(
        "features/maps/polynomial.py",
        "powers[chosen, first] += 1",
        "powers[chosen, first] += 2",
        "test_poly_features.py",
    ),
    Fault(
        "linalg/graph/laplacian.py",
        "volume = self.degree @ inside",
        "volume = 2 * (self.degree @ inside)",
        "test_o_spectral.py",
    ),
]


def caught(fault: Fault, copy: Path) -> bool:
    """Plant a fault in the copy, run its test, and take the fault out again."""
    place = copy / "qed" / fault.file
    text = place.read_text(encoding="utf-8")
    if text.count(fault.right) < 1:
        raise SystemExit(f"{fault.file} no longer holds {fault.right!r}: the fault has to be written anew.")
    place.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["NUMBA_CACHE_DIR"] = str(copy / "numba")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        str(ROOT / "tests" / "theory" / fault.test),
    ]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    finally:
        place.write_text(text, encoding="utf-8")
    return done.returncode == 1


def main() -> None:
    missed, wanted = [], sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory)
        shutil.copytree(ROOT / "src" / "qed", copy / "qed", ignore=shutil.ignore_patterns("__pycache__"))
        for fault in [fault for fault in FAULTS if not wanted or any(name in fault.file for name in wanted)]:
            found = caught(fault, copy)
            print(f"{'caught' if found else 'MISSED'}  {fault.file}: {fault.wrong}  by {fault.test}", flush=True)
            missed += [] if found else [fault]
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
