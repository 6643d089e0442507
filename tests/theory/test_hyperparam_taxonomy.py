"""hyperparam-taxonomy: every parameter says whether it shapes the model or the way it is found."""

import qed


def test_degree_shapes_the_model_and_the_penalty_the_search_for_it():
    assert qed.PolynomialFeatures.parameters["degree"].kind == "model"
    assert qed.Ridge.parameters["alpha"].kind == "optimization"
    assert qed.KMeans.parameters["n_clusters"].kind == "model"
    assert qed.GradientRidge.parameters["max_iter"].kind == "optimization"


def test_no_fit_sets_a_hyperparameter():
    model = qed.Ridge(alpha=3.0)
    before = model.get_params()
    model.fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0])
    assert model.get_params() == before
