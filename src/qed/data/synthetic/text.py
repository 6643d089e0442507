"""Documents as word counts, drawn from the model that multinomial naive Bayes supposes."""

from typing import Any

import numpy as np
from scipy import sparse

from qed.base.random import Seed
from qed.data.synthetic.parameters import generator, number, probabilities, whole


def sparse_text(
    n: int,
    n_words: int = 2000,
    *,
    n_classes: int = 4,
    length: float = 80.0,
    contrast: float = 0.8,
    priors: Any = None,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw labelled documents as a sparse matrix of word counts.

    A document of class k has 1 + Poisson(length - 1) words, independent draws from q_k. Words are about as
    unequal as in a language: q_kj is proportional to exp(contrast g_kj) / (j + 20) with g_kj ~ N(0, 1).

    Parameters
    ----------
    n : int
        Number of documents.
    n_words : int, default=2000
        Size of the vocabulary.
    n_classes : int, default=4
        Number of classes.
    length : float, default=80.0
        Mean number of words in a document, at least 1.
    contrast : float, default=0.8
        How much the classes differ; 0 makes them alike.
    priors : array_like of shape (n_classes,), optional
        Probabilities of the classes; equal by default.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``probability`` (n_classes, n_words), the q_k, and ``priors``.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n, n_words), int64
    y : ndarray of shape (n,), int64
        And the truth when asked for.

    Examples
    --------
    >>> X, y = sparse_text(50, 300, length=20, random_state=0)
    >>> X.shape, X.format, bool((X.sum(axis=1) >= 1).all())
    ((50, 300), 'csr', True)
    """
    n, n_words, n_classes = whole("n", n), whole("n_words", n_words), whole("n_classes", n_classes)
    shares, random = probabilities("priors", priors, n_classes), generator(random_state)
    contrast = number("contrast", contrast, least=0)
    weights = np.exp(contrast * random.standard_normal((n_classes, n_words))) / (np.arange(n_words) + 20.0)
    q = weights / weights.sum(axis=1, keepdims=True)
    y = random.choice(n_classes, size=n, p=shares)
    lengths = 1 + random.poisson(number("length", length, least=1) - 1.0, n)
    words = _draw_words(q, np.repeat(y, lengths), random)
    documents = np.repeat(np.arange(n), lengths)
    counts = sparse.coo_matrix((np.ones(len(words), dtype=np.int64), (documents, words)), shape=(n, n_words))
    X = counts.tocsr()
    return (X, y, {"probability": q, "priors": shares}) if return_truth else (X, y)


def _draw_words(q: np.ndarray, kinds: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Draw word i from the law q[kinds[i]], by inverting its distribution function."""
    uniform, words = random.random(len(kinds)), np.empty(len(kinds), dtype=np.int64)
    for kind, law in enumerate(q):
        chosen = kinds == kind
        words[chosen] = np.searchsorted(np.cumsum(law)[:-1], uniform[chosen], side="right")
    return words
