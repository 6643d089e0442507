"""What is known about each bundled data set: what it is for, where it came from, under which licence.

The tables themselves are Parquet files in ``files/``, written by ``tools/make_data.py``. Columns have plain
names (lower case, underscores, units where they help), classes that have names are strings, and values are
as their source gives them.
"""

from dataclasses import dataclass

_SCIKIT_LEARN = "BSD-3-Clause, as distributed with scikit-learn"
_STATSMODELS = "public domain, as stated by statsmodels"


@dataclass(frozen=True)
class About:
    """What is known about a data set.

    Attributes
    ----------
    name, title : str
        The name that `qed.data.load` takes, and one for people.
    task : str
        ``"classification"``, ``"regression"`` or ``"multi-output regression"``.
    target : str or tuple of str
        The column to predict, or the columns when there are several.
    rows, columns : int
        The shape of the table, target columns included.
    source, licence, description : str
        Where it came from, what one may do with it, and what it holds.
    """

    name: str
    title: str
    task: str
    target: str | tuple[str, ...]
    rows: int
    columns: int
    source: str
    licence: str
    description: str

    @property
    def targets(self) -> tuple[str, ...]:
        """The target columns, as a tuple even when there is only one."""
        return (self.target,) if isinstance(self.target, str) else self.target


_ALL = (
    About(
        name="anes96",
        title="American National Election Study 1996",
        task="classification",
        target="vote",
        rows=944,
        columns=10,
        source="The American National Election Studies; by way of statsmodels.",
        licence=_STATSMODELS,
        description="Vote of 944 people, Clinton or Dole, with their party, income and left-right scores.",
    ),
    About(
        name="breast_cancer",
        title="Breast cancer Wisconsin (diagnostic)",
        task="classification",
        target="diagnosis",
        rows=569,
        columns=31,
        source="Street, Wolberg and Mangasarian 1993, UCI repository; by way of scikit-learn.",
        licence=_SCIKIT_LEARN,
        description="Thirty measurements of cell nuclei in images of breast masses, malignant or benign.",
    ),
    About(
        name="diabetes",
        title="Diabetes progression",
        task="regression",
        target="progression",
        rows=442,
        columns=11,
        source="Efron, Hastie, Johnstone, Tibshirani 2004, Annals of Statistics 32; by way of scikit-learn.",
        licence=_SCIKIT_LEARN,
        description="Disease progression of 442 patients a year after ten measurements, in original units.",
    ),
    About(
        name="digits",
        title="Handwritten digits, 8 x 8 pixels",
        task="classification",
        target="digit",
        rows=1797,
        columns=65,
        source="Alpaydin and Kaynak 1998, UCI repository (test part); by way of scikit-learn.",
        licence=_SCIKIT_LEARN,
        description="Images of the digits 0 to 9 as 64 pixel counts from 0 to 16, row by row.",
    ),
    About(
        name="engel",
        title="Engel's food expenditure",
        task="regression",
        target="food_expenditure",
        rows=235,
        columns=2,
        source="Engel 1857, as in Koenker and Bassett 1982; by way of statsmodels.",
        licence=_STATSMODELS,
        description="Income and food expenditure of 235 Belgian households; the spread grows with income.",
    ),
    About(
        name="iris",
        title="Iris flowers",
        task="classification",
        target="species",
        rows=150,
        columns=5,
        source="Anderson 1935 and Fisher 1936 (values as printed by Fisher); by way of scikit-learn.",
        licence=_SCIKIT_LEARN,
        description="Sepal and petal sizes, in centimetres, of fifty flowers of each of three species.",
    ),
    About(
        name="linnerud",
        title="Linnerud's exercise and physiology",
        task="multi-output regression",
        target=("weight", "waist", "pulse"),
        rows=20,
        columns=6,
        source="A. C. Linnerud, in Tenenhaus 1998, La régression PLS; by way of scikit-learn.",
        licence=_SCIKIT_LEARN,
        description="Three exercises and three body measurements of twenty middle-aged men; the CCA example.",
    ),
    About(
        name="longley",
        title="Longley's employment",
        task="regression",
        target="total_employment",
        rows=16,
        columns=7,
        source="Longley 1967, J. American Statistical Association 62; by way of statsmodels.",
        licence=_STATSMODELS,
        description="Sixteen years of US employment and six nearly collinear series: hard for least squares.",
    ),
    About(
        name="penguins",
        title="Palmer penguins",
        task="classification",
        target="species",
        rows=344,
        columns=8,
        source="Gorman, Williams and Fraser 2014; Horst, Hill and Gorman 2020; by way of palmerpenguins.",
        licence="CC0 1.0 (the package palmerpenguins is MIT)",
        description="Size, sex and island of 344 penguins of three species, with strings and missing values.",
    ),
    About(
        name="stackloss",
        title="Brownlee's stack loss",
        task="regression",
        target="stack_loss",
        rows=21,
        columns=4,
        source="Brownlee 1965, Statistical Theory and Methodology; by way of statsmodels.",
        licence=_STATSMODELS,
        description="Ammonia lost on 21 days of running a plant; four of the days are well-known outliers.",
    ),
    About(
        name="wine",
        title="Wine cultivars",
        task="classification",
        target="cultivar",
        rows=178,
        columns=14,
        source="Forina and others 1988, UCI repository; by way of scikit-learn.",
        licence=_SCIKIT_LEARN,
        description="Thirteen chemical measurements, on very different scales, of wines of three cultivars.",
    ),
)

CATALOGUE = {about.name: about for about in _ALL}
