"""Trees on bins from every source: edges, codes and models bit for bit those of the same rows in memory, which never hold all features."""

import dask.array as dask_array
import dask.dataframe as dask_frame
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qed
from qed.base.sources.rows import ArrayRows, Rows
from qed.trees.problem import ClassTreeProblem
from tests.conformance.test_same_answer import learned

generator = np.random.default_rng(0)
X = generator.standard_normal((120, 3)).round(1)
X[:, 2] = (10 * X[:, 2] % 7).round()
X[generator.random(X.shape) < 0.05] = np.nan
SCORE = np.nan_to_num(X[:, 0]) + (np.nan_to_num(X[:, 1]) > 0) + 0.1 * generator.standard_normal(120)
LABEL = (SCORE > 0.5).astype(int)
WEIGHT = generator.integers(0, 3, 120).astype(float)
SOURCES = ["blocks", "parquet", "dask array", "dask frame"]
MODELS = {
    "random forest": lambda: qed.RandomForestClassifier(2, oob_score=True, random_state=0),
    "extra trees": lambda: qed.ExtraTreesRegressor(2, max_depth=3, random_state=0),
    "tree": lambda: qed.DecisionTreeClassifier(max_bins=12),
    "tree of numbers": lambda: qed.DecisionTreeRegressor(max_bins=255, max_depth=3),
    "forest of categories": lambda: qed.RandomForestRegressor(2, categorical_features=[2], random_state=0),
    "extra trees of categories": lambda: qed.ExtraTreesClassifier(2, categorical_features=[2], random_state=0),
    "tree of categories": lambda: qed.DecisionTreeClassifier(max_bins=12, categorical_features=[2]),
    "boosting": lambda: qed.GradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
}


def rows_of(kind, y, folder):
    if kind == "blocks":
        return ArrayRows(X, y, WEIGHT, size=32)
    if kind == "dask array":
        parts = [dask_array.from_array(one, chunks=(50, *one.shape[1:])) for one in (X, y, WEIGHT)]
        return qed.rows(*parts[:2], sample_weight=parts[2])
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y, "weight": WEIGHT})
    if kind == "parquet":
        pq.write_table(pa.Table.from_pandas(frame), folder / "table.parquet", row_group_size=33)
        frame = folder / "table.parquet"
    else:
        frame = dask_frame.from_pandas(frame, npartitions=3)
    return qed.rows(frame, target="y", sample_weight="weight")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", SOURCES)
def test_models_on_bins_are_the_same_from_every_source(name, kind, tmp_path, monkeypatch):
    model = MODELS[name]()
    y = LABEL if model.target == "label" else SCORE
    expected = model.fit(X, y, sample_weight=WEIGHT)
    rows = rows_of(kind, y, tmp_path)
    monkeypatch.setattr(Rows, "array", refused)
    found = MODELS[name]().fit(rows)
    for place, value in learned(expected).items():
        # The fingerprint of the rows is a sum over blocks.
        if "fingerprint" not in place:
            np.testing.assert_array_equal(learned(found)[place], value, err_msg=place)
    assert qed.certify(found, rows) and str(found.certificate_) == str(expected.certificate_)


def test_a_tree_on_bins_is_the_exact_one_where_values_are_few_and_a_cut_one_is_noticed():
    for kind, y in ((qed.DecisionTreeClassifier, LABEL), (qed.DecisionTreeRegressor, SCORE)):
        model, exact = (
            kind(max_bins=255, min_impurity_decrease=0.001).fit(X, y),
            kind(min_impurity_decrease=0.001).fit(X, y),
        )
        for name in ("feature", "children_right", "n_node_samples", "value", "impurity"):
            np.testing.assert_array_equal(getattr(model.tree_, name), getattr(exact.tree_, name), err_msg=name)
        assert qed.certify(model, X, y)
        coarse = kind(max_bins=3).fit(X, y)
        assert coarse.bins_.counts.max() == 3 and coarse.certificate_
        assert len(coarse.cost_complexity_pruning_path(X, y).ccp_alphas) > 1
        collapsed = np.zeros(coarse.tree_.node_count, dtype=bool)
        collapsed[1] = True
        coarse.tree_ = coarse.tree_.kept(collapsed)
        certificate = qed.certify(coarse, X, y)
        assert not certificate and any(
            claim.says.startswith("leaves that") and not claim.holds for claim in certificate.claims
        )


def refused(self):
    raise AssertionError("all features are asked for")


def test_edges_of_a_sample_are_those_of_its_rows(monkeypatch, tmp_path):
    monkeypatch.setattr("qed.trees.bins.LEARNED", 40)
    expected = ClassTreeProblem(qed.rows(X, LABEL, sample_weight=WEIGHT), qed.RandomForestClassifier())
    bins = expected.bins(9)
    assert bins.counts.max() == 9
    for kind in SOURCES:
        problem = ClassTreeProblem(rows_of(kind, LABEL, tmp_path), qed.RandomForestClassifier())
        np.testing.assert_array_equal(problem.bins(9).edges, bins.edges, err_msg=kind)
        np.testing.assert_array_equal(problem.codes(bins), bins.codes(expected.X).T, err_msg=kind)
