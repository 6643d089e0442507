"""
Logistic regression: probabilities, and how good they are
=========================================================

A logistic regression says how probable a class is. Three questions are to be asked of it on rows it has not seen: how probable it finds
which class, how well its order is (the ROC curve), and whether seven in ten is seven in ten (calibration).
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

X, y = qed.data.load("breast_cancer").Xy()
wrong = str(np.unique(y)[1])
X_train, X_test, y_train, y_test = qed.train_test_split(
    X[:, :4], y, test_size=0.5, random_state=0
)
scaler = qed.StandardScaler().fit(X_train)
model = qed.LogisticRegression().fit(scaler.transform(X_train), y_train)
chance = model.predict_proba(scaler.transform(X_test))[:, 1]
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained")
for label, pattern in zip(np.unique(y), ("", "//")):
    left.hist(
        chance[y_test == label],
        bins=20,
        range=(0, 1),
        alpha=0.6,
        hatch=pattern,
        label=str(label),
    )
left.set(xlabel=f"probability of {wrong!r}", ylabel="rows", title="What it says of new rows")
left.legend()
false, true, _ = qed.roc_curve(y_test, chance, pos_label=wrong)
qed.plots.roc({"four columns": (false, true)}, ax=middle)
part = np.clip((chance * 5).astype(int), 0, 4)
said = [chance[part == k].mean() for k in range(5)]
came = [(y_test[part == k] == wrong).mean() for k in range(5)]
right.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle=":")
right.plot(said, came, "o-")
right.set(
    xlabel="probability said, by fifths",
    ylabel="share that came true",
    title="Is seven in ten seven in ten?",
)
plt.show()

# %%
print(model.certificate_)
