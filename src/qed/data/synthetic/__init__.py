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

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "additive": ["noise", "noise_model"],
        "autoregressive": ["ar1_covariance", "ar1_noise"],
        "clusters": ["blobs", "classes"],
        "curves": ["ellipse", "line", "polynomial", "sinusoid"],
        "designs": ["collinear", "linear"],
        "labels": ["logistic", "softmax_classes"],
        "moving_average": ["ma_covariance", "ma_noise"],
        "shapes": ["checkerboard", "moons", "rings", "xor"],
        "tables": ["mixed_table"],
        "text": ["sparse_text"],
    },
)
