"""A report of many classes: the picture shows those that are mixed up most, and says so."""

import numpy as np

from qed.report.figures import MOST_CONFUSED, _confusion


def test_of_many_classes_those_that_are_mixed_up_most_are_shown():
    y = np.repeat(np.arange(200), 3).astype(str)
    said = y.copy()
    said[y == "7"], said[y == "11"] = "11", "7"
    picture = _confusion(y, said)
    assert f"Of 200 classes these {MOST_CONFUSED}" in picture.says and "6 of 600 are wrong" in picture.says
    assert ">7<" in picture.svg and ">11<" in picture.svg and ">199<" not in picture.svg
    few = _confusion(y[:60], said[:60])
    assert "Of 20 classes" not in few.says
