"""`TableModel`: an encoder and a model that are fitted, checked, saved and used as one."""

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LinearRegression

import qed
from qed.base.errors import InputError, NotAvailableError, NotFittedError, ParameterError
from qed.base.models.parameters import anything


@pytest.fixture(scope="module")
def table():
    return qed.data.load("penguins").table


def labelled(table):
    return table.filter(table["sex"].is_valid())


def by_hand(table, target):
    encoder = qed.ColumnEncoder().fit(table.drop([target]))
    Z = encoder.transform(table.drop([target]))
    return qed.StandardScaler().fit(Z).transform(Z)


def test_it_is_the_encoder_the_scaler_and_the_model_in_turn(table):
    data = labelled(table)
    model = qed.TableModel(qed.LogisticRegression()).fit(qed.rows(data, target="sex"))
    Z, y = by_hand(data, "sex"), np.array(data["sex"].to_pylist())
    inner = qed.LogisticRegression().fit(Z, y)
    np.testing.assert_allclose(model.model_.coef_, inner.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(data.drop(["sex"])), inner.predict(Z))
    np.testing.assert_allclose(model.predict_proba(data.drop(["sex"])), inner.predict_proba(Z), rtol=1e-9)
    assert model.target_name_ == "sex" and model.classes_.tolist() == ["female", "male"]
    assert model.score(qed.rows(data, target="sex")) == pytest.approx(inner.score(Z, y))


def test_every_way_to_give_the_table_gives_the_same_model(table, tmp_path):
    data = labelled(table)
    pq.write_table(data, tmp_path / "p.parquet", row_group_size=50)
    X, y = data.drop(["body_mass_g"]), data["body_mass_g"].to_numpy()
    expected = qed.TableModel(qed.Ridge()).fit(qed.rows(data, target="body_mass_g"))
    for given in [
        (X, y),
        (X.to_pandas(), y),
        (qed.rows(tmp_path / "p.parquet", target="body_mass_g", block_size=64),),
    ]:
        model = qed.TableModel(qed.Ridge()).fit(*given)
        np.testing.assert_allclose(model.model_.coef_, expected.model_.coef_, rtol=1e-9)
        assert not expected.fingerprint_.difference(model.fingerprint_)
    np.testing.assert_allclose(
        model.predict(qed.rows(tmp_path / "p.parquet", columns=X.column_names, block_size=10)), expected.predict(X)
    )


def test_the_proof_covers_the_parts_and_objects_to_a_change_in_any(table):
    data = qed.rows(labelled(table), target="sex")
    model = qed.TableModel(qed.LogisticRegression()).fit(data)
    assert model.certificate_ and qed.certify(model, data)
    assert {claim.says.split(":")[0] for claim in model.certificate_} >= {"ColumnEncoder", "StandardScaler"}
    model.changes_[1].scale_[2] *= 1.001
    assert not qed.certify(model, data)


def test_it_survives_saving(table, tmp_path):
    data = qed.rows(labelled(table), target="sex")
    model = qed.TableModel(qed.LogisticRegression(), degree=2).fit(data)
    qed.save(model, tmp_path / "m.qed")
    again = qed.load(tmp_path / "m.qed")
    np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))
    assert (
        again.target_name_ == "sex"
        and qed.certify(again, data)
        and again.fingerprint_of(data).matches(again.fingerprint_)
    )


def test_degree_two_means_squares_and_products():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((100, 2)) + 3
    y = X[:, 0] * X[:, 1] + X[:, 1] ** 2
    model = qed.TableModel(qed.LinearRegression(), degree=2).fit(X, y)
    assert model.score(X, y) == pytest.approx(1.0)
    assert len(model.model_.coef_) == 5


def test_parts_can_be_chosen(table):
    data = qed.rows(labelled(table), target="body_mass_g")
    model = qed.TableModel(qed.LinearRegression(), encoder=qed.ColumnEncoder(full_rank=True), scale=False).fit(data)
    assert [type(part).__name__ for part in model.changes_] == ["ColumnEncoder"]
    assert (
        "standard" in str(type(model.inference_)) or len(model.inference_.coefficients) == len(model.model_.coef_) + 1
    )


def test_what_it_does_not_have_it_does_not_pretend_to_have(table):
    ridge = qed.TableModel(qed.Ridge())
    assert not hasattr(ridge, "predict_proba") and not hasattr(ridge, "decision_function")
    with pytest.raises(NotFittedError):
        ridge.predict(table)
    with pytest.raises(InputError, match="y to be passed"):
        ridge.fit(qed.rows(table))
    with pytest.raises(NotAvailableError):
        qed.TableModel(qed.Ridge()).fit(qed.rows(labelled(table), target="year")).inference_  # noqa: B018


def test_a_fingerprint_knows_its_rows(table):
    data = labelled(table)
    model = qed.TableModel(qed.MajorityClassifier()).fit(qed.rows(data, target="sex"))
    X = data.drop(["sex"])
    assert model.fingerprint_.matches(model.fingerprint_of(X))
    assert "rows then" in model.fingerprint_.difference(model.fingerprint_of(X.slice(1)))
    heavier = X.set_column(
        X.column_names.index("body_mass_g"), "body_mass_g", pa.array(X["body_mass_g"].to_numpy() + 1.0)
    )
    assert "other values" in model.fingerprint_.difference(model.fingerprint_of(heavier))


def test_clusters_of_a_mixed_table(table):
    model = qed.TableModel(qed.KMeans(3, random_state=0)).fit(table)
    assert model.predict(table).tolist() == model.model_.labels_.tolist()
    assert model.certificate_ and qed.certify(model, table)


class Attentive(qed.MajorityClassifier):
    """A classifier that takes holes and levels, and keeps what it was told of them."""

    missing, takes_categories = True, True
    parameters: ClassVar = {"categorical_features": anything("a list of columns")}

    def __init__(self, *, categorical_features=None):
        self.categorical_features = categorical_features


def test_a_model_that_takes_holes_sees_the_table_as_it_is(table, tmp_path):
    data, features = qed.rows(table, target="species"), table.drop(["species"])
    model = qed.TableModel(qed.RandomForestClassifier(5, random_state=0)).fit(data)
    assert [type(part).__name__ for part in model.changes_] == ["ColumnEncoder"]
    seen, names = model.encoded(features).array().X, model.model_.feature_names_in_.tolist()
    assert names == features.column_names
    for name in ("bill_length_mm", "sex"):
        holes = table[name].is_null().to_numpy()
        assert holes.any()
        np.testing.assert_array_equal(np.isnan(seen[:, names.index(name)]), holes)
    bills = table["bill_length_mm"].to_numpy()
    np.testing.assert_array_equal(seen[:, names.index("bill_length_mm")], bills)
    assert set(seen[:, names.index("island")]) == {0.0, 1.0, 2.0}
    qed.save(model, tmp_path / "m.qed")
    again = qed.load(tmp_path / "m.qed")
    assert model.certificate_ and qed.certify(again, data)
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=50)
    from_file = again.predict(qed.rows(tmp_path / "p.parquet", block_size=64, target="species"))
    np.testing.assert_array_equal(from_file, model.predict(features))
    # An island that was not seen is a hole as well.
    other = features.set_column(names.index("island"), "island", pa.array(["Atlantis"] * len(table)))
    assert np.isnan(model.encoded(other).array().X[:, names.index("island")]).all()
    assert set(model.predict(other)) <= set(model.classes_)


def test_holes_moved_in_the_encoding_are_noticed(table):
    model = qed.TableModel(qed.DecisionTreeClassifier()).fit(qed.rows(table, target="species"))
    column = next(c for c in model.changes_[0].columns_ if hasattr(c, "fill"))
    object.__setattr__(column, "fill", 0.0)
    assert not qed.certify(model, qed.rows(table, target="species"))


def test_a_model_that_takes_levels_is_told_which_columns_they_are(table):
    data = qed.rows(table, target="species")
    model = qed.TableModel(Attentive()).fit(data)
    names = model.model_.feature_names_in_.tolist()
    assert [names[place] for place in model.model_.categorical_features] == ["island", "sex"]
    assert model.model.categorical_features is None
    assert qed.TableModel(Attentive(categorical_features=[0])).fit(data).model_.categorical_features == [0]
    # Products of holes are holes, so such a model sees what others do.
    assert qed.TableModel(Attentive(), degree=2).fit(data).model_.categorical_features is None


@pytest.mark.parametrize("inner", [LinearRegression(), qed.Search(qed.Ridge(), {"alpha": [1.0, 2.0]}), qed.Ridge, None])
def test_what_is_no_model_of_ours_is_refused_with_what_to_do_instead(inner, table):
    with pytest.raises(ParameterError, match=r"TableModel: model must be an estimator of qed \(a search goes around"):
        qed.TableModel(inner).fit(qed.rows(table, target="body_mass_g"))
