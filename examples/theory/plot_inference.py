"""
Linear regression: which columns matter, and how sure is that?
==============================================================

Coefficients come with standard errors, where the theory gives them. Columns are standardised, so that a coefficient says by how much the
disease progresses with one standard deviation of its column. The bars are 95 % intervals; those that hold zero are hollow.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

diabetes = qed.data.load("diabetes")
frame = diabetes.to_pandas()
columns = frame.drop(columns="progression")
scaled = (columns - columns.mean()) / columns.std()
model = qed.LinearRegression().fit(scaled, frame["progression"])
found = model.inference_

low, high = found.intervals()[1:].T
order = np.argsort(np.abs(model.coef_))
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4), layout="constrained", width_ratios=[1.3, 1]
)
for place, j in enumerate(order):
    sure = low[j] > 0 or high[j] < 0
    left.plot([low[j], high[j]], [place, place], color="C0", linewidth=2)
    left.plot(model.coef_[j], place, "o", color="C0", markerfacecolor="C0" if sure else "white")
left.axvline(0, color="grey", linewidth=1)
left.set(
    yticks=range(len(order)),
    yticklabels=columns.columns[order],
    title="Coefficients with 95 % intervals",
)
left.set_xlabel("change of progression with one standard deviation")
qed.plots.residuals(frame["progression"], model.predict(scaled), ax=right)
plt.show()

# %%
# Two columns that say nearly the same (here ``tc`` and ``ldl``) share what they explain: each interval is wide, though together they
# matter.
# The certificate is about something else: that these coefficients are the least squares solution, to rounding.
print(found)
print(model.certificate_)
