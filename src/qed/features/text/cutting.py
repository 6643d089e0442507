"""How documents become terms, said by the parameters of a vectorizer."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from qed.base.errors import ParameterError
from qed.base.models.no_effect import no_effect, one_of
from qed.base.models.parameters import Parameter, anything, array, boolean, check_parameters, choice, integer
from qed.features.tables.table import TableTransformer
from qed.stats.terms import Cutter

# Words that say little about what a text is about: articles, pronouns, prepositions, conjunctions, forms of be, have and do.
LITTLE = """
    a about above across after again against all almost along already also although always am among an and another any are around as at
    be became because become been before being below between both but by can cannot could did do does done down during each either else
    enough even ever every few for from further had has have having he hence her here hers herself him himself his how however i if in
    indeed into is it its itself just least less many may me might mine more most much must my myself neither never no nor not nothing now
    of off often on once one only onto or other others otherwise our ours ourselves out over own per perhaps rather same she should since
    so some still such than that the their theirs them themselves then there therefore these they this those through thus to together too
    toward towards under until up upon us very was we well were what when where whether which while who whole whom whose why will with
    within without would yet you your yours yourself yourselves
"""
ENGLISH = frozenset(LITTLE.split())
AS_TEXT = "documents are text here: decode bytes first, and read files by qed.rows"
READING = {
    "input": one_of("content", instead=AS_TEXT),
    "encoding": no_effect(anything("a name"), "utf-8", AS_TEXT),
    "decode_error": one_of("strict", "ignore", "replace", instead=AS_TEXT),
}


def _is_pattern(value: object) -> bool:
    try:
        return value is None or (isinstance(value, str) and re.compile(value).groups < 2)
    except re.error:
        return False


def _is_range(value: object) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(integer(1).accepts(end) for end in value)
        and value[0] <= value[1]
    )


FUNCTION = Parameter("a function", callable, "model")
WORDS = Parameter(
    "None or a list of words",
    lambda value: value is None or (isinstance(value, (list, tuple, set, frozenset)) or array().accepts(value)),
    "model",
)


class Cutting(TableTransformer):
    """A transformer of documents that are cut into terms."""

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "strip_accents": choice(None, "ascii", "unicode", kind="model") | FUNCTION,
        "lowercase": boolean(),
        "preprocessor": choice(None, kind="model") | FUNCTION,
        "tokenizer": choice(None, kind="model") | FUNCTION,
        "stop_words": choice("english", kind="model") | WORDS,
        "token_pattern": Parameter("a regular expression with at most one group", _is_pattern, "model"),
        "ngram_range": Parameter("two whole numbers, (least, most), from 1", _is_range, "model"),
        "analyzer": choice("word", "char", "char_wb", kind="model") | FUNCTION,
    }
    strip_accents: Any
    lowercase: bool
    preprocessor: Callable[[str], str] | None
    tokenizer: Callable[[str], Iterable[str]] | None
    stop_words: str | Iterable[str] | None
    token_pattern: str | None
    ngram_range: tuple[int, int]
    analyzer: Any

    def _cutter(self) -> Cutter:
        if self.token_pattern is None and self.tokenizer is None and self.analyzer == "word":
            raise ParameterError(
                f"{type(self).__name__} finds words by token_pattern or by tokenizer: give one of them."
            )
        least, most = self.ngram_range
        return Cutter(
            bool(self.lowercase),
            self.token_pattern,
            (int(least), int(most)),
            self.get_stop_words() or frozenset(),
            self.analyzer,
            self.strip_accents,
            self.preprocessor,
            self.tokenizer,
        )

    def get_stop_words(self) -> frozenset[str] | None:
        """Give the words that are left out; None where all are counted."""
        if self.stop_words is None:
            return None
        return ENGLISH if isinstance(self.stop_words, str) else frozenset(map(str, self.stop_words))

    def build_analyzer(self) -> Callable[[str], list[str]]:
        """Give the function that makes terms of a document."""
        return self._checked().terms

    def build_preprocessor(self) -> Callable[[str], str]:
        """Give the function that is applied to a document before it is cut."""
        return self._checked().clean

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """Give the function that cuts a document into words."""
        return self._checked().tokens

    def _checked(self) -> Cutter:
        check_parameters(self, self.parameters)
        return self._cutter()
