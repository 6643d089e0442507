"""
Encoding a table: what becomes of words and holes
=================================================

Models want numbers. The penguins have islands and sexes in words, and some of them were not measured. Each word becomes a column, each
hole is filled, and a column says that there was one. Here is what a logistic regression then reads off, column by column.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

penguins = qed.data.load("penguins").to_pandas()
table, species = penguins.drop(columns=["species", "year"]), penguins["species"]
encoder = qed.ColumnEncoder().fit(table)
names, numbers = encoder.get_feature_names_out(), np.asarray(encoder.transform(table))
model = qed.LogisticRegression().fit(qed.StandardScaler().fit_transform(numbers), species)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
shown = numbers[:40]
spread = np.ptp(shown, axis=0)
left.imshow(
    ((shown - shown.min(axis=0)) / np.where(spread > 0, spread, 1)).T,
    cmap="cividis",
    aspect="auto",
)
left.set(
    yticks=range(len(names)),
    yticklabels=names,
    xlabel="penguin",
    title="The table as numbers, each row from least to most",
)
left.grid(visible=False)
reach = np.abs(model.coef_).max()
picture = right.imshow(model.coef_.T, cmap="RdBu", vmin=-reach, vmax=reach, aspect="auto")
right.set(xticks=range(3), xticklabels=model.classes_, yticks=range(len(names)), yticklabels=[])
right.set(title="What speaks for which species")
right.grid(visible=False)
figure.colorbar(picture, label="coefficient")
plt.show()

# %%
# What was decided for each column, and why:
for decision in encoder.decisions_:
    print(decision)
