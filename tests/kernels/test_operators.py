"""Kernels of every file can be joined, whichever file of the room was opened first."""

import subprocess
import sys

import pytest

CODE = """
import qed.kernels.{file}
from qed.kernels.radial import RBF
k = RBF(1.0)
made = [k + k, k + 1, 1 + k, k * k, 2 * k, k / 2, k ** 3, k.exp(), k.polynomial([1, 2]), k.normalized(), k.on([0]),
        k.conjugate(len), k.mapped(abs)]
print(*made, sep=", ")
"""
EXPECTED = (
    "RBF(gamma=1.0) + RBF(gamma=1.0), RBF(gamma=1.0) + Constant(), Constant() + RBF(gamma=1.0), "
    "RBF(gamma=1.0) * RBF(gamma=1.0), 2.0 * RBF(gamma=1.0), 0.5 * RBF(gamma=1.0), RBF(gamma=1.0) ** 3, "
    "exp(RBF(gamma=1.0)), RBF(gamma=1.0).polynomial([1.0, 2.0]), RBF(gamma=1.0).normalized(), RBF(gamma=1.0).on([0]), "
    "RBF(gamma=1.0).conjugate(len), RBF(gamma=1.0).mapped(abs)\n"
)


@pytest.mark.parametrize("file", ["radial", "kernel", "names"])
def test_operators_work_after_importing_one_file_only(file):
    found = subprocess.run([sys.executable, "-c", CODE.format(file=file)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout == EXPECTED
