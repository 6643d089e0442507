"""Why a model is as good as it is: curves, bias and variance, a diagnosis."""
