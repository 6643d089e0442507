r"""The multi-layer perceptron that tells classes.

.. math:: \min_{W, b}\ \frac1n \sum_i \Big(\log\sum_k e^{f_k(x_i)} - f_{y_i}(x_i)\Big) + \frac{\alpha}{2 m} \|W\|^2

for a network :math:`f` with one output for each class (softmax and cross-entropy); for two classes it has a single output, and the
logistic function takes the place of softmax. Where a row may have several labels, each of them has an output and a yes or no of its own:
their logarithmic losses are added. :math:`m` is the number of rows of a batch. The loss is not convex: what is found depends on
the seed, and nothing is claimed about how good it could be.

Rumelhart, Hinton and Williams (1986); Kingma and Ba (2015), Adam.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError
from qed.base.models.no_effect import takes
from qed.base.models.proof import restated
from qed.base.models.roles import Classifier, available_if
from qed.base.random import Seed
from qed.base.running.steps import Step
from qed.base.sources.block import Block, as_dense
from qed.neural.engine.activations import softmax
from qed.neural.engine.losses import loss_named
from qed.neural.engine.node import Array
from qed.neural.models.model import MLP_NO_EFFECT, MultiLayer
from qed.neural.models.problem import NetworkProblem
from qed.neural.network import Network
from qed.neural.training.epochs import Judged


@takes("verbose", **MLP_NO_EFFECT)
class MLPClassifier(Classifier, MultiLayer):  # type: ignore[misc]
    """Classes by a network of dense layers, or several labels for each row by one network.

    Labels in several columns, zeros and ones, are told by a network that has an output for each of them; ``predict`` gives such columns,
    and ``predict_proba`` the probability of each label, which need not add up to one.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        How many neurons each hidden layer has; an empty sequence is logistic regression.
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
        Training ends when the loss, or that of rows held out, has not become better by this for `n_iter_no_change` epochs.
    momentum : float, default=0.9
        The share of the last move that "sgd" keeps.
    nesterovs_momentum : bool, default=True
        Whether it looks ahead.
    early_stopping : bool, default=False
        Whether rows are held out, whose mean loss decides when to end; the weights with the least are kept.
    validation_fraction : float, default=0.1
        The share of rows held out.
    beta_1, beta_2, epsilon : float
        The constants of Adam.
    n_iter_no_change : int or infinity, default=10
        How many epochs may go by without getting better.
    warm_start : bool, default=False
        Whether `fit` goes on where the last fit ended, for at most `max_iter` more epochs: with the same data and nothing that ends
        it early, two fits are to the bit one fit of twice as many epochs. `n_iter_` counts those of the last fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; the numbers of the columns, where a row may have several labels.
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
        The accuracy on rows held out, after each epoch, and the best; a row with several labels counts where all are right.
    sample_loss_ : float
        The loss at the end, with the penalty, of the first 2048 rows; of fewer, but at least 256, with more than 48 thousand weights.
    gradient_norm_ : float
        The length of its gradient.
    weight_sums_ : ndarray of shape (n_layers - 1, 2)
        The sums of the weights and of the offsets of each layer, by which a changed one is noticed.
    t_ : int
        Rows visited.
    n_layers_, n_outputs_ : int
        Layers, the input among them, and numbers that come out.
    out_activation_ : str
        What makes probabilities of them.
    n_iter_ : int
        Epochs made.
    ending_ : Ending
        Why training ended.
    certificate_ : Certificate
        What is claimed: that slopes are those of the loss and that training led down, not that the network is the best.

    Notes
    -----
    A weight counts as that many rows in the loss. With batches that hold all rows it is a repetition to the last digits; with smaller ones
    it is so on average, since a row that is there twice may come in two batches.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), ["same", "same", "other", "other"]
    >>> model = qed.MLPClassifier(4, activation="tanh", solver="lbfgs", random_state=1).fit(X, y)
    >>> model.score(X, y), [coef.shape for coef in model.coefs_]
    (1.0, [(2, 4), (4, 1)])
    >>> Y = np.column_stack([X.max(axis=1), X.min(axis=1)]).astype(int)  # whether any is one, and whether all are
    >>> qed.MLPClassifier(4, activation="tanh", solver="lbfgs", random_state=1).fit(X, Y).predict(X[:3])
    array([[0, 0],
           [1, 1],
           [1, 0]])
    """

    compare_grid: ClassVar[Mapping[str, Any]] = {"early_stopping": [True]}
    compare_name: ClassVar[str] = "Multi-layer perceptron"

    def __init__(
        self,
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
    ) -> None:
        self._set(locals())

    @classmethod
    def _contends_on(cls, X: Array) -> bool:
        return len(X) >= 1000

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        return 20 * 6e-10 * n_rows * 100 * (n_columns + n_classes + 10)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _loss_name(self, problem: NetworkProblem) -> str:
        return "log_loss" if problem.several or problem.outputs == 1 else "cross_entropy"

    @property
    def _tells_several(self) -> bool:
        """Whether a row may have several labels."""
        return self.out_activation_ == "logistic" and self.n_outputs_ > 1

    def _predicted_shape(self) -> tuple[int, ...]:
        return (self.n_outputs_,) if self._tells_several else ()

    def _judged(self, network: Network, block: Block) -> Judged:
        X = as_dense(block.X)
        out, y = network.forward(np.asarray(X)), np.asarray(block.y)
        if y.ndim == 2:
            right = ((out > 0) == (y > 0)).all(axis=1)
        else:
            right = y == (out[:, 0] > 0 if out.shape[1] == 1 else out.argmax(axis=1))
        loss = loss_named(network.loss)(y, block.weights).forward(out.astype(np.float64))
        return Judged(float(block.weights @ right / block.weights.sum()), -float(loss))

    def _finish(self, problem: NetworkProblem, step: Step) -> None:
        assert problem.classes is not None
        self.classes_ = problem.classes
        super()._finish(problem, step)

    def _decide(self, block: Block) -> np.ndarray:
        out = self._out(block)
        return out[:, 0] if out.shape[1] == 1 else out

    def _choose(self, block: Block) -> np.ndarray:
        return (self._decide(block) > 0).astype(np.int64) if self._tells_several else super()._choose(block)

    def _probabilities(self, block: Block) -> np.ndarray:
        out = self._out(block)
        if self.out_activation_ == "softmax":
            return softmax(out)
        return expit(out) if self._tells_several else np.hstack([expit(-out), expit(out)])

    def decide(self, X: Any, costs: Any) -> np.ndarray:
        if getattr(self, "coefs_", None) and self._tells_several:
            raise NotAvailableError(
                "decide chooses one class, and a row may have several labels here: compare each column of predict_proba with "
                "cost of a false yes / (cost of a false yes + cost of a false no)."
            )
        return super().decide(X, costs)

    def _restate(self, problem: NetworkProblem) -> list[Claim]:
        found = super()._restate(problem)
        return [*found, restated("classes_", self.classes_, problem.classes)] if problem.several else found

    def _disagreement(self) -> str:
        outputs, k = len(self.intercepts_[-1]) if self.intercepts_ else 0, len(self.classes_)
        if k < 2 or outputs != (1 if k == 2 and not self._tells_several else k):
            return f"the last layer has {outputs} outputs for {k} classes"
        return super()._disagreement()

    @available_if(MultiLayer._has_partial_fit)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None) -> Self:
        """Go through more rows, once, from where the weights are; rows of earlier calls are not visited again.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows.
        y : array-like of shape (n,) or (n, classes), optional
            Their labels; or, for several to a row, a column of zeros and ones for each; not needed when `X` is Rows that know them.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        classes : array-like, optional
            All classes there may be, for the first call; by default those of its rows.

        Returns
        -------
        self
            The model. Its certificate is about the rows of this call.
        """
        return self._go_on(X, y, sample_weight, classes)
