"""Thirty real tables: what becomes of their columns, which was looked at once for each and is kept in ``real_columns.json``.

``python -m bench.real_tables`` compares models on them. The tables come from packages that are no dependencies of the tests.
"""

import json
from pathlib import Path

import pytest

import qed
from bench.real_tables import PACKAGES, TABLES, load, summary
from qed.base.sources.rows import ArrayRows
from qed.features.tables.encoder import ColumnEncoder
from qed.selection.comparing.preparing import Asked, prepared, reading_of
from qed.selection.comparing.task import check_task

KNOWN = json.loads((Path(__file__).parent / "real_columns.json").read_text(encoding="utf-8"))


def test_every_table_is_kept():
    assert set(KNOWN) == set(TABLES) and len(TABLES) == 30


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_the_columns_of_a_real_table_are_understood(name):
    pytest.importorskip(PACKAGES[TABLES[name][0]])
    source = qed.rows(*load(name)).table()
    block, names = source.array(), source.feature_names
    task, _ = check_task(None, block.y, TABLES[name][2])
    rows = ArrayRows(block.X, block.y, None, names)
    table, _, seen = prepared(rows, block.y, task, 5, 0, Asked((), (), {}, None, None))
    encoder = ColumnEncoder(**reading_of(seen)).fit(table)
    found = summary(seen.with_decisions(encoder.decisions_))
    wanted = KNOWN[name]
    assert len(found["used"]) == wanted["used"]
    for part in ("left_out", "read", "suspicious", "notes"):
        assert found[part] == wanted.get(part, type(found[part])()), part
