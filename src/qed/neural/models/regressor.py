r"""The multi-layer perceptron that predicts numbers, one or several at once.

.. math:: \min_{W, b}\ \frac1{2n} \sum_i \|f(x_i) - y_i\|^2 / q + \frac{\alpha}{2 m} \|W\|^2

for a network :math:`f` with :math:`q` outputs, which share their hidden layers; :math:`m` is the number of rows of a batch. With
``loss="poisson"`` the network predicts the logarithm of a count. This is nonlinear least squares with a network as its function.

Rumelhart, Hinton and Williams (1986); Kingma and Ba (2015), Adam.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import floats, maybe, nothing
from qed.base.errors import ParameterError
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, boolean, choice
from qed.base.models.roles import Regressor, available_if
from qed.base.random import Seed
from qed.base.running.steps import Step
from qed.base.sources.block import Block, as_dense
from qed.neural.engine.node import Array
from qed.neural.models.model import MLP_NO_EFFECT, MultiLayer
from qed.neural.models.problem import NetworkProblem
from qed.neural.models.target_units import TargetUnits
from qed.neural.network import Network
from qed.neural.training.epochs import Judged


@takes("verbose", **MLP_NO_EFFECT)
class MLPRegressor(Regressor, MultiLayer):
    """Numbers by a network of dense layers.

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        What is made small.
    hidden_layer_sizes : int or sequence of int, default=(100,)
        How many neurons each hidden layer has; an empty sequence is linear regression.
    activation : {"identity", "logistic", "tanh", "relu", "leaky_relu", "piecewise_linear"}, default="relu"
        What a hidden neuron makes of its weighted sum.
    solver : {"adam", "sgd", "lbfgs"}, default="adam"
        How the loss is made small: by gradients of batches, with Adam's steps or with momentum, or by L-BFGS on all rows.
    alpha : float, default=0.0001
        The penalty of squared weights, divided by the number of rows of a batch.
    batch_size : int or "auto", default="auto"
        Rows in a batch; "auto" is 200, or all rows where there are fewer. 1 is on-line learning.
    learning_rate : {"constant", "invscaling", "adaptive", "step", "exponential", "cosine"}, default="constant"
        How the length of steps changes; the second and third apply to "sgd" only.
    learning_rate_init : float, default=0.001
        The length of steps at the beginning.
    power_t : float, default=0.5
        The power of "invscaling".
    max_iter : int, default=200
        The most epochs, or steps of L-BFGS.
    shuffle : bool, default=True
        Whether each epoch has an order of its own.
    random_state : None, int or NumPy generator, default=None
        The seed of weights, orders and of rows held out. It gives the same bits for any number of threads.
    tol : float, default=1e-4
        Training ends when the loss, or the score of rows held out, has not become better by this for `n_iter_no_change` epochs.
    momentum : float, default=0.9
        The share of the last move that "sgd" keeps.
    nesterovs_momentum : bool, default=True
        Whether it looks ahead.
    early_stopping : bool, default=False
        Whether rows are held out, whose coefficient of determination decides when to end; the weights that did best on them are kept.
    validation_fraction : float, default=0.1
        The share of rows held out.
    beta_1, beta_2, epsilon : float
        The constants of Adam.
    n_iter_no_change : int or infinity, default=10
        How many epochs may go by without getting better.
    warm_start : bool, default=False
        Whether `fit` goes on where the last fit ended, for at most `max_iter` more epochs: with the same data and nothing that ends
        it early, two fits are to the bit one fit of twice as many epochs. `n_iter_` counts those of the last fit.
    scale_target : bool, default=False
        Whether the network learns the target in units of mean zero and variance one, and predicts it in its own; for "squared_error"
        only. `coefs_`, losses, slopes and claims are then those of these units. What goes on, with `warm_start` or `partial_fit`,
        keeps the units of the first rows.

    Attributes
    ----------
    coefs_ : list of ndarray of shape (inputs, outputs)
        The weights of each layer.
    intercepts_ : list of ndarray of shape (outputs,)
        The offsets of each layer.
    loss_ : float
        The mean loss of the last epoch, while weights still moved; with "lbfgs", at the end.
    best_loss_ : float or None
        The least of `loss_curve_`; None with rows held out.
    loss_curve_ : list of float
        The mean loss of each epoch.
    validation_scores_, best_validation_score_ : list of float and float, or None
        R² on rows held out, after each epoch, and the best.
    sample_loss_ : float
        The loss at the end, with the penalty, of the first 2048 rows; of fewer, but at least 256, with more than 48 thousand weights.
    gradient_norm_ : float
        The length of its gradient.
    weight_sums_ : ndarray of shape (n_layers - 1, 2)
        The sums of the weights and of the offsets of each layer, by which a changed one is noticed.
    t_ : int
        Rows visited.
    target_mean_, target_scale_ : ndarray of shape (n_outputs,), or None
        What is added to what comes out of the network, after it was multiplied by the second; None without `scale_target`.
    n_layers_, n_outputs_ : int
        Layers, the input among them, and numbers that come out.
    out_activation_ : str
        What makes predictions of them: "identity", or "exp" with ``loss="poisson"``.
    n_iter_ : int
        Epochs made.
    ending_ : Ending
        Why training ended.
    certificate_ : Certificate
        What is claimed: that slopes are those of the loss and that training led down, not that the network is the best.

    Notes
    -----
    Targets far from zero or of very different size take long to reach: scale them, or set `scale_target`.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x = np.linspace(-1, 1, 21)[:, None]
    >>> model = qed.MLPRegressor(hidden_layer_sizes=5, activation="tanh", solver="lbfgs", alpha=0, random_state=0)
    >>> bool(model.fit(x, np.sin(3 * x[:, 0])).score(x, np.sin(3 * x[:, 0])) > 0.999)
    True
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        **MultiLayer.parameters,
        "loss": choice("squared_error", "poisson", kind="model"),
        "scale_target": boolean(kind="model"),
    }
    attributes: ClassVar = {
        "target_mean_": maybe(floats("_") | nothing()),
        "target_scale_": maybe(floats("_", above=0) | nothing()),
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"early_stopping": [True], "scale_target": [True]}
    compare_name: ClassVar[str] = "Multi-layer perceptron"
    target_mean_: Array | None = None
    target_scale_: Array | None = None

    def __init__(
        self,
        loss: str = "squared_error",
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Seed = None,
        tol: float = 1e-4,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: float = 10,
        warm_start: bool = False,
        scale_target: bool = False,
    ) -> None:
        self.loss, self.scale_target = loss, scale_target
        self._set(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @classmethod
    def _contends_on(cls, X: Array) -> bool:
        return len(X) >= 1000

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        return 20 * 6e-10 * n_rows * 100 * (n_columns + 11)

    def _loss_name(self, problem: NetworkProblem) -> str:
        return self.loss

    def _predicted_shape(self) -> tuple[int, ...]:
        outputs = getattr(self, "n_outputs_", 1)
        return (outputs,) if outputs > 1 else ()

    def _judged(self, network: Network, block: Block) -> Judged:
        X = as_dense(block.X)
        out = network.forward(np.asarray(X)).astype(np.float64)
        if self.loss == "poisson":
            out = np.exp(out)
        y, weight = np.asarray(block.y, dtype=np.float64).reshape(out.shape), block.weights
        spread = weight @ (y - weight @ y / weight.sum()) ** 2
        score = float(np.mean(1 - weight @ (out - y) ** 2 / np.where(spread > 0, spread, 1.0)))
        return Judged(score, score)

    def _units(self, known: bool) -> TargetUnits | bool:
        if self.scale_target and self.loss == "poisson":
            raise ParameterError(
                "scale_target=True is for loss='squared_error': with 'poisson' it is the logarithm of a count that is learned."
            )
        if not known:
            return self.scale_target
        mean, scale = self.target_mean_, self.target_scale_
        return False if mean is None or scale is None else TargetUnits(mean, scale)

    def _last_layer(self) -> tuple[Array, Array]:
        units, last = self._units(known=True), super()._last_layer()
        return units.inside(*last) if isinstance(units, TargetUnits) else last

    def _finish(self, problem: NetworkProblem, step: Step) -> None:
        super()._finish(problem, step)
        units = problem.units
        self.target_mean_, self.target_scale_ = (None, None) if units is None else (units.mean, units.scale)

    def _disagreement(self) -> str:
        sizes = {len(part) for part in (self.target_mean_, self.target_scale_) if part is not None}
        one = (self.target_mean_ is None) != (self.target_scale_ is None)
        return (
            "target_mean_ and target_scale_ do not fit" if one or sizes - {self.n_outputs_} else super()._disagreement()
        )

    def _predict(self, block: Block) -> np.ndarray:
        out = self._out(block)
        units = self._units(known=True)
        if isinstance(units, TargetUnits):
            out = units.back(out)
        if self.loss == "poisson":
            out = np.exp(out)
        return out[:, 0] if out.shape[1] == 1 else out

    @available_if(MultiLayer._has_partial_fit)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go through more rows, once, from where the weights are; rows of earlier calls are not visited again.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows.
        y : array-like of shape (n,) or (n, outputs), optional
            The values; not needed when `X` is Rows that know them.
        sample_weight : array-like of shape (n,), optional
            Their weights.

        Returns
        -------
        self
            The model. Its certificate is about the rows of this call.
        """
        return self._go_on(X, y, sample_weight, None)
