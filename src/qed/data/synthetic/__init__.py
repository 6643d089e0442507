"""Data with a known truth, for tests, pictures and benchmarks.

Every generator takes sizes and ``random_state`` (None, an integer, or a NumPy ``Generator`` to go on
drawing from), says in its docstring which law it draws from, and with ``return_truth=True`` gives, as a
last item, a dictionary of what a method should find: coefficients, centres, probabilities.

==================  =============================================================
theme               generators
==================  =============================================================
noise               `noise`, `noise_model`, `ar1_noise`, `ar1_covariance`, `ma_noise`, `ma_covariance`
curves              `line`, `polynomial`, `sinusoid`, `ellipse`
designs             `linear`, `collinear`
clusters            `blobs`, `classes`
shapes              `moons`, `rings`, `checkerboard`, `xor`
labels from models  `logistic`, `softmax_classes`
text and tables     `sparse_text`, `mixed_table`
==================  =============================================================
"""

from qed.data.synthetic.additive import noise, noise_model
from qed.data.synthetic.autoregressive import ar1_covariance, ar1_noise
from qed.data.synthetic.clusters import blobs, classes
from qed.data.synthetic.curves import ellipse, line, polynomial, sinusoid
from qed.data.synthetic.designs import collinear, linear
from qed.data.synthetic.labels import logistic, softmax_classes
from qed.data.synthetic.moving_average import ma_covariance, ma_noise
from qed.data.synthetic.shapes import checkerboard, moons, rings, xor
from qed.data.synthetic.tables import mixed_table
from qed.data.synthetic.text import sparse_text

__all__ = [
    "ar1_covariance",
    "ar1_noise",
    "blobs",
    "checkerboard",
    "classes",
    "collinear",
    "ellipse",
    "line",
    "linear",
    "logistic",
    "ma_covariance",
    "ma_noise",
    "mixed_table",
    "moons",
    "noise",
    "noise_model",
    "polynomial",
    "rings",
    "sinusoid",
    "softmax_classes",
    "sparse_text",
    "xor",
]
