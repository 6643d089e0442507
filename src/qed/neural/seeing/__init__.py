"""Seeing into networks: what filters look for, what units answer to, what is left of an image behind a layer."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "concepts": ["Concept", "concept_units"],
        "deconvolution": ["deconvolve"],
        "inversion": ["Inversion", "invert_code"],
        "looking": ["features", "first_filters", "sparsity"],
        "maximisation": ["Excitation", "maximise_activation"],
        "saliency": ["saliency", "seen_pixels"],
        "units": ["Unit"],
    },
)
