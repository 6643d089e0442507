"""Write the bundled data sets, src/qed/data/files/*.parquet, from the wheels that carry them.

Run it from the root of the project, with scikit-learn, palmerpenguins, statsmodels and pandas installed:

    python tools/make_data.py [folder]

The same wheels give the same tables. Classes become strings, columns get plain names, whole numbers are
stored as integers, missing values as nulls. Nothing else is changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

FILES = Path(__file__).parent.parent / "src" / "qed" / "data" / "files"


def _plain(name: str) -> str:
    return name.replace(" (cm)", "").replace("/", "_").replace(" ", "_").lower()


def _classes(loaded: Any, target: str) -> pd.DataFrame:
    """Give a scikit-learn classification set with plain column names and its classes by name."""
    frame: pd.DataFrame = loaded.frame.drop(columns="target").rename(columns=_plain)
    frame[target] = [str(loaded.target_names[label]) for label in loaded.target]
    return frame


def iris() -> pd.DataFrame:
    from sklearn.datasets import load_iris

    return _classes(load_iris(as_frame=True), "species")


def wine() -> pd.DataFrame:
    from sklearn.datasets import load_wine

    return _classes(load_wine(as_frame=True), "cultivar")


def breast_cancer() -> pd.DataFrame:
    from sklearn.datasets import load_breast_cancer

    return _classes(load_breast_cancer(as_frame=True), "diagnosis")


def digits() -> pd.DataFrame:
    from sklearn.datasets import load_digits

    return pd.DataFrame(load_digits(as_frame=True).frame.rename(columns={"target": "digit"}))


def diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    blood = {"s1": "tc", "s2": "ldl", "s3": "hdl", "s4": "tch", "s5": "ltg", "s6": "glu"}
    return pd.DataFrame(
        load_diabetes(scaled=False, as_frame=True).frame.rename(columns={**blood, "target": "progression"})
    )


def linnerud() -> pd.DataFrame:
    from sklearn.datasets import load_linnerud

    return pd.DataFrame(load_linnerud(as_frame=True).frame.rename(columns=_plain))


def penguins() -> pd.DataFrame:
    from palmerpenguins import load_penguins

    return pd.DataFrame(load_penguins())


def longley() -> pd.DataFrame:
    from statsmodels.datasets import longley as source

    names = ["total_employment", "gnp_deflator", "gnp", "unemployed", "armed_forces", "population", "year"]
    return pd.DataFrame(source.load_pandas().data.set_axis(names, axis=1))


def stackloss() -> pd.DataFrame:
    from statsmodels.datasets import stackloss as source

    names = ["stack_loss", "air_flow", "water_temperature", "acid_concentration"]
    return pd.DataFrame(source.load_pandas().data.set_axis(names, axis=1))


def engel() -> pd.DataFrame:
    from statsmodels.datasets import engel as source

    return pd.DataFrame(source.load_pandas().data.rename(columns={"foodexp": "food_expenditure"}))


def anes96() -> pd.DataFrame:
    from statsmodels.datasets import anes96 as source

    names = {
        "popul": "population",
        "TVnews": "tv_news",
        "selfLR": "self_left_right",
        "ClinLR": "clinton_left_right",
        "DoleLR": "dole_left_right",
        "PID": "party",
        "educ": "education",
    }
    frame = source.load_pandas().data.drop(columns="logpopul").rename(columns=names)
    return pd.DataFrame(frame.assign(vote=frame["vote"].map({0: "Clinton", 1: "Dole"})))


SETS: list[Callable[[], pd.DataFrame]] = [
    anes96, breast_cancer, diabetes, digits, engel, iris, linnerud, longley, penguins, stackloss, wine,
]  # fmt: skip


def _column(values: pd.Series) -> pa.Array:
    """Store as integers what is whole, as float64 other numbers, as strings the rest."""
    if not pd.api.types.is_numeric_dtype(values):
        return pa.array([None if pd.isna(value) else str(value) for value in values], type=pa.string())
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    known = numbers[~np.isnan(numbers)]
    array = pa.array(numbers, type=pa.float64(), from_pandas=True)
    return array.cast(pa.int64()) if (known == np.round(known)).all() else array


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write one table, without the traces that pandas leaves in the schema."""
    columns = {str(name): _column(frame[name]) for name in frame.columns}
    pq.write_table(pa.table(columns), path, compression="zstd", compression_level=19, write_statistics=False)


def main(folder: Path = FILES) -> None:
    """Write all data sets into a folder and print their sizes."""
    folder.mkdir(parents=True, exist_ok=True)
    for make in SETS:
        path = folder / f"{make.__name__}.parquet"
        write(make(), path)
        print(f"{path.stat().st_size:8d}  {path.name}")
    print(f"{sum(path.stat().st_size for path in folder.glob('*.parquet')):8d}  in all")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
