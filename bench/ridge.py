"""Ridge on 200 000 x 100."""

import qed
from bench.harness import Contestant, Workload
from bench.tables import squared_error, tall


def workload() -> Workload:
    from sklearn.linear_model import Ridge
    from sklearnex.linear_model import Ridge as Intel

    X, y = tall()

    def judge(model):
        return squared_error(X, y, model.coef_, model.intercept_, alpha=1.0)

    return Workload(
        "Ridge, 200 000 x 100",
        "Ridge with alpha = 1 and intercept, float64. Objective: penalised squared error over the number of rows.",
        [
            Contestant("qed", lambda: qed.Ridge(alpha=1.0).fit(X, y), judge),
            Contestant("scikit-learn-intelex", lambda: Intel(alpha=1.0).fit(X, y), judge),
            Contestant("scikit-learn", lambda: Ridge(alpha=1.0).fit(X, y), judge, rounds=3),
        ],
        rounds=15,
    )
