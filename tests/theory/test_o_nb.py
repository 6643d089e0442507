"""O-NB, O-NB-SMOOTH, O-NB-LIN, O-FULLJOINT: the product of probabilities, smoothing, the linear form, and the full joint."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit

import qed
from qed import GaussianNB, QuadraticDiscriminantAnalysis

ALL = np.array(list(product([0, 1], repeat=3)))


def mails(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return (rng.random((n, d)) < np.where(y[:, None], 0.7, 0.3)).astype(float), y


def test_posteriors_are_products_of_probabilities():
    X, y = mails()
    model = qed.BernoulliNB(alpha=1.0).fit(X, y)
    every = np.array(list(product([0.0, 1.0], repeat=4)))
    joint = np.empty((16, 2))
    for k in (0, 1):
        p = (X[y == k].sum(axis=0) + 1) / ((y == k).sum() + 2)
        joint[:, k] = (y == k).mean() * np.where(every == 1, p, 1 - p).prod(axis=1)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(every), posterior, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(every).sum(axis=1), 1, rtol=1e-14)


def test_the_order_of_columns_does_not_matter():
    X, y = mails()
    order = np.array([2, 0, 3, 1])
    one, two = qed.BernoulliNB().fit(X, y), qed.BernoulliNB().fit(X[:, order], y)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X[:, order]), rtol=1e-12)


@pytest.mark.parametrize("m", [0.1, 1.0])
def test_adding_m_leaves_nothing_impossible(m):
    X, y = mails()
    X[:, 0] = 0  # a word that was never seen
    model = qed.BernoulliNB(alpha=m).fit(X, y)
    p = np.exp(model.feature_log_prob_)
    assert ((p > 0) & (p < 1)).all()
    np.testing.assert_allclose(p[:, 0], m / (np.bincount(y) + 2 * m), rtol=1e-12)
    assert np.isfinite(model.predict_log_proba([[1, 1, 1, 1]])).all()
    words = qed.MultinomialNB(alpha=m).fit(X, y)
    np.testing.assert_allclose(np.exp(words.feature_log_prob_).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("m", [0.25, 1.0])
def test_adding_m_of_s_values(m):
    """(t + m) / (N + m s) for each of s values, which add up to one; a value that was never seen has its share too."""
    X, y = np.array([[0], [0], [1], [0], [1], [1], [1]]), np.array([0, 0, 0, 1, 1, 1, 1])
    model = qed.CategoricalNB(alpha=m, min_categories=3).fit(X, y)
    counts = np.array([[2, 1, 0], [1, 3, 0]])
    wanted = (counts + m) / (np.array([[3], [4]]) + 3 * m)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), wanted, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]).sum(axis=1), 1, rtol=1e-12)


def test_a_mail_is_the_words_that_are_in_it():
    """A bag of words: what is in a mail counts, not where and how often; Bayes' rule by hand gives the same probability of spam."""
    texts = ["Hello, how are you?", "You won, you won!", "Hello, you won", "How are you, how?"]
    words = qed.CountVectorizer(binary=True).fit(texts)
    X, y = words.transform(texts), np.array(["ham", "spam", "spam", "ham"])
    assert words.get_feature_names_out().tolist() == ["are", "hello", "how", "won", "you"]
    assert X.toarray().tolist() == [[1, 1, 1, 0, 1], [0, 0, 0, 1, 1], [0, 1, 0, 1, 1], [1, 0, 1, 0, 1]]
    model = qed.BernoulliNB(alpha=1.0).fit(X, y)
    for text in ("won hello", "Hello HELLO won!"):
        # With one more of each kind: hello is in 1 of 2, so 1/2; won in none of ham, 1/4, and in all of spam, 3/4; and so on.
        ham = 0.5 * (1 - 3 / 4) * (1 / 2) * (1 - 3 / 4) * (1 / 4) * (1 - 3 / 4)
        spam = 0.5 * (1 - 1 / 4) * (1 / 2) * (1 - 1 / 4) * (3 / 4) * (1 - 3 / 4)
        found = model.predict_proba(words.transform([text]))
        np.testing.assert_allclose(found, [[ham / (ham + spam), spam / (ham + spam)]], rtol=1e-12)


def test_one_mail_with_every_word_in_each_class():
    X, y = mails()
    X[:, 0], X[:, 1] = 0, 1
    model = qed.BernoulliNB(alpha=1, absent_alpha=0, prior_alpha=1).fit(X, y)
    n = np.bincount(y)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), (n + 1) / (len(y) + 2), rtol=1e-12)
    for k in (0, 1):
        np.testing.assert_allclose(
            np.exp(model.feature_log_prob_[k]), (X[y == k].sum(axis=0) + 1) / (n[k] + 1), rtol=1e-12
        )
    # It removes zeros, but not ones: a word that every mail has can still not be absent.
    assert np.exp(model.feature_log_prob_[:, 1]) == pytest.approx(1)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_the_decision_is_linear(d):
    X, y = mails(d=d)
    model = qed.BernoulliNB().fit(X, y)
    every = np.array(list(product([0.0, 1.0], repeat=d)))
    p0, p1 = np.exp(model.feature_log_prob_)
    w = np.log(p1 * (1 - p0) / (p0 * (1 - p1)))
    b = np.log((1 - p1) / (1 - p0)).sum() + model.class_log_prior_[1] - model.class_log_prior_[0]
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)
    assert model.intercept_[0] == pytest.approx(b, rel=1e-9)
    np.testing.assert_array_equal(model.predict(every) == 1, every @ w + b > 0)
    np.testing.assert_allclose(model.predict_proba(every)[:, 1], expit(every @ w + b), rtol=1e-9)


FIRST = np.array([0.1, 0.01, 0.02, 0.03, 0.04, 0.5, 0.2, 0.1])
SECOND = np.where(np.isin(np.arange(8), [3, 4]), 0.5, 0.0)


def joint_tables():
    """Give every combination once for each class, weighted as the tables of the text say, with equal priors."""
    X, y = np.vstack([ALL, ALL]), np.repeat([1, 2], 8)
    return X, y, np.concatenate([FIRST, SECOND]) / 2


def test_the_full_joint_is_one_column_of_all_combinations():
    X, y, w = joint_tables()
    combination = (X @ [4, 2, 1])[:, None]
    full = qed.CategoricalNB(alpha=0, min_categories=8).fit(combination, y, w)
    tables = np.exp(full.feature_log_prob_[0])
    np.testing.assert_allclose(tables, [FIRST, SECOND], atol=1e-12)
    np.testing.assert_allclose(tables.sum(axis=1), 1, rtol=1e-12)
    chance = full.predict_proba(np.arange(8)[:, None])[:, 0]
    assert chance[0b011] == pytest.approx(0.056604, abs=1e-6) and chance[0b100] == pytest.approx(0.074074, abs=1e-6)
    np.testing.assert_allclose(np.delete(chance, [3, 4]), 1)
    assert full.n_parameters_ == 15


def test_naive_bayes_needs_fewer_numbers_and_forgets_what_goes_together():
    X, y, w = joint_tables()
    naive = qed.BernoulliNB(alpha=0).fit(X, y, w)
    np.testing.assert_allclose(np.exp(naive.feature_log_prob_[0]), [0.84, 0.35, 0.64], rtol=1e-12)
    assert naive.feature_log_prob_.size + 1 == 7
    # In the second class 011 and 100 are all there is; naive Bayes believes every combination equally likely.
    np.testing.assert_allclose(np.exp(naive.feature_log_prob_[1]), 0.5)


def test_gaussian_naive_bayes_is_gaussian_discriminants_with_diagonal_covariances():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)) * [1.0, 5.0, 0.2], np.repeat([0, 1], 40)
    X += y[:, None]
    naive = GaussianNB(var_smoothing=0).fit(X, y)
    full = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(naive.var_, [np.diagonal(S) for S in full.covariance_], rtol=1e-12)
    # Rows mirrored in every column have no covariances, and there the two are the same model.
    signs = np.array(list(product([-1, 1], repeat=3)))
    mirrored = (naive.theta_[y][:, None] + signs * (X - naive.theta_[y])[:, None]).reshape(-1, 3)
    labels = np.repeat(y, 8)
    one, two = GaussianNB(var_smoothing=0).fit(mirrored, labels), QuadraticDiscriminantAnalysis().fit(mirrored, labels)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-8, atol=1e-8)


def test_sparse_and_dense_are_the_same_model():
    from scipy import sparse

    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.3, size=(500, 120)).astype(float), rng.integers(3, size=500)
    for kind in (qed.BernoulliNB, qed.MultinomialNB):
        one, two = kind().fit(X, y), kind().fit(sparse.csr_array(X), y)
        np.testing.assert_array_equal(one.feature_count_, two.feature_count_)
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(sparse.csr_array(X)), rtol=1e-9)


def test_forgotten_rows_leave_no_trace():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, size=(300, 6)).astype(float), rng.integers(2, size=300)
    for kind in (qed.BernoulliNB, qed.MultinomialNB, qed.CategoricalNB):
        left = kind().fit(X, y).forget(X[200:], y[200:])
        fresh = kind().fit(X[:200], y[:200])
        found = left.feature_log_prob_, fresh.feature_log_prob_
        for one, two in zip(*found):
            np.testing.assert_array_equal(one, two[..., : one.shape[-1]])


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_counts_of_words_are_shared_out_and_smoothed_by_class(alpha):
    """p_kj = (t_kj + alpha) / (sum over l of t_kl + alpha p), and the log-odds are linear in the counts."""
    counts = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 1], [0, 0, 4]])
    y = np.array([0, 0, 1, 1])
    model = qed.MultinomialNB(alpha=alpha).fit(counts, y)
    totals = np.array([counts[y == k].sum(axis=0) for k in (0, 1)])
    shares = (totals + alpha) / (totals.sum(axis=1, keepdims=True) + 3 * alpha)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), shares, rtol=1e-14)
    new = np.array([[1, 2, 0], [0, 0, 5]])
    odds = new @ np.log(shares[1] / shares[0])  # the classes are equally frequent
    np.testing.assert_allclose(np.diff(model.predict_log_proba(new), axis=1)[:, 0], odds, rtol=1e-12)
