"""scikit-learn's own tests on our classes: what fails stands on the list of accepted differences, with its reason."""

import pytest
from tools import peer_suite


def test_names_are_swapped_and_strangers_left_out():
    text = peer_suite.rewritten(
        "from sklearn import svm\n"
        "from sklearn.linear_model import Lars, Ridge as R\n"
        "def helper(): return R()\n"
        "def test_ours(): helper()\n"
        "def test_mine(): svm.SVC()\n"
        "def test_theirs(): Lars(), svm.NuSVC()\n"
    )
    assert "from qed import Ridge as R" in text and "from sklearn.linear_model import Lars" in text
    assert "from qed import SVC as svm_SVC" in text
    assert "test_ours" in text and "test_mine" in text and "test_theirs" not in text


def test_the_list_has_a_reason_for_every_entry():
    known = peer_suite.accepted()
    assert len({one.pattern for one in known}) == len(known)
    assert all(one.kind in ("deliberate", "later", "private") and len(one.reason) > 20 for one in known)
    names = {file.rpartition("/")[2] for file in peer_suite.FILES}
    assert all(one.pattern.partition("::")[0] in names for one in known)


@pytest.mark.slow
@pytest.mark.parametrize("file", peer_suite.FILES)
def test_nothing_differs_that_is_not_on_the_list(file):
    known = [one for one in peer_suite.accepted() if one.is_in([file])]
    new, stale = peer_suite.judge(peer_suite.run([file], workers=1), known)
    assert not new, "\n".join(f"{test}: {says}" for test, says in sorted(new.items()))
    assert not stale, f"nothing fails any more for {[one.pattern for one in stale]}: take it off the list"
