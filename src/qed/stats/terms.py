"""Documents cut into terms, and terms counted: the statistic behind a vocabulary.

A document becomes a list of terms (its words, and runs of n words where wanted). Counting is three steps over whole
arrays: one dictionary turns all terms of a block into numbers, the numbers of each document are sorted and those that are
equal added up (a CSR matrix), and the sums of its columns say how often a term occurs and in how many documents. Such
counts of blocks add up, so a vocabulary is found in one pass over files that are larger than memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

# A word is two or more letters or digits.
WORD = r"(?u)\b\w\w+\b"
# So many documents are cut before their terms are counted and let go.
AT_ONCE = 2048


@dataclass(frozen=True)
class Cutter:
    """Cuts documents into terms.

    >>> Cutter(lowercase=True, pattern=r"\\b\\w+\\b", ngrams=(1, 2), stop=frozenset({"the"}))(["The cat sat"])
    (['cat', 'sat', 'cat sat'], [3])
    >>> Cutter(lowercase=True, pattern=WORD, ngrams=(2, 3), analyzer="char_wb").terms("A cat")
    [' a', 'a ', ' a ', ' c', 'ca', 'at', 't ', ' ca', 'cat', 'at ']
    """

    lowercase: bool
    pattern: str | None  # what a word looks like; where it has a group, the word is that
    ngrams: tuple[int, int]  # the least and the largest number of words (or letters) in a term
    stop: frozenset[str] = frozenset()  # words that are left out before terms are made
    # Terms are runs of words, of letters ("char"), of letters within a word ("char_wb"), or what a function makes of a document.
    analyzer: str | Callable[[str], Iterable[str]] = "word"
    accents: str | Callable[[str], str] | None = None  # what takes marks off letters
    preprocessor: Callable[[str], str] | None = None  # what stands in the place of small letters without marks
    tokenizer: Callable[[str], Iterable[str]] | None = None  # what stands in the place of the pattern

    def __call__(self, documents: Sequence[str]) -> tuple[list[str], list[int]]:
        """Give the terms of some documents, one after another, and how many each document has."""
        terms: list[str] = []
        lengths = []
        for found in map(self.terms, documents):
            terms += found
            lengths.append(len(found))
        return terms, lengths

    def terms(self, document: str) -> list[str]:
        """Give the terms of a document."""
        if callable(self.analyzer):
            return list(map(str, self.analyzer(document)))
        if self.analyzer != "word":
            return _letters(self.clean(document), *self.ngrams, within=self.analyzer == "char_wb")
        found = self._words(document)
        if self.stop:
            found = [word for word in found if word not in self.stop]
        return found if self.ngrams[1] == 1 else _runs(found, *self.ngrams)

    def clean(self, document: str) -> str:
        """Give a document in small letters without marks, as far as that is wanted."""
        if self.preprocessor is not None:
            return self.preprocessor(document)
        if self.lowercase:
            document = document.lower()
        if callable(self.accents):
            return self.accents(document)
        return document if self.accents is None or document.isascii() else _unmarked(document, self.accents)

    def tokens(self, text: str) -> list[str]:
        """Give the words of a text."""
        if self.tokenizer is not None:
            return list(map(str, self.tokenizer(text)))
        return re.findall(self.pattern or WORD, text)

    def _words(self, document: str) -> list[str]:
        """Find the words of a document: by a search, or for the usual words in plain letters by what takes half the time."""
        if self.pattern == WORD and document.isascii() and not (self.preprocessor or self.tokenizer or self.accents):
            return [word for word in document.translate(_spaced(self.lowercase)).split() if len(word) > 1]
        return self.tokens(self.clean(document))

    def count(self, documents: Sequence[str], places: dict[str, int] | None = None) -> tuple[list[str], csr_array]:
        """Count the terms of each document: all that there are, in the order in which they come, or those that have places."""
        fresh: defaultdict[str, int] = defaultdict()
        fresh.default_factory = fresh.__len__
        columns, lengths = [], []
        for start in range(0, len(documents), AT_ONCE):
            terms, ends = self(documents[start : start + AT_ONCE])
            number = map(fresh.__getitem__, terms) if places is None else map(places.get, terms, repeat(-1))
            columns.append(np.fromiter(number, np.int64, len(terms)))
            lengths += ends
        width = len(fresh) if places is None else len(places)
        index = np.concatenate(columns) if columns else np.empty(0, np.int64)
        return list(fresh), _counted(index, np.array(lengths, dtype=np.int64), width)


@cache
def _spaced(lowercase: bool) -> dict[int, str]:
    """Give the table that puts a space in the place of every plain character that is in no word."""
    letters = {code: chr(code).lower() if lowercase else chr(code) for code in range(128)}
    return {code: letter if letter.isalnum() or letter == "_" else " " for code, letter in letters.items()}


def _runs(words: list[str], least: int, most: int) -> list[str]:
    """Give all runs of `least` to `most` words."""
    found = list(words) if least == 1 else []
    for n in range(max(least, 2), most + 1):
        found += map(" ".join, zip(*(words[k:] for k in range(n))))
    return found


def _letters(text: str, least: int, most: int, *, within: bool) -> list[str]:
    """Give all runs of `least` to `most` letters: of the text, or within its words, that have a space before and behind them.

    A word that is shorter than a run is a run itself, once.
    """
    if not within:
        text = re.sub(r"\s\s+", " ", text)
        return [text[k : k + n] for n in range(least, most + 1) for k in range(len(text) - n + 1)]
    found = []
    for word in (f" {word} " for word in text.split()):
        for n in range(least, min(most, max(least, len(word))) + 1):
            found += [word[k : k + n] for k in range(max(1, len(word) - n + 1))]
    return found


def _unmarked(text: str, accents: str) -> str:
    """Take the marks off letters; "ascii" leaves out what is then no plain letter.

    >>> _unmarked("déjà œ", "unicode"), _unmarked("déjà œ", "ascii")
    ('deja œ', 'deja ')
    """
    apart = unicodedata.normalize("NFKD", text)
    if accents == "ascii":
        return apart.encode("ascii", "ignore").decode("ascii")
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _counted(index: np.ndarray, lengths: np.ndarray, width: int) -> csr_array:
    """Make the matrix of counts from the number of each term, -1 for one that is not known, and the length of each document."""
    ends = np.concatenate([[0], np.cumsum(lengths)])
    known = index >= 0
    if not known.all():
        ends = np.concatenate([[0], np.cumsum(known)])[ends]
        index = index[known]
    short = np.int32 if max(width, len(index)) < 2**31 else np.int64
    ones = np.ones(len(index), np.int64)
    found = sparse.csr_array((ones, index.astype(short), ends.astype(short)), shape=(len(lengths), width))
    found.sum_duplicates()
    return found


@dataclass(frozen=True, eq=False)
class TermCounts:
    """How often terms occur, and in how many documents.

    >>> cut = Cutter(lowercase=True, pattern=r"\\w+", ngrams=(1, 1))
    >>> found = TermCounts.of(*cut.count(["a b a"])) + TermCounts.of(*cut.count(["b"]))
    >>> found.places, found.documents, found.total, found.weight
    ({'a': 0, 'b': 1}, array([1., 2.]), array([2., 2.]), 2.0)
    """

    places: dict[str, int]  # where each term is in the arrays
    documents: np.ndarray  # the weight of the documents that have it
    total: np.ndarray  # how often it occurs in all of them, by weight
    weight: float  # the weight of all documents
    count: int  # their number

    @classmethod
    def of(cls, terms: Iterable[str], counts: csr_array, weight: np.ndarray | None = None) -> TermCounts:
        """Sum the columns of a matrix of counts."""
        places = {term: place for place, term in enumerate(terms)}
        w = None if weight is None else np.repeat(weight, np.diff(counts.indptr))
        documents = np.bincount(counts.indices, w, len(places)).astype(np.float64)
        total = np.bincount(counts.indices, counts.data if w is None else counts.data * w, len(places))
        n = counts.shape[0]
        return cls(places, documents, total.astype(np.float64), float(n if weight is None else weight.sum()), n)

    def __add__(self, other: TermCounts) -> TermCounts:
        places = dict(self.places)
        theirs = np.fromiter((places.setdefault(term, len(places)) for term in other.places), np.int64)
        new = len(places) - len(self.places)
        documents, total = (np.append(part, np.zeros(new)) for part in (self.documents, self.total))
        documents[theirs] += other.documents
        total[theirs] += other.total
        return TermCounts(places, documents, total, self.weight + other.weight, self.count + other.count)

    def documents_with(self, terms: Iterable[str]) -> np.ndarray:
        """Give the weight of the documents that have each of some terms."""
        there = np.append(self.documents, 0.0)
        return there[np.fromiter(map(self.places.get, terms, repeat(-1)), np.int64)]


def rarity(documents: np.ndarray, n: float, more: float = 1.0) -> np.ndarray:
    """Give the weight of terms that are in some of n documents, counted as if there were `more` documents with all of them."""
    return np.log((n + more) / (documents + more)) + 1.0


def weigh(counts: csr_array, idf: np.ndarray | None, norm: str | None, *, logarithm: bool = False) -> csr_array:
    """Weigh counts, in place: their logarithms where wanted, times the weight of the term, over the length of the document.

    >>> from scipy import sparse
    >>> weigh(sparse.csr_array([[3.0, 4.0]]), None, "l2").toarray()
    array([[0.6, 0.8]])
    """
    if logarithm:
        counts.data = np.log(counts.data, out=counts.data) + 1
    if idf is not None:
        counts.data *= idf[counts.indices]
    if norm is not None:
        length = row_norms(counts, norm)
        counts.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(counts.indptr))
    return counts


def row_norms(matrix: csr_array, norm: str) -> np.ndarray:
    """Give the length of each row: the root of the sum of squares (l2), or the sum of sizes (l1)."""
    size = np.abs(matrix.data.astype(np.float64))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    if norm == "l1":
        return np.bincount(rows, size, matrix.shape[0])
    with np.errstate(over="ignore", under="ignore"):
        total = np.bincount(rows, size**2, matrix.shape[0])
    if size.size and not (
        total.max() < np.inf and size.min() ** 2 >= np.finfo(float).tiny
    ):  # squares that overflow or vanish
        largest = np.zeros(matrix.shape[0])
        np.maximum.at(largest, rows, size)
        largest[largest == 0] = 1.0
        return largest * np.sqrt(np.bincount(rows, (size / largest[rows]) ** 2, matrix.shape[0]))
    return np.sqrt(total)
