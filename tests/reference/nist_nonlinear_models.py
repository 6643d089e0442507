"""The models of NIST's certified nonlinear least-squares problems, parameterised as printed there."""

import numpy as np


def rising(X, w):
    return w[0] * (1 - np.exp(-w[1] * X[:, 0]))


def bennett(X, w):
    return w[0] * (w[1] + X[:, 0]) ** (-1 / w[2])


def chwirut(X, w):
    return np.exp(-w[0] * X[:, 0]) / (w[1] + w[2] * X[:, 0])


def power(X, w):
    return w[0] * X[:, 0] ** w[1]


def enso(X, w):
    turn = 2 * np.pi * X[:, 0]
    year = w[0] + w[1] * np.cos(turn / 12) + w[2] * np.sin(turn / 12)
    second = w[4] * np.cos(turn / w[3]) + w[5] * np.sin(turn / w[3])
    return year + second + w[7] * np.cos(turn / w[6]) + w[8] * np.sin(turn / w[6])


def eckerle(X, w):
    return w[0] / w[1] * np.exp(-0.5 * ((X[:, 0] - w[2]) / w[1]) ** 2)


def gauss(X, w):
    x = X[:, 0]
    peaks = w[2] * np.exp(-((x - w[3]) ** 2) / w[4] ** 2) + w[5] * np.exp(-((x - w[6]) ** 2) / w[7] ** 2)
    return w[0] * np.exp(-w[1] * x) + peaks


def cubic_over_cubic(X, w):
    x = X[:, 0]
    return (w[0] + w[1] * x + w[2] * x**2 + w[3] * x**3) / (1 + w[4] * x + w[5] * x**2 + w[6] * x**3)


def square_over_square(X, w):
    x = X[:, 0]
    return (w[0] + w[1] * x + w[2] * x**2) / (1 + w[3] * x + w[4] * x**2)


def lanczos(X, w):
    x = X[:, 0]
    return w[0] * np.exp(-w[1] * x) + w[2] * np.exp(-w[3] * x) + w[4] * np.exp(-w[5] * x)


def kowalik(X, w):
    x = X[:, 0]
    return w[0] * (x**2 + x * w[1]) / (x**2 + x * w[2] + w[3])


def meyer(X, w):
    return w[0] * np.exp(w[1] / (X[:, 0] + w[2]))


def osborne(X, w):
    x = X[:, 0]
    return w[0] + w[1] * np.exp(-x * w[3]) + w[2] * np.exp(-x * w[4])


def misra_b(X, w):
    return w[0] * (1 - (1 + w[1] * X[:, 0] / 2) ** -2)


def misra_c(X, w):
    return w[0] * (1 - (1 + 2 * w[1] * X[:, 0]) ** -0.5)


def misra_d(X, w):
    return w[0] * w[1] * X[:, 0] / (1 + w[1] * X[:, 0])


def nelson(X, w):
    """Of the logarithm of y."""
    return w[0] - w[1] * X[:, 0] * np.exp(-w[2] * X[:, 1])


def logistic_growth(X, w):
    return w[0] / (1 + np.exp(w[1] - w[2] * X[:, 0]))


def richards(X, w):
    return w[0] / (1 + np.exp(w[1] - w[2] * X[:, 0])) ** (1 / w[3])


def roszman(X, w):
    return w[0] - w[1] * X[:, 0] - np.arctan(w[2] / (X[:, 0] - w[3])) / np.pi


MODELS = {
    "Bennett5": bennett,
    "BoxBOD": rising,
    "Chwirut1": chwirut,
    "Chwirut2": chwirut,
    "DanWood": power,
    "ENSO": enso,
    "Eckerle4": eckerle,
    "Gauss1": gauss,
    "Gauss2": gauss,
    "Gauss3": gauss,
    "Hahn1": cubic_over_cubic,
    "Kirby2": square_over_square,
    "Lanczos1": lanczos,
    "Lanczos2": lanczos,
    "Lanczos3": lanczos,
    "MGH09": kowalik,
    "MGH10": meyer,
    "MGH17": osborne,
    "Misra1a": rising,
    "Misra1b": misra_b,
    "Misra1c": misra_c,
    "Misra1d": misra_d,
    "Nelson": nelson,
    "Rat42": logistic_growth,
    "Rat43": richards,
    "Roszman1": roszman,
    "Thurber": cubic_over_cubic,
}
