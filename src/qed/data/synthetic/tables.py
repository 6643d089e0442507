"""A table such as people have: numbers, words, flags and dates, with holes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qed.base.random import Seed
from qed.data.synthetic.parameters import generator, number, whole

if TYPE_CHECKING:
    import pyarrow

CITIES = ("Aarhus", "Bergen", "Göteborg", "Helsinki", "Tartu")
HEATING = ("district", "electric", "gas")
CITY_EFFECT = (120.0, 160.0, 90.0, 200.0, 0.0)


def mixed_table(
    n: int, *, missing: float = 0.1, noise: float = 50.0, random_state: Seed = None, return_truth: bool = False
) -> Any:
    """Draw flats to let, as a table of every usual type, with missing values.

    The target ``rent`` is 200 + 9 area + 40 rooms + 60 balcony + an effect of the city + N(0, noise²),
    computed before values go missing. Every feature except the identifier lacks each value with probability
    `missing`, independently.

    ===========  =====================  ============================================
    column       type                   law
    ===========  =====================  ============================================
    listing      string                 an identifier, different in every row
    area         float64                log-normal, median 60
    rooms        int64                  1 to 5, equally likely
    city         string                 five names, the first the most frequent
    heating      dictionary of strings  three names, equally likely; does not matter
    balcony      bool                   true with probability 0.4
    listed       date32                 a day of 2020 to 2023
    seen         timestamp, seconds     within thirty days after 1 January 2024
    rent         float64                the target, never missing
    ===========  =====================  ============================================

    Parameters
    ----------
    n : int
        Number of rows.
    missing : float, default=0.1
        Probability that a value is missing.
    noise : float, default=50.0
        Standard deviation of the rent about its mean.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``complete``, the table without holes, and ``mean``, the rent without noise.

    Returns
    -------
    pyarrow.Table
        And the truth when asked for.

    Examples
    --------
    >>> table = mixed_table(100, random_state=0)
    >>> table.num_rows, table.column_names[:4], table.column("rent").null_count
    (100, ['listing', 'area', 'rooms', 'city'], 0)
    """
    import pyarrow

    n, random = whole("n", n), generator(random_state)
    missing, noise = number("missing", missing, least=0, most=1), number("noise", noise, least=0)
    values = _features(n, random)
    mean = _mean_rent(values)
    values["rent"] = mean + noise * random.standard_normal(n)
    holes = {name: random.random(n) < missing for name in values if name not in ("listing", "rent")}
    table = pyarrow.table({name: _column(name, values[name], holes.get(name)) for name in values})
    if not return_truth:
        return table
    complete = pyarrow.table({name: _column(name, values[name], None) for name in values})
    return table, {"complete": complete, "mean": mean}


def _features(n: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw the columns, words still as their positions in the lists above."""
    frequency = 1.0 / np.arange(2, 2 + len(CITIES))
    return {
        "listing": random.permutation(n),
        "area": np.round(60.0 * np.exp(0.4 * random.standard_normal(n)), 1),
        "rooms": random.integers(1, 6, n),
        "city": random.choice(len(CITIES), size=n, p=frequency / frequency.sum()),
        "heating": random.integers(0, len(HEATING), n),
        "balcony": random.random(n) < 0.4,
        "listed": np.datetime64("2020-01-01", "D") + random.integers(0, 4 * 365, n),
        "seen": np.datetime64("2024-01-01", "s") + random.integers(0, 30 * 86_400, n),
    }


def _mean_rent(values: dict[str, np.ndarray]) -> np.ndarray:
    numbers = 200.0 + 9.0 * values["area"] + 40.0 * values["rooms"] + 60.0 * values["balcony"]
    return np.asarray(numbers + np.array(CITY_EFFECT)[values["city"]])


def _column(name: str, values: np.ndarray, holes: np.ndarray | None) -> pyarrow.Array:
    import pyarrow

    if name == "listing":
        return pyarrow.array([f"flat-{number:06d}" for number in values])
    words = {"city": CITIES, "heating": HEATING}.get(name)
    column = pyarrow.array(values if words is None else np.array(words, dtype=object)[values], mask=holes)
    return column.dictionary_encode() if name == "heating" else column
