"""Least squares on 200 000 x 100."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import squared_error, tall


def workload() -> Workload:
    import statsmodels.api as sm
    from sklearn.linear_model import LinearRegression
    from sklearnex.linear_model import LinearRegression as Intel

    X, y = tall()

    def judge(model):
        return squared_error(X, y, model.coef_, model.intercept_)

    def statsmodels():
        return sm.OLS(y, sm.add_constant(X)).fit(method="qr").params

    return Workload(
        "LinearRegression, 200 000 x 100",
        "Least squares with intercept, float64, with the condition guard on. Objective: mean squared error.",
        [
            Contestant("qed", lambda: qed.LinearRegression().fit(X, y), judge),
            Contestant("scikit-learn-intelex", lambda: Intel().fit(X, y), judge),
            Contestant("scikit-learn", lambda: LinearRegression().fit(X, y), judge, rounds=3),
            Contestant("statsmodels", statsmodels, lambda w: squared_error(X, y, w[1:], np.array([w[0]])), rounds=2),
        ],
        rounds=15,
    )
