"""Numbers, truth values and dates as people write them in text, and the one way in which a whole column is written.

A *way* is a name: ``point`` for ``$1,234.50`` and ``42%``, ``comma`` for ``1.234,5 €``, ``truth`` for yes and no, ``iso``, or the
pattern of a date such as ``%d/%m/%Y``. What nobody could have meant as a value (``n/a``, ``unknown``, ``?``,
``-``) stands for one that is missing.
"""

import json
import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# What stands for a missing value, in small letters.
NOTHING = (
    *(
        "",
        "-",
        "--",
        "---",
        "–",
        "—",
        ".",
        "..",
        "...",
        "?",
        "??",
        "na",
        "n/a",
        "n.a.",
        "n. a.",
        "#n/a",
        "<na>",
        "nan",
        "nat",
    ),
    *(
        "null",
        "none",
        "nil",
        "unknown",
        "unk",
        "missing",
        "not available",
        "not applicable",
        "not known",
        "tbd",
        "#div/0!",
    ),
    *("#value!", "#ref!", "#name?", "#num!", "no data", "k.a.", "s.d."),
)
TRUE, FALSE = ("yes", "y", "true", "t", "on", "ja", "oui", "si", "sí"), ("no", "n", "false", "f", "off", "nein", "non")
MONEY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|Rs\.?)"
# A number that begins with a zero and goes on is a code: a zip code, an account.
WHOLE = r"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+)"
NUMBER = (
    rf"(?i)^\(?\s*(?:[-+−]?\s*{MONEY}?\s*|{MONEY}\s*[-+−])(?:{WHOLE}(?:[{{point}}]\d*)?|[{{point}}]\d+)(?:e[-+]?\d+)?"
    rf"\s*(?:%|{MONEY})?\s*\)?$"
)
NUMBERS = {
    "point": NUMBER.format(thousands=r",' _\x{a0}\x{202f}", point="."),
    "comma": NUMBER.format(thousands=r".' _\x{a0}\x{202f}", point=","),
}
DAYS = (
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y.%m.%d",
)
NAMED = (
    "%b %d %Y",
    "%b %d, %Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b, %Y",
    "%b %Y",
    "%a %d %b %Y",
    "%a, %d %b %Y",
    "%a %b %d %Y",
)
# As in letters and logs of the web.
MAIL = "%a, %d %b %Y %H:%M:%S %z"
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
COMPACT = "%Y%m%d"
# With a zone at the end, of four digits as well, the year is not the last.
FULL_YEAR, YEAR_BEFORE_ZONE = r"(^|\D)\d{4}(\D|$)", r"(^|\D)\d{4}\D.*[+-]\d"
ISO = (pa.timestamp("us"), pa.timestamp("us", "UTC"))
DATES = ("iso", COMPACT, *(day + time for day in (*DAYS, *NAMED) for time in TIMES), MAIL)
WAYS = ("truth", "point", "comma", *DATES)
# What every number has, and every date.
NUMERAL, DATED = re.compile(r"\d"), re.compile(r"\d[/.\-]\d|[A-Za-z]{3,}.*\d{2}|\d.*[A-Za-z]{3,}|^\s*\d{8}\s*$")
LONGEST = 40
# So many of the values that are there have to be written in one way; what is written otherwise is then taken as missing.
ENOUGH = 0.95


# How a way begins that is the order of categories, from the least to the greatest.
ORDER = "order "


def order_way(values: Sequence[str]) -> str:
    """Give the way in which categories stand for the numbers of their order.

    >>> numbers_in(pa.array(["high", "low", "odd"]), order_way(["low", "high"])).tolist()
    [1.0, 0.0, nan]
    """
    return ORDER + json.dumps([str(value) for value in values], ensure_ascii=False)


def order_in(way: str) -> list[str]:
    """Give the categories of an order; nothing for other ways."""
    return [str(value) for value in json.loads(way.removeprefix(ORDER))] if way.startswith(ORDER) else []


def is_way(way: str) -> bool:
    """Say whether something is a way in which numbers or dates can be written as text."""
    try:
        return way in WAYS or bool(order_in(way))
    except ValueError:
        return False


def is_nothing(values: pa.Array) -> np.ndarray:
    """Say which texts stand for a missing value.

    >>> is_nothing(pa.array(["n/a", "?", "12", None])).tolist()
    [True, True, False, True]
    """
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    return _array(pc.or_kleene(pc.is_in(plain, pa.array(NOTHING, plain.type)), pc.is_null(plain)).fill_null(True))


def numbers_in(values: pa.Array, way: str) -> np.ndarray:
    """Read texts as numbers; NaN for what is none.

    >>> numbers_in(pa.array(["$1,234.50", "(12)", "42%", "n/a", "007"]), "point").tolist()
    [1234.5, -12.0, 42.0, nan, nan]
    >>> numbers_in(pa.array(["1.234,5", "-0,25 €"]), "comma").tolist()
    [1234.5, -0.25]
    >>> numbers_in(pa.array(["Yes", "no", "maybe"]), "truth").tolist()
    [1.0, 0.0, nan]
    """
    if way.startswith(ORDER):
        found = pc.index_in(values, pa.array(order_in(way), values.type))
        return _array(found.cast(pa.float64()).fill_null(np.nan))
    plain = pc.utf8_trim_whitespace(values)
    if way == "truth":
        small = pc.utf8_lower(plain)
        yes, no = (_array(pc.is_in(small, pa.array(words, small.type))) for words in (TRUE, FALSE))
        return np.where(yes, 1.0, np.where(no, 0.0, np.nan))
    matches = pc.match_substring_regex(plain, NUMBERS[way]).fill_null(False)
    kept = pc.if_else(matches, plain, pa.scalar("nan", plain.type))
    loss = _array(pc.match_substring_regex(kept, r"^\(.*\)$"))
    bare = pc.replace_substring_regex(pc.replace_substring(kept, "−", "-"), rf"(?i){MONEY}", "")
    bare = pc.replace_substring_regex(bare, r"[^0-9.,eEna+\-]" if way == "point" else r"[^0-9,eEna+\-]", "")
    bare = pc.replace_substring(bare, ",", "" if way == "point" else ".")
    found = _array(bare.cast(pa.float64()).fill_null(np.nan)).astype(np.float64)
    # A number too large for a double is no number.
    found = np.where(np.isinf(found), np.nan, found)
    return np.where(loss, -found, found)


def moments_in(values: pa.Array, way: str) -> pa.Array:
    """Read texts as moments; missing for what is none.

    >>> moments_in(pa.array(["31.12.1999", "n/a"]), "%d.%m.%Y").to_pylist()
    [datetime.datetime(1999, 12, 31, 0, 0), None]
    >>> moments_in(pa.array(["2012-01-01T06:00:00Z", "2012-01-01T06:00:00+02:00"]), "iso").to_pylist()
    [datetime.datetime(2012, 1, 1, 6, 0), datetime.datetime(2012, 1, 1, 4, 0)]
    """
    plain = pc.utf8_trim_whitespace(values)
    if way != "iso":
        if way == COMPACT:
            plain = pc.if_else(pc.match_substring_regex(plain, r"^(19|20)\d{6}$"), plain, pa.scalar(None, plain.type))
        return _strptime(plain, way)
    # Moments with a zone ("Z", "+02:00") are read as those of Greenwich.
    for kind in ISO:
        try:
            return plain.cast(kind).cast(ISO[0])
        except pa.ArrowInvalid:
            continue
    return pa.array([_moment(value) for value in plain], ISO[0])


def _strptime(plain: pa.Array, way: str) -> pa.Array:
    """Read dates by a pattern, also with a month in full where the pattern has its short name; a year in full has four digits."""
    if "%Y" in way and way != COMPACT:
        has_year = pc.match_substring_regex(plain, YEAR_BEFORE_ZONE if "%z" in way else FULL_YEAR)
        plain = pc.if_else(has_year, plain, pa.scalar(None, plain.type))
    found = pc.strptime(plain, way, "us", error_is_null=True)
    return found.cast(pa.timestamp("us"))


def _moment(value: pa.Scalar) -> object:
    for kind in ISO:
        try:
            return value.cast(kind).cast(ISO[0]).value
        except pa.ArrowInvalid:
            continue
    return None


def how_written(values: pa.Array, weight: np.ndarray | None = None) -> np.ndarray:
    """Weigh the values of a column that can be read in each of the `WAYS`, and last those that are there at all.

    >>> seen = how_written(pa.array(["$5", "n/a", "1,200"]))
    >>> seen[WAYS.index("point")], seen[WAYS.index("iso")], seen[-1]
    (np.float64(2.0), np.float64(0.0), np.float64(2.0))
    """
    found = np.zeros(len(WAYS) + 1)
    coded = values.dictionary_encode()
    texts = coded.dictionary
    codes = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    weights = np.bincount(codes, weight, minlength=len(texts) + 1)[:-1].astype(np.float64)
    there = ~is_nothing(texts)
    found[-1] = weights[there].sum()
    short = there & _array(pc.less_equal(pc.utf8_length(texts), LONGEST))
    texts, weights = texts.filter(pa.array(short)), weights[short]
    if len(texts):
        some = texts.take(pa.array(sorted({0, len(texts) // 2, len(texts) - 1})))
        for way in _possible(some.to_pylist()):
            if readable(some, way).any():
                found[WAYS.index(way)] = weights[readable(texts, way)].sum()
    return found


def readable(texts: pa.Array, way: str) -> np.ndarray:
    """Say which texts can be read in a way."""
    if way in DATES:
        return _array(pc.is_valid(moments_in(texts, way)))
    return ~np.isnan(numbers_in(texts, way))


def _possible(some: Sequence[str]) -> Sequence[str]:
    """Say which ways some texts may be written in: most columns are written in none, which their first, middle and last value show."""
    if any(DATED.search(text) for text in some):
        return WAYS
    return WAYS[: WAYS.index("iso")] if any(NUMERAL.search(text) for text in some) else ("truth",)


def way_of(seen: np.ndarray, among: Sequence[str] = WAYS, enough: float = ENOUGH) -> str:
    """Name the way in which a column is written, by what `how_written` says; nothing where there is none.

    The first of the ways that read most values wins: where all are whole numbers, or each day could be a month, it is the more usual one.

    >>> way_of(how_written(pa.array(["13/01/2020", "02/03/2020"])))
    '%d/%m/%Y'
    """
    total = seen[-1]
    shares = {way: seen[WAYS.index(way)] for way in among}
    if total <= 0 or not shares:
        return ""
    if shares.get(COMPACT, 0.0) == total:
        return COMPACT
    best = max(shares.values())
    way = next(way for way, share in shares.items() if share == best)
    least = total if way == "truth" and enough >= ENOUGH else enough * total
    return way if best > 0 and best >= least else ""


def example_of(way: str) -> str:
    """Write a number or a date in a way, for messages.

    >>> example_of("comma"), example_of("%d/%m/%Y")
    ('1.234,5 or 42%', '31/12/1999')
    """
    from datetime import datetime

    known = {"point": "1,234.5 or 42%", "comma": "1.234,5 or 42%", "truth": "yes", "iso": "1999-12-31"}
    if way.startswith(ORDER):
        return " < ".join(order_in(way))
    return known.get(way) or datetime(1999, 12, 31, 13, 45).strftime(way)


def _array(found: pa.Array) -> np.ndarray:
    return np.asarray(found.to_numpy(zero_copy_only=False))
