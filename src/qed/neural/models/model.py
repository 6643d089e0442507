r"""What both kinds of multi-layer perceptrons share: a chain of dense layers, trained by gradients of batches.

.. math:: f(x) = W_L\,\sigma(W_{L-1}\,\sigma(\dots\sigma(W_1 x + b_1)\dots) + b_{L-1}) + b_L .

What is made small is the mean loss of the rows plus half the penalty times the squared length of all weights (offsets have none), which is
divided by the number of rows of a batch. An epoch costs three products of the rows with the weights.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import each, floats, integers, maybe, nothing, text
from qed.base.certificate import Claim
from qed.base.errors import InputError, NotAvailableError, ParameterError
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import no_effect
from qed.base.models.parameters import Parameter, boolean, check_parameters, choice, integer, number, random_state
from qed.base.random import Seed, seed_of
from qed.base.running.callbacks import calling_back, iteration_callbacks
from qed.base.running.changing import changing
from qed.base.running.drive import drive
from qed.base.running.steps import Ending, Halt, Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.neural.engine.activations import activation
from qed.neural.engine.losses import LOSSES
from qed.neural.engine.node import Array
from qed.neural.layers.activation import Activation
from qed.neural.layers.dense import Dense
from qed.neural.layers.layer import Layer
from qed.neural.models.problem import NetworkProblem
from qed.neural.models.proof import claims_of, flat, following, looked_at, network_of, out_of, sums_of
from qed.neural.models.target_units import TargetUnits
from qed.neural.models.whole import descend
from qed.neural.network import Network
from qed.neural.training.epochs import Judged, Patience, epochs
from qed.neural.training.passes import Course
from qed.neural.training.schedules import Schedule
from qed.neural.training.updates import Update

MLP_NO_EFFECT = {
    "max_fun": no_effect(integer(1), 15000, "max_iter limits the steps, each of which looks for a length of its own"),
}


def _sizes(value: object) -> bool:
    parts = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
    return np.ndim(np.asarray(parts, dtype=object)) == 1 and all(map(integer(1).accepts, parts))


class MultiLayer(Iterative):
    """A chain of dense layers with one activation between them."""

    sparse: ClassVar[bool] = True
    passes: ClassVar[str] = "stream"
    keeps = "last"
    attributes: ClassVar = {
        "coefs_": each(floats("_", "_"), "stages"),
        "intercepts_": each(floats("_"), "stages"),
        "loss_": floats(),
        "best_loss_": floats() | nothing(),
        "loss_curve_": each(floats(finite=False)),
        "validation_scores_": maybe(each(floats()) | nothing()),
        "best_validation_score_": maybe(floats() | nothing()),
        "sample_loss_": floats(),
        "gradient_norm_": floats(low=0),
        "weight_sums_": floats("stages", 2),
        "t_": integers(),
        "n_layers_": integers(low=2),
        "n_outputs_": integers(low=1),
        "out_activation_": text(),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "hidden_layer_sizes": Parameter("a whole number >= 1 or several of them", _sizes, "model"),
        "activation": choice("identity", "logistic", "tanh", "relu", "leaky_relu", "piecewise_linear", kind="model"),
        "solver": choice("adam", "sgd", "lbfgs"),
        "alpha": number(0, kind="model"),
        "batch_size": integer(1) | choice("auto"),
        "learning_rate": choice("constant", "invscaling", "adaptive", "step", "exponential", "cosine"),
        "learning_rate_init": number(0, above=True),
        "power_t": number(0),
        "max_iter": integer(1),
        "shuffle": boolean(kind="optimization"),
        "random_state": random_state(),
        "tol": number(0),
        "momentum": number(0, high=1),
        "nesterovs_momentum": boolean(kind="optimization"),
        "early_stopping": boolean(kind="optimization"),
        "validation_fraction": number(0, above=True, high=1),
        "beta_1": number(0, high=1),
        "beta_2": number(0, high=1),
        "epsilon": number(0, above=True),
        "n_iter_no_change": integer(1) | choice(np.inf),
        "warm_start": boolean(kind="optimization"),
    }
    no_inference: ClassVar[str] = "its weights are one of many sets that do as well"
    coefs_: list[Array]
    intercepts_: list[Array]
    loss_: float
    best_loss_: float | None
    loss_curve_: list[float]
    validation_scores_: list[float] | None
    best_validation_score_: float | None
    sample_loss_: float
    gradient_norm_: float
    weight_sums_: Array
    t_: int
    n_layers_: int
    n_outputs_: int
    out_activation_: str
    hidden_layer_sizes: Any
    activation: str
    solver: str
    alpha: float
    batch_size: int | str
    learning_rate: str
    learning_rate_init: float
    power_t: float
    shuffle: bool
    random_state: Seed
    momentum: float
    nesterovs_momentum: bool
    early_stopping: bool
    validation_fraction: float
    beta_1: float
    beta_2: float
    epsilon: float
    n_iter_no_change: float
    warm_start: bool

    def _set(self, given: dict[str, Any]) -> None:
        """Keep the parameters that were given to the constructor."""
        for name in MultiLayer.parameters:
            setattr(self, name, given[name])

    @abstractmethod
    def _loss_name(self, problem: NetworkProblem) -> str:
        """Say which loss the network has."""

    @abstractmethod
    def _judged(self, network: Network, block: Block) -> Judged:
        """Judge the weights by rows that were held out."""

    @property
    def hidden_sizes(self) -> list[int]:
        """The number of neurons of each hidden layer."""
        given = self.hidden_layer_sizes
        return [int(size) for size in (given if isinstance(given, (list, tuple, np.ndarray)) else [given])]

    def _network(self, problem: NetworkProblem, dtype: type[np.floating], seed: int = 0) -> Network:
        """Make the network for a problem, with weights that a seed draws."""
        layers, columns = self._layers(problem.outputs), problem.rows.n_features
        return Network(layers, columns, loss=self._loss_name(problem), random_state=seed, dtype=dtype)

    def _layers(self, outputs: int) -> list[Layer]:
        """Make the layers, the last with so many outputs."""
        hidden = [(Dense(size), Activation(self.activation)) for size in self.hidden_sizes]
        return [*(layer for pair in hidden for layer in pair), Dense(outputs)]

    def network(self) -> Network:
        """Give the fitted network in double precision, to look into it with the tools of :mod:`qed.neural.seeing` or to train it further.

        Returns
        -------
        Network
            The layers with copies of the weights; what comes out of it is what goes into softmax or the logistic function.
        """
        self._check_fitted()
        loss = next((name for name in LOSSES if out_of(name) == self.out_activation_), "squared_error")
        made = Network(self._layers(self.n_outputs_), self.n_features_in_, loss=loss, dtype=np.float64)
        coef, intercept = self._last_layer()
        made.vector[:] = flat([*self.coefs_[:-1], coef], [*self.intercepts_[:-1], intercept])
        return made

    def _last_layer(self) -> tuple[Array, Array]:
        """Give the weights and offsets of the last layer, as predictions need them."""
        return self.coefs_[-1], self.intercepts_[-1]

    def _units(self, known: bool) -> TargetUnits | bool:
        """Give the units in which a target is learned, those known already where the network goes on; or whether to look for some."""
        return False

    def _problem(self, rows: Rows) -> NetworkProblem:
        return NetworkProblem(rows.cached(), self, units=self._units(self._goes_on()))

    def _evidence(self, rows: Rows) -> NetworkProblem:
        return NetworkProblem(rows, self, getattr(self, "classes_", None), self._units(True))

    def _rule(self) -> Rule:
        # The first step is an epoch already.
        return Rule(tol=self.tol if self.solver == "lbfgs" else 0.0, max_iter=self._most_steps(), keep=self._keep())

    def _most_steps(self) -> int:
        return self.max_iter if self.solver == "lbfgs" else self.max_iter - 1

    def _keep(self) -> Any:
        return "best" if self.solver == "lbfgs" else "last"

    def _update_rule(self) -> Update:
        if self.solver == "adam":
            return Update("adam", beta_1=self.beta_1, beta_2=self.beta_2, epsilon=self.epsilon)
        kind = "sgd" if self.momentum == 0 else "nesterov" if self.nesterovs_momentum else "momentum"
        return Update(kind, momentum=self.momentum)

    def _batch(self, count: int) -> int:
        return min(200 if self.batch_size == "auto" else int(self.batch_size), count)

    def _penalty(self, problem: NetworkProblem) -> float:
        """Give the factor of the squared weights in the objective: the penalty over the weight of a batch."""
        count, total = problem.rows.count(), problem.total
        return self.alpha / (total if self.solver == "lbfgs" else total * self._batch(count) / count)

    def _steps(
        self, problem: NetworkProblem, start: Step | None = None, *, endless: bool = False
    ) -> Generator[Step, None, Halt]:
        seed = seed_of(self.random_state) if start is None else int(start.state.get("seed", 0))
        network = self._network(problem, problem.number, seed)
        if start is None and (self.warm_start or endless) and hasattr(self, "coefs_"):
            network.vector[:] = flat(self.coefs_, self.intercepts_)
        if self.solver == "lbfgs":
            return (yield from descend(network, problem, self._penalty(problem), start))
        rows: Rows = problem.held
        judge = None
        if self.early_stopping:
            rows, block = problem.held_out(self.validation_fraction, seed)
            judge = partial(self._judged, network, block)
        course = Course.of(
            network,
            rows,
            batch=self._batch(rows.count()),
            update=self._update_rule(),
            penalty=self.alpha,
            shuffle=self.shuffle,
            seed=seed,
        )
        kind = self.learning_rate if self.solver == "sgd" or self.learning_rate not in _SGD_ONLY else "constant"
        schedule = Schedule(kind, self.learning_rate_init, self.power_t, self.max_iter)
        patience = Patience(np.inf if endless else self.n_iter_no_change, self.tol, judge)
        return (yield from epochs(course, schedule, patience, start))

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "coefs_")

    def _solve(self, problem: NetworkProblem) -> None:
        if self._goes_on():
            self._check_same_network(problem)
            if (last := self._last_epoch()) is not None:
                self._make_epochs(problem, last, self.max_iter)
                self.n_iter_ -= int(last.epoch)
                return
        super()._solve(problem)

    def _last_epoch(self) -> Step | None:
        """Give the step where the weights are, with what its rule of updates remembers; none where the rule is another now."""
        ending = getattr(self, "ending_", None)
        last = None if ending is None else ending.last or ending.step
        if self.solver == "lbfgs" or last is None or "second" not in last.state:
            return None
        if len(last.second) != (len(last.vector) if self.solver == "adam" else 0):
            return None
        # Whether epochs get anywhere is judged anew.
        made = Step(last.objective, last.gap, last.number, **{**last.state, "still": 0})
        made.past = last.past
        return made

    def _make_epochs(self, problem: NetworkProblem, start: Step | None, count: int, *, endless: bool = False) -> None:
        """Make so many more epochs from a step, and keep what they end with."""
        most = count - 1 + (0 if start is None else start.number + 1)
        steps, watchers = partial(self._steps, problem, endless=endless), iteration_callbacks(self, problem)
        self._conclude(problem, drive(self, steps, Rule(0.0, most, keep="last"), start, watchers))

    def _check_same_network(self, problem: NetworkProblem) -> None:
        """Refuse to go on from weights of another network."""
        known = known_before(self)
        if problem.classes is not None and problem.classes.tolist() != known:
            raise InputError(
                f"warm_start=True goes on with the classes of the last fit, {known}, and y has {problem.classes.tolist()}: set it to "
                "False to begin anew."
            )
        sizes = [problem.rows.n_features, *self.hidden_sizes, problem.outputs]
        if [coef.shape for coef in self.coefs_] != list(pairwise(sizes)):
            raise InputError(
                f"warm_start=True goes on with the weights of the last fit, of shapes {[coef.shape for coef in self.coefs_]}, and now "
                f"layers have {sizes} neurons: set it to False to begin anew."
            )

    def _finish(self, problem: NetworkProblem, step: Step) -> None:
        network = self._network(problem, problem.number)
        state = step.state
        best = self.early_stopping and self.solver != "lbfgs" and len(state["kept"]) > 0
        network.vector[:] = state["kept"] if best else state.get("vector", state.get("point"))
        if not np.isfinite(network.vector).all():
            raise InputError(
                f"{type(self).__name__}: the weights overflowed in epoch {len(state.get('losses', [0]))}. Scale the columns, for example "
                f"with qed.StandardScaler, or take learning_rate_init={self.learning_rate_init / 10:g}."
            )
        arrays = list(network.parameters.values())
        self.coefs_ = [array.copy() for array in arrays[::2]]
        self.intercepts_ = [array.copy() for array in arrays[1::2]]
        self.loss_curve_ = [float(loss) for loss in state.get("losses", [step.objective])]
        self.loss_ = self.loss_curve_[-1]
        self.best_loss_ = None if best else min(self.loss_curve_)
        self.validation_scores_ = [float(score) for score in state["scores"]] if best else None
        self.best_validation_score_ = max(self.validation_scores_) if self.validation_scores_ else None
        self.t_ = int(state.get("visited", 0))
        self.n_layers_, self.n_outputs_ = len(self.coefs_) + 1, problem.outputs
        self._tell(problem)

    def _tell(self, problem: NetworkProblem) -> None:
        """Set what is said of the weights."""
        exact = network_of(self, problem)
        self.out_activation_ = out_of(exact.loss)
        with np.errstate(all="ignore"):
            loss, gradient = looked_at(exact, problem, self._penalty(problem))
            self.sample_loss_, self.gradient_norm_ = loss, float(np.linalg.norm(gradient))
        self.weight_sums_ = sums_of(self.coefs_, self.intercepts_)[0]

    def _conclude(self, problem: NetworkProblem, ending: Ending) -> None:
        super()._conclude(problem, ending)
        self.n_iter_ = max(1, int(ending.step.state.get("epoch", ending.n_iter)))

    def _prove(self, problem: NetworkProblem) -> list[Claim]:
        return claims_of(self, problem, self._penalty(problem))

    def _restate(self, problem: NetworkProblem) -> list[Claim]:
        return following(self, problem)

    def _advice(self) -> str:
        return f"Scaling the columns, or learning_rate_init={self.learning_rate_init / 10:g}, often helps."

    def _out(self, block: Block) -> Array:
        """Give what comes out of the last layer for the rows of a block."""
        made = block.X
        for layer, (coef, intercept) in enumerate(zip(self.coefs_, self.intercepts_, strict=True)):
            made = np.asarray(made @ coef.astype(block.X.dtype, copy=False)) + intercept.astype(
                block.X.dtype, copy=False
            )
            if layer < len(self.coefs_) - 1:
                made = activation(self.activation).forward(made)
        return np.asarray(made)

    def _disagreement(self) -> str:
        if not self.coefs_ or len(self.coefs_) != len(self.intercepts_):
            return f"coefs_ has {len(self.coefs_)} arrays, intercepts_ {len(self.intercepts_)}"
        sizes = [coef.shape for coef in self.coefs_]
        for (_, outputs), (inputs, _) in pairwise(sizes):
            if outputs != inputs:
                return f"the layers of coefs_ do not fit each other: {sizes}"
        if [len(offset) for offset in self.intercepts_] != [outputs for _, outputs in sizes]:
            return "intercepts_ do not fit coefs_"
        return "" if sizes[0][0] == self.n_features_in_ else "coefs_ do not fit the columns"

    def _has_partial_fit(self) -> bool:
        """Refuse where all rows are looked at together."""
        if self.solver == "lbfgs":
            raise NotAvailableError("solver='lbfgs' looks at all rows at once: take 'adam' or 'sgd' for partial_fit.")
        return True

    def _go_on(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        """Go through more rows, once, from where the weights are."""
        check_parameters(self, self.parameters)
        if self.early_stopping:
            raise NotAvailableError(
                "partial_fit does not support early_stopping=True, which holds rows out of all there are: call fit, or set it to False."
            )
        first = not hasattr(self, "coefs_")
        with changing(self, anew=first), calling_back(self, X, y, sample_weight):
            rows = self._open(X, y, sample_weight, reset=first, target=self.target).cached()
            known = getattr(self, "classes_", None) if classes is None else np.unique(classes)
            if known is not None and hasattr(self, "classes_") and known.tolist() != known_before(self):
                raise ParameterError("classes are not those of the first call of partial_fit.")
            problem = NetworkProblem(rows, self, known, self._units(not first))
            self._make_epochs(problem, None if first else self._last_epoch(), 1, endless=True)
        return self


def known_before(model: MultiLayer) -> list[object]:
    """Give the classes that a model knows already."""
    return list(getattr(model, "classes_", np.zeros(0)).tolist())


_SGD_ONLY = ("invscaling", "adaptive")
