r"""
Stop a fit, look at it, go on
=============================

Ctrl-C does not lose a fit. The model keeps its best state, says why it ended and how far it is from its proof, and ``resume`` goes on from
there, to the very bits of a fit that was never interrupted. Here a watcher plays the part of the impatient user.
"""

import warnings

import matplotlib.pyplot as plt

import qed

X, y = qed.data.load("diabetes").Xy()
X = qed.StandardScaler().fit_transform(X)


def impatient(step):
    """Stop after forty iterations."""
    return step.number == 40


model = qed.GradientRidge(alpha=20.0, method="steepest", tol=1e-8)
with warnings.catch_warnings(), qed.watch(call=impatient) as first:
    warnings.simplefilter("ignore")
    model.fit(X, y)
print(model.ending_)
print(model.certificate_)

# %%
with qed.watch() as second:
    model.resume(X, y)
print(model.ending_)
print(model.certificate_)

# %%
# Conjugate gradients need far fewer iterations; the trace shows why it pays to know the method.
unbroken = qed.GradientRidge(alpha=20.0, method="steepest", tol=1e-8).fit(X, y)
print("same bits as without the interruption:", bool((model.coef_ == unbroken.coef_).all()))
with qed.watch() as other:
    qed.GradientRidge(alpha=20.0, method="conjugate", tol=1e-8).fit(X, y)


def gaps(seen):
    """Give the iterations and their distances from the proof."""
    return zip(*[(record["number"], record["gap"]) for record in seen.trace.records])


figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.semilogy(*gaps(first), label="steepest descent")
ax.semilogy(*gaps(second), color="C0", linestyle="--", label="steepest descent, resumed")
ax.semilogy(*gaps(other), color="C1", label="conjugate gradients")
ax.axvline(40, color="grey", linewidth=1)
ax.annotate(
    "interrupted", (40, 1e-13), (4, 0), textcoords="offset points", rotation=90, color="grey"
)
ax.axhline(1e-8, color="grey", linestyle=":", linewidth=1)
ax.annotate("tolerance", (50, 1.4e-8), color="grey")
ax.set(xlabel="iteration", ylabel="distance from the proof")
ax.legend()
plt.show()

# %%
# One call draws a trace: what is minimised, and how far it is from the proof.
other.trace.plot()
plt.show()
