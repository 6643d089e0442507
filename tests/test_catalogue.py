"""The catalogue is covered as docs/coverage.md says, and no test of theory is about copies of its own: each, and each assert, uses qed."""

import sys

import pytest

from tests.test_architecture import SOURCE

sys.path.insert(0, str(SOURCE.parent.parent / "tools"))
import catalogue_coverage as tool
import hollow_asserts as asserts
import plant_faults as faults

sys.path.pop(0)


def test_the_list_of_entries_is_whole():
    names = [name for name, _, _ in tool.entries()]
    assert len(names) == len(set(names)) == 364


def test_the_page_is_up_to_date():
    written = tool.PAGE.read_text(encoding="utf-8")
    assert written == tool.page(), "run: python tools/catalogue_coverage.py"


@pytest.mark.parametrize("path", sorted(tool.THEORY.glob("test_*.py")), ids=lambda path: path.stem)
def test_every_test_of_theory_comes_to_use_qed(path):
    assert tool.hollow(path) == []


def test_a_test_that_never_calls_qed_is_found(tmp_path):
    file = tmp_path / "test_x.py"
    file.write_text(
        "import numpy as np\nimport qed\n\n\ndef helper():\n    return qed.Ridge()\n\n\n"
        "def test_full():\n    assert helper()\n\n\ndef test_hollow():\n    assert np.ones(1)\n"
    )
    assert tool.hollow(file) == ["test_hollow"]


@pytest.mark.parametrize("path", sorted(tool.THEORY.glob("test_*.py")), ids=lambda path: path.stem)
def test_every_assert_of_theory_holds_something_of_qed(path):
    assert asserts.hollow_asserts(path) == []


def test_an_assert_without_qed_is_found(tmp_path):
    file = tmp_path / "test_x.py"
    file.write_text(
        "import numpy as np\nimport qed\n\n\ndef made():\n    return qed.Ridge()\n\n\ndef test_mixed():\n    found, seen = made(), []\n"
        "    seen.append(found)\n    count = 0\n    for one in seen:\n        if one:\n            count += 1\n    X = np.ones(3)\n"
        "    assert count and seen\n    assert found.fit(X, X)\n    assert X.sum() == 3\n    np.testing.assert_allclose(X, 1)\n"
    )
    assert asserts.hollow_asserts(file) == [("test_mixed", 19), ("test_mixed", 20)]


def test_every_fault_can_be_planted_and_has_a_test():
    for fault in faults.FAULTS:
        assert fault.right in (SOURCE / fault.file).read_text(encoding="utf-8"), fault
        assert (tool.THEORY / fault.test).exists(), fault
