"""What results look like in a notebook and when they are printed, and that nothing from the data gets into their HTML unescaped."""

import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import qed
from qed.base.errors import InputError, ParameterError, SavingError
from qed.base.visible import html_table, text_table
from qed.report.explanation import explanation_of

EVIL = "<script>alert('x')</script>\x1b[2J"
X, y = qed.data.load("diabetes").Xy()
FEW = X[:80], y[:80]


def evil_table():
    return {EVIL: FEW[0][:, 0], "b": FEW[0][:, 1], "y": FEW[1]}


def watched():
    with qed.watch() as seen:
        qed.KMeans(3, random_state=0).fit(X)
    return seen.trace


def classes():
    iris, species = qed.data.load("iris").Xy()
    evil = np.where(species == species[0], EVIL, "other")
    return qed.classification_report(evil, evil)


RESULTS = {
    "certificate": lambda: qed.Ridge().fit(*FEW).certificate_,
    "inference": lambda: qed.LinearRegression().fit(qed.rows(evil_table(), target="y")).inference_,
    "ridge path": lambda: qed.ridge_path(*FEW, alphas=[0.1, 1.0]),
    "lasso path": lambda: qed.lasso_path(*FEW, alphas=[0.1, 1.0]),
    "kernel ridge path": lambda: qed.kernel_ridge_path(*FEW, alphas=[0.1, 1.0]),
    "k-means path": lambda: qed.kmeans_path(X[:60], [2, 3]),
    "spectral path": lambda: qed.spectral_path(X[:60], [2, 3]),
    "mixture path": lambda: qed.mixture_path(X[:60, :2], [1, 2]),
    "trace": watched,
    "ending": lambda: qed.KMeans(3, random_state=0).fit(X).ending_,
    "minimum": lambda: qed.optim.minimize(lambda w: (w[0] - 1) ** 2 + (w[1] + 2) ** 2, [0.0, 0.0]),
    "cross-validation": lambda: qed.cross_validate(qed.Ridge(), *FEW),
    "learning curve": lambda: qed.learning_curve(qed.Ridge(), *FEW),
    "validation curve": lambda: qed.validation_curve(qed.Ridge(), *FEW, "alpha", [0.1, 1.0]),
    "classification report": classes,
    "comparison": lambda: qed.compare(qed.rows(evil_table(), target="y")),
    "columns": lambda: qed.compare(qed.rows(evil_table(), target="y"), models=["Ridge"]).columns,
    "coverage": lambda: qed.Conformal(qed.Ridge()).fit(*FEW).coverage(*FEW),
    "nested": lambda: qed.nested_cross_validate(qed.Search(qed.Ridge(), {"alpha": [0.1, 1.0]}), *FEW),
}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.open = set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_readable_as_text_and_as_html(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = RESULTS[name]()
    text, html = str(result), result._repr_html_()
    assert repr(result) == text
    for dump in ("array(", "Step(", f"{type(result).__name__}(", "object at 0x", "\x1b"):
        assert dump not in text
    parser = Tags()
    parser.feed(html)
    assert not parser.open
    assert parser.seen <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "p", "br"}
    assert "\x1b" not in html


def test_names_from_data_are_escaped():
    assert "&lt;script&gt;" in RESULTS["inference"]()._repr_html_()
    assert "&lt;script&gt;" in classes()._repr_html_()
    claim = qed.Certificate([qed.Claim(EVIL, 0.0, 1.0)])
    assert "<script" not in claim._repr_html_() and "&lt;script&gt;" in claim._repr_html_()
    assert "<script" not in html_table([EVIL], [[EVIL]], EVIL)
    assert "\x1b" not in text_table([EVIL], [[EVIL]])


def test_long_tables_are_cut_and_counted():
    assert "... and 40 more" in text_table(["n"], [[str(k)] for k in range(100)])
    assert "... and 40 more" in html_table(["n"], [[str(k)] for k in range(100)])


def test_the_minimiser_is_printed():
    assert "minimum" in str(RESULTS["minimum"]()) and "[ 1., -2.]" in str(RESULTS["minimum"]())


def test_a_trace_is_drawn_with_labels_legend_and_whole_iterations():
    ax = watched().plot()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("iteration", "objective", "KMeans")
    assert ax.get_legend() is not None
    ticks = ax.get_xticks()
    assert (ticks == np.round(ticks)).all()
    assert min(ax.lines[0].get_xdata()) == 0


def test_pipelines_and_searches_are_certified_explained_saved_and_walked_through(tmp_path):
    pipe = make_pipeline(qed.StandardScaler(), qed.Ridge()).fit(*FEW)
    search = qed.Search(qed.Ridge(), {"alpha": [0.1, 1.0]}).fit(*FEW)
    grid = GridSearchCV(qed.Ridge(), {"alpha": [0.1, 1.0]}).fit(*FEW)
    for one in (pipe, search, grid):
        assert qed.certify(one, *FEW)
        assert explanation_of(one).kind == "Ridge"
    assert explanation_of(qed.Conformal(qed.Ridge()).fit(*FEW)).kind == "Ridge"
    for one in (pipe, search):
        qed.save(one, tmp_path / "model.qed")
        np.testing.assert_array_equal(qed.load(tmp_path / "model.qed").predict(X), one.predict(X))
    with pytest.raises(SavingError, match=r"qed.save\(search.best_estimator_, path\)"):
        qed.save(grid, tmp_path / "model.qed")
    walk = qed.steps(make_pipeline(qed.StandardScaler(), qed.KMeans(3, random_state=0)), X)
    direct = qed.steps(qed.KMeans(3, random_state=0), qed.StandardScaler().fit_transform(X))
    assert next(walk).objective == next(direct).objective
    with pytest.raises(InputError, match="its solution comes at once"):
        qed.steps(pipe, *FEW)
    for one in (search, grid):
        with pytest.raises(InputError, match=r"qed.steps\(search.best_estimator_"):
            qed.steps(one, *FEW)
    with pytest.raises(InputError, match="nothing to explain"):
        explanation_of(make_pipeline(qed.StandardScaler(), "passthrough"))


def test_functions_of_single_parameters_are_fitted_as_in_scipy():
    from scipy.optimize import curve_fit

    def cooling(x, room, excess, rate):
        return room + excess * np.exp(-rate * x)

    minutes = np.arange(10.0)
    tea = np.array([90.2, 77.9, 67.4, 59.3, 52.2, 46.7, 41.8, 38.2, 35.1, 32.3])
    model = qed.NonlinearLeastSquares(cooling, [20.0, 50.0, 0.1]).fit(minutes[:, None], tea)
    wanted, covariance = curve_fit(cooling, minutes, tea, [20.0, 50.0, 0.1])
    # SciPy stops at a relative change of 1e-8.
    np.testing.assert_allclose(model.coef_, wanted, rtol=1e-5)
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-3)
    assert tuple(model.parameter_names_) == ("room", "excess", "rate")
    assert qed.certify(model, minutes[:, None], tea)

    def plane(x, a, b):
        return a * x[0] + b * x[1]

    table = np.random.default_rng(0).standard_normal((20, 2))
    found = qed.NonlinearLeastSquares(plane).fit(table, table @ [2.0, -3.0])
    np.testing.assert_allclose(found.coef_, [2.0, -3.0], rtol=1e-9)
    with pytest.raises(ParameterError, match="start must be a number for each parameter"):
        qed.NonlinearLeastSquares(lambda X, w: X @ w).fit(table, table[:, 0])
    with pytest.raises(ParameterError, match=r"start has 1 numbers for the 2 parameters of the function \(a, b\)"):
        qed.NonlinearLeastSquares(plane, [1.0]).fit(table, table[:, 0])
